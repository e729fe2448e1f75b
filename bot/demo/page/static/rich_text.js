// rich_text blocks as nodes: sections, lists, quotes, preformatted parts, and every inline element of them.
import { h } from "./dom.js";
import { link, lines } from "./mrkdwn.js";

const STYLES = [["bold", "strong"], ["italic", "em"], ["strike", "s"], ["code", "code"]];

export const richText = (block, scene) => h("div", { class: "rich" }, groupLists(block.elements, scene));

function groupLists(parts, scene) {
  return parts.map((part) => {
    if (part.type === "rich_text_list") return list(part, scene);
    if (part.type === "rich_text_quote") return h("blockquote", {}, inline(part.elements, scene));
    if (part.type === "rich_text_preformatted") return pre(part, scene);
    return h("div", { class: "section-text" }, inline(part.elements, scene));
  });
}

// Wide figures scroll by themselves, also by keyboard.
const pre = (part, scene) =>
  h("pre", { tabindex: "0", role: "group", "aria-label": "Preformatted text" }, inline(part.elements, scene, true));

function list(part, scene) {
  const tag = part.style === "ordered" ? "ol" : "ul";
  const start = part.style === "ordered" && part.offset ? part.offset + 1 : null;
  const items = part.elements.map((item) => h("li", {}, inline(item.elements, scene)));
  return h(tag, { class: `indent-${part.indent ?? 0}`, start }, items);
}

const inline = (elements, scene, verbatim = false) => elements.flatMap((piece) => styled(piece, scene, verbatim));

function styled(piece, scene, verbatim) {
  let nodes = [drawn(piece, scene, verbatim)].flat();
  for (const [style, tag] of STYLES) if (piece.style?.[style]) nodes = [h(tag, {}, nodes)];
  return nodes;
}

function drawn(piece, scene, verbatim) {
  switch (piece.type) {
    case "text":
      return verbatim ? [piece.text] : lines(piece.text);
    case "link":
      return link(piece.url, piece.text);
    case "user":
      return scene.user(piece.user_id);
    case "usergroup":
      return scene.group(piece.usergroup_id);
    case "channel":
      return scene.channel(piece.channel_id);
    case "date":
      return h("time", {}, scene.date(piece.timestamp, piece.format, piece.fallback));
    case "broadcast":
      return h("span", { class: "mention" }, `@${piece.range}`);
    case "emoji":
      return emoji(piece);
    default:
      return [];
  }
}

const emoji = (piece) =>
  piece.unicode ? String.fromCodePoint(...piece.unicode.split("-").map((code) => parseInt(code, 16))) : `:${piece.name}:`;
