// The list of messages of a channel, and the panel of one thread. Drawn anew per message, only when it changed.
import { post } from "./api.js";
import { drawBlocks } from "./blocks.js";
import { byId, fill, h, kept } from "./dom.js";
import { emptyState } from "./empty.js";
import { mrkdwn } from "./mrkdwn.js";
import { sceneOf } from "./scene.js";
import { here, messagesHere, nameOf, state } from "./state.js";

const memory = new Map();
const failures = new Map(); // ts -> what Slack says of the last press
let drawnFor = "";

export function drawMessages(redraw, use, startTour) {
  const list = byId("list");
  list.setAttribute("role", "log");
  list.setAttribute("aria-label", "Messages");
  const all = [...messagesHere(), ...notices()].sort((a, b) => (a.ts < b.ts ? -1 : 1));
  const shown = all.filter((one) => !one.thread || one.broadcast);
  const whose = `${state.person} ${here().id}`;
  const atEnd = whose !== drawnFor || list.scrollHeight - list.scrollTop - list.clientHeight < 80;
  const nodes = shown.length ? withDays(shown, redraw) : [emptyState(use, startTour)];
  fill(list, nodes);
  if (atEnd) list.scrollTop = list.scrollHeight;
  drawnFor = whose;
  markRead();
}

// What a link leads to: in sight, and where the keyboard is.
export function showMessage(ts) {
  const found = byId("list").querySelector(`[data-ts="${CSS.escape(ts)}"]`);
  found?.scrollIntoView({ block: "center" });
  found?.focus({ preventScroll: true });
}

function withDays(shown, redraw) {
  let day = "";
  return shown.flatMap((one) => {
    const rule = one.day && one.day !== day ? [kept(memory, `day ${one.day}`, one.day, () => dayRule(one.day))] : [];
    day = one.day || day;
    return [...rule, message(one, redraw, "list")];
  });
}

const dayRule = (day) => h("div", { class: "day", role: "separator" }, h("span", {}, day));

const notices = () => state.notices.filter((one) => one.person === state.person && one.channel === here().id);

function markRead() {
  const last = messagesHere().at(-1);
  if (document.visibilityState === "visible" && here().unread + here().pinged > 0 && last)
    post("read", { person: state.person, channel: here().id, ts: last.ts }).catch(() => {});
}

function message(one, redraw, where) {
  const replies = where === "list" ? messagesHere().filter((each) => each.thread === one.ts).length : 0;
  const failure = failures.get(`${state.person} ${one.ts}`) ?? null;
  const names = state.picture.people[one.author]?.name;
  return kept(memory, `${where} ${state.person} ${one.ts}`, [one, replies, failure, names], () =>
    drawMessage(one, replies, failure, redraw, where),
  );
}

function drawMessage(one, replies, failure, redraw, where) {
  const place = { channel: one.channel, ts: one.ts, edited_ts: one.edited_ts };
  const scene = sceneOf(one.dates ?? {}, place, (words) => {
    words ? failures.set(`${state.person} ${one.ts}`, words) : failures.delete(`${state.person} ${one.ts}`);
    redraw();
  });
  const body = one.blocks?.length ? drawBlocks(one.blocks, scene) : h("div", { class: "section-text" }, mrkdwn(one.text, scene));
  const open = () => {
    state.thread = one.ts;
    redraw();
    byId("thread").querySelector("button")?.focus();
  };
  return h(
    "article",
    {
      class: one.only_me || one.notice ? "message only-me" : "message",
      "data-ts": one.ts, "data-key": `${where} ${one.ts}`, tabindex: "-1",
    },
    avatar(one),
    h(
      "div",
      { class: "message-body" },
      (one.only_me || one.notice) && h("p", { class: "eye" }, "Only visible to you"),
      h("p", { class: "byline" }, h("b", {}, author(one)), bot(one) && h("span", { class: "badge" }, "APP"), h("time", {}, one.time)),
      h("div", { class: "content" }, body),
      one.edited_ts && h("p", { class: "edited" }, "(edited)"),
      (one.files ?? []).map((title) => h("p", { class: "file" }, `📄 ${title}`)),
      failure && h("p", { class: "failure", role: "alert" }, failure),
      replies > 0 && h("button", { class: "replies", type: "button", onclick: open }, replies === 1 ? "1 reply" : `${replies} replies`),
    ),
    where === "list" && !one.only_me && !one.notice &&
      h("button", { class: "reply quiet", type: "button", onclick: open, "aria-label": "Reply in thread", title: "Reply in thread" }, "💬"),
  );
}

const author = (one) => (one.notice ? "Slackbot" : nameOf(one.author));
const bot = (one) => one.notice || state.picture.people[one.author]?.bot;

export function avatar(one) {
  const name = author(one);
  const hue = one.notice || !bot(one) ? `hue-${hueOf(one.author)}` : "hue-bot";
  return h("span", { class: `avatar ${hue}`, "aria-hidden": "true" }, hue === "hue-bot" ? "▥" : name[0].toUpperCase());
}

// Those one can be come first, so that no two of them look alike.
function hueOf(user) {
  const played = state.start.roles.findIndex((role) => role.user === user);
  return (played < 0 ? Object.keys(state.picture.people).indexOf(user) + 1 : played) % 6;
}

export function drawThread(redraw, composer) {
  const panel = byId("thread");
  const parent = messagesHere().find((one) => one.ts === state.thread);
  panel.hidden = !parent;
  document.body.classList.toggle("with-thread", Boolean(parent));
  if (!parent) return;
  const replies = messagesHere().filter((one) => one.thread === parent.ts);
  const head = kept(memory, "thread head", here().id, () => threadHead(redraw));
  const list = kept(memory, "thread list", "", () => h("div", { class: "list", role: "log", "aria-label": "Thread", tabindex: "0" }));
  fill(panel, [head, list, composer]);
  const count = kept(memory, "thread count", replies.length, () =>
    h("p", { class: "count" }, replies.length === 1 ? "1 reply" : `${replies.length} replies`),
  );
  fill(list, [message(parent, redraw, "thread"), count, ...replies.map((one) => message(one, redraw, "thread"))]);
}

function threadHead(redraw) {
  const close = () => {
    state.thread = null;
    redraw();
    byId("line").focus();
  };
  return h(
    "header",
    { class: "where" },
    h("h2", {}, "Thread"),
    h("button", { class: "quiet", type: "button", onclick: close, "aria-label": "Close thread" }, "✕"),
  );
}
