// How blocks of one message or view read and act: names for ids, dates in the person's zone, presses with their dialogs.
import { post } from "./api.js";
import { confirmed } from "./confirm.js";
import { h } from "./dom.js";
import { state } from "./state.js";

// `place` names the message or view to the server; `failed` shows what Slack says when a press comes to nothing.
export function sceneOf(dates, place, failed, input = () => null) {
  const { people, channels, groups, me } = state.picture;
  return {
    date: (unix, format, fallback) => dates[`${unix}|${format}`] ?? fallback ?? String(unix),
    user: (id, label) => h("span", { class: id === me ? "mention me" : "mention" }, `@${people[id]?.name ?? (label || id)}`),
    group: (id, label) => h("span", { class: "mention" }, `@${groups[id] ?? (label || id).replace(/^@/, "")}`),
    channel: (id, label) => h("span", { class: "mention" }, `#${channels[id] ?? (label || id)}`),
    element: (element, block) => control(element, block, place, failed),
    input,
  };
}

function control(element, block, place, failed) {
  if (element.type !== "button") return h("span", { class: "unknown" }, `[${element.type}]`);
  const button = h(
    "button",
    { type: "button", class: element.style ?? "", "data-action": element.action_id, "data-value": element.value },
    element.text.text,
  );
  button.addEventListener("click", async () => {
    if (button.ariaBusy === "true") return;
    if (element.confirm && !(await confirmed(element.confirm))) return;
    button.ariaBusy = "true";
    try {
      const asked = { person: state.person, place, action_id: element.action_id, block_id: block.block_id };
      const told = await post("press", element.value ? { ...asked, value: element.value } : asked);
      failed(told.shown);
    } catch (problem) {
      failed(problem.message);
    } finally {
      button.ariaBusy = "false";
    }
    if (element.url) follow(element.url);
  });
  return button;
}

// https://….slack.com/archives/C0NLP/p1796476800000100: nothing of the page leads outside.
function follow(url) {
  const found = /\/archives\/(\w+)\/p(\d+)(\d{6})(?!\d)/.exec(url);
  if (found) document.dispatchEvent(new CustomEvent("open-message", { detail: { channel: found[1], ts: `${found[2]}.${found[3]}` } }));
}
