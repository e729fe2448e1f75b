// The form in front: opened, changed and closed by what the server tells. What was typed survives a change.
import { post } from "./api.js";
import { drawBlocks } from "./blocks.js";
import { byId, h, toast } from "./dom.js";
import { field } from "./fields.js";
import { sceneOf } from "./scene.js";
import { state } from "./state.js";

let shown = null; // { id, facts, fields: Map block_id -> { element, field } }
let leaving = null; // id of a view that was closed here and of which the server is just being told

export function drawView() {
  const dialog = byId("view");
  const view = state.picture.view;
  if (!view) {
    shown = null;
    if (dialog.open) dialog.close();
    return;
  }
  if (view.id === leaving) return;
  const facts = JSON.stringify([view.id, view.hash, view.blocks]);
  if (shown?.facts !== facts) draw(dialog, view, facts);
  if (!dialog.open) {
    dialog.showModal();
    focusFirst(dialog);
  }
}

function draw(dialog, view, facts) {
  const before = shown?.id === view.id ? shown.fields : new Map();
  const active = document.activeElement;
  const busy = dialog.contains(active) && !before.size;
  const fields = new Map();
  const place = { view: view.id };
  const failed = (words) => (banner.textContent = words ?? "", banner.hidden = !words);
  const banner = h("p", { class: "banner", role: "alert", hidden: true });
  const input = (block) => drawField(block, view, before, fields, failed);
  const blocks = drawBlocks(view.blocks, sceneOf(view.dates, place, failed, input));
  const close = h("button", { type: "button", onclick: () => dialog.close() }, view.close?.text ?? "Close");
  const submit = view.submit && h("button", { type: "button", class: "primary", "data-submit": "" }, view.submit.text);
  if (submit) submit.addEventListener("click", () => sent(view, fields, submit, failed));
  dialog.replaceChildren(
    h("h2", { id: "view-title" }, view.title.text),
    h("div", { class: "modal-body", tabindex: "-1" }, banner, blocks),
    h("footer", {}, close, submit || null),
  );
  const whose = state.person;
  dialog.onclose = () => shown?.id === view.id && closed(view, whose); // also by Escape, or by a phone's own gesture
  dialog.dataset.view = view.id;
  shown = { id: view.id, facts, fields };
  if (dialog.contains(active)) active.focus();
  else if (dialog.open || busy) focusFirst(dialog);
}

function drawField(block, view, before, fields, failed) {
  const element = JSON.stringify(block.element);
  const old = before.get(block.block_id);
  let made = old?.element === element ? old.field : null;
  if (!made) {
    const standing = view.state[block.block_id]?.[block.element.action_id];
    made = field(block, standing, view.dates, () => chosen(view.id, block, failed));
    if (old && made) made.adopt(old.field.value());
  }
  if (!made) return h("p", { class: "unknown" }, `[${block.element.type}]`);
  fields.set(block.block_id, { element, field: made });
  return made.node;
}

const values = (but) =>
  Object.fromEntries([...shown.fields].filter(([id]) => id !== but).map(([id, one]) => [id, one.field.value()]));

async function chosen(view, block, failed) {
  const value = shown.fields.get(block.block_id).field.value();
  const asked = { person: state.person, place: { view }, action_id: block.element.action_id, value };
  try {
    failed((await post("choose", { ...asked, values: values(block.block_id) })).shown);
  } catch (problem) {
    failed(problem.message);
  }
}

async function sent(view, fields, submit, failed) {
  if (submit.ariaBusy === "true") return;
  submit.ariaBusy = "true";
  try {
    const told = await post("send", { person: state.person, view: view.id, values: values() });
    failed(told.shown);
    const wrong = told.field_errors;
    for (const [id, one] of fields) one.field.complain(wrong[id]);
    fields.get(Object.keys(wrong)[0])?.field.focus();
  } catch (problem) {
    failed(problem.message);
  } finally {
    submit.ariaBusy = "false";
  }
}

async function closed(view, person) {
  leaving = view.id;
  shown = null;
  try {
    await post("close", { person, view: view.id });
  } catch (problem) {
    toast(problem.message, "bad");
    leaving = null;
  }
}

function focusFirst(dialog) {
  (dialog.querySelector(".modal-body :is(input, select, textarea, button)") ?? dialog.querySelector("footer button:last-child"))?.focus();
}
