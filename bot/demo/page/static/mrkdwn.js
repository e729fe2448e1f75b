// Slack's mrkdwn as nodes: mentions, dates, links, bold, italic, strike, code. Used for text that has no blocks and in
// sections and context. What is not markup stays text.
import { h } from "./dom.js";

const ENTITY = /<([^<>\n]+)>/;
const DATE = /^!date\^(-?\d+)\^([^|>^]*)(?:\^[^|]*)?(?:\|(.*))?$/;
const MARKS = [
  [/```\n?([^]+?)```/, "pre"],
  [/`([^`\n]+)`/, "code"],
  [/(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])/, "strong"],
  [/(?<![\w_])_(?=\S)([^_\n]+?)(?<=\S)_(?![\w_])/, "em"],
  [/(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])/, "s"],
];

export function mrkdwn(text, scene) {
  const found = first(text);
  if (!found) return lines(unescaped(text));
  const { match, tag } = found;
  const before = text.slice(0, match.index);
  const after = text.slice(match.index + match[0].length);
  const verbatim = tag === "pre" || tag === "code";
  const inner = tag ? h(tag, {}, verbatim ? unescaped(match[1]) : mrkdwn(match[1], scene)) : entity(match[1], scene);
  return [...lines(unescaped(before)), inner, ...mrkdwn(after, scene)];
}

function first(text) {
  let best = null;
  for (const [pattern, tag] of [[ENTITY, null], ...MARKS]) {
    const match = pattern.exec(text);
    if (match && (!best || match.index < best.match.index)) best = { match, tag };
  }
  return best;
}

const unescaped = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

export const lines = (text) =>
  text.split("\n").flatMap((line, index) => (index ? [h("br"), line] : [line])).filter((part) => part !== "");

function entity(inner, scene) {
  const date = DATE.exec(inner);
  if (date) return h("time", {}, scene.date(date[1], date[2], unescaped(date[3] ?? "")));
  const [target, ...rest] = inner.split("|");
  const label = unescaped(rest.join("|"));
  if (target.startsWith("@")) return scene.user(target.slice(1), label);
  if (target.startsWith("#")) return scene.channel(target.slice(1), label);
  if (target.startsWith("!subteam^")) return scene.group(target.slice(9), label);
  if (target.startsWith("!")) return h("span", { class: "mention" }, `@${target.slice(1)}`);
  return link(unescaped(target), label);
}

export function link(url, label) {
  const web = /^https?:\/\//.test(url);
  if (!web) return h("span", {}, label || url);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, label || url);
}
