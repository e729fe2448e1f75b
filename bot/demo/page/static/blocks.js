// Block Kit as nodes. A scene says how ids and dates read for this person, and what a press does.
import { h } from "./dom.js";
import { mrkdwn, lines } from "./mrkdwn.js";
import { richText } from "./rich_text.js";

export const drawBlocks = (blocks, scene) => blocks.map((block) => (DRAW[block.type] ?? unknown)(block, scene));

const DRAW = {
  rich_text: richText,
  section,
  context,
  header: (block, scene) => h("div", { class: "block-header", role: "heading", "aria-level": "3" }, text(block.text, scene)),
  divider: () => h("hr"),
  actions: (block, scene) => h("div", { class: "actions" }, block.elements.map((each) => scene.element(each, block))),
  table,
  alert: (block, scene) => h("div", { class: `alert ${block.level ?? "default"}`, role: "alert" }, text(block.text, scene)),
  input: (block, scene) => scene.input(block),
};

const unknown = (block) => h("div", { class: "unknown" }, `[${block.type}]`);

export const text = (node, scene) => (node.type === "mrkdwn" ? mrkdwn(node.text, scene) : lines(node.text));

function section(block, scene) {
  return h(
    "div",
    { class: "section" },
    block.text && h("div", { class: "section-text" }, text(block.text, scene)),
    block.fields && h("div", { class: "fields" }, block.fields.map((field) => h("div", {}, text(field, scene)))),
    block.accessory && h("div", { class: "accessory" }, scene.element(block.accessory, block)),
  );
}

function context(block, scene) {
  const parts = block.elements.map((each) =>
    each.type === "image" ? h("span", { role: "img", "aria-label": each.alt_text }, "▣") : h("span", {}, text(each, scene)),
  );
  return h("div", { class: "context" }, parts.flatMap((part, index) => (index ? [" ", part] : [part])));
}

function table(block, scene) {
  const sides = (block.column_settings ?? []).map((column) => column?.align ?? "left");
  const cell = (tag, scope) => (each, at) => h(tag, { class: sides[at] ?? "left", scope }, content(each, scene));
  const [head, ...rows] = block.rows;
  return h(
    "div",
    { class: "table", tabindex: "0", role: "group", "aria-label": "Table" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, head.map(cell("th", "col")))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell("td"))))),
    ),
  );
}

const content = (cell, scene) => (cell.type === "rich_text" ? richText(cell, scene) : String(cell.text ?? cell.value ?? ""));
