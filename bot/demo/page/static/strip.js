// The cohort, live: one bar per ClusterQueue on a common scale, its jobs, and controls for the world outside Slack.
import { post } from "./api.js";
import { byId, fill, h, kept, toast } from "./dom.js";
import { askJob, askNode, askQuota, askWhatOf } from "./controls.js";
import { drawLately } from "./lately.js";
import { state } from "./state.js";
import { hasTour } from "./tour.js";

const memory = new Map();

export function drawStrip(startTour) {
  const { cohort } = state.picture;
  const scale = Math.max(...cohort.queues.map((one) => Math.max(one.nominal, one.base, one.reserved + one.pending)), 1);
  const queues = kept(memory, "queues", "", () => h("div", { class: "queues" }));
  fill(queues, cohort.queues.map((one) => kept(memory, `queue ${one.name}`, [one, scale, cohort.flavor], () => queue(one, scale, cohort.flavor))));
  fill(byId("strip"), [kept(memory, "head", [cohort.name, cohort.nominal, cohort.reserved, cohort.flavor, cohort.nodes, cohort.minute, state.picture.zone], () => head(cohort)), queues, drawLately(cohort), controls(cohort, startTour)]);
}

function head(cohort) {
  const toggle = h("button", { type: "button", class: "quiet only-narrow", "aria-expanded": String(document.body.classList.contains("strip-open")) }, "Details");
  toggle.addEventListener("click", () => toggle.setAttribute("aria-expanded", String(document.body.classList.toggle("strip-open"))));
  return h(
    "header",
    {},
    h("h2", {}, cohort.name),
    h("p", {}, h("b", {}, `${cohort.reserved} of ${cohort.nominal}`), ` ${cohort.flavor} in use`, cordoned(cohort)),
    h("p", { class: "clock" }, h("span", { class: "hidden" }, "The demo's clock: "), clock(cohort.minute)),
    toggle,
  );
}

const cordoned = ({ nodes }) => {
  const shut = nodes.filter((one) => one.cordoned).length;
  return shut ? `, ${shut} of ${nodes.length} nodes cordoned` : "";
};

const clock = (unix) =>
  new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: state.picture.zone })
    .format(unix * 1000).replace(/,/g, "");

function queue(one, scale, flavor) {
  return h(
    "article",
    { class: "queue", "data-queue": one.name },
    h("p", { class: "queue-name" }, h("b", {}, one.name), h("span", { class: "quota" }, quota(one))),
    bar(one, scale, flavor),
    h("p", { class: "queue-words" }, words(one)),
    h("div", { class: "jobs" }, one.jobs.map((each) => job(one, each))),
  );
}

function quota(one) {
  const parts = [];
  if (one.received) parts.push(h("em", { class: "in" }, ` + ${one.received} on loan`));
  if (one.lent) parts.push(h("em", { class: "out" }, ` − ${one.lent} lent`));
  const due = one.base + one.received - one.lent;
  const edited = due === one.nominal ? [] : [h("em", { class: "out" }, `, now ${one.nominal}`)];
  return parts.length ? [`${one.base}`, ...parts, ` = ${due}`, edited] : [`quota ${due}`, edited];
}

function words(one) {
  const said = [`${one.reserved} in use`];
  if (one.borrowed) said.push(`${one.borrowed} of them borrowed`);
  if (one.pending) said.push(`${one.pending} waiting`);
  if (one.may_borrow !== null && one.may_borrow > 0) said.push(`may borrow ${one.may_borrow}`);
  return said.join(" · ");
}

function bar(one, scale, flavor) {
  const part = (name, from, to) => {
    const node = h("span", { class: name });
    node.style.left = `${(100 * from) / scale}%`;
    node.style.width = `${(100 * Math.max(0, to - from)) / scale}%`;
    return node;
  };
  const own = Math.min(one.reserved, one.nominal);
  const label = `${one.name}: quota ${one.nominal} ${flavor}, ${words(one)}`;
  return h(
    "div",
    { class: "bar", role: "img", "aria-label": label },
    part("is-quota", 0, one.nominal),
    one.received > 0 && part("is-received", one.nominal - one.received, one.nominal),
    one.lent > 0 && part("is-lent", one.nominal, one.base),
    part("is-used", 0, own),
    one.reserved > own && part("is-borrowed", own, one.reserved),
    one.pending > 0 && part("is-pending", one.reserved, one.reserved + one.pending),
  );
}

function job(one, each) {
  const mood = each.preempted ? "preempted, waiting" : each.waits ? "waiting" : "running";
  const face = [h("span", { class: "dot", "aria-hidden": "true" }), each.name, h("b", {}, String(each.gpus)), each.priority > 0 && h("span", {}, `↑${each.priority}`)];
  const kind = `job ${each.waits ? "waits" : ""} ${each.preempted ? "preempted" : ""}`.trim();
  const label = `${each.name}: ${each.gpus} GPUs, ${mood}, priority ${each.priority}`;
  const choose = () => askWhatOf(one, { ...each, mood }, control);
  return h("button", { type: "button", class: kind, "data-key": `job ${each.name}`, title: mood, "aria-label": label, onclick: choose }, face);
}

function controls(cohort, startTour) {
  const { ends, outages, nodes, speed } = cohort;
  return kept(memory, "controls", [ends, outages, nodes, speed, cohort.queues.map((one) => [one.name, one.nominal])], () =>
    h(
      "div",
      { class: "controls", role: "group", "aria-label": "Make something happen" },
      hasTour() && tool("tour", "▶ Tour", startTour),
      tool("job", "Submit a job", () => askJob(cohort, control)),
      tool("edit", "Edit quota by hand", () => askQuota(cohort, control)),
      tool("jump", ends ? `Jump to the end of ${ends.name}` : "Jump to a loan's end", () => control("jump", {}), !ends),
      nodes.length > 0 && tool("cordon", "Cordon a node", () => askNode(cohort, control)),
      tempo(speed),
      tool("slack", outage("Slack", outages.slack), () => control("outage", { what: "slack" }), outages.slack !== undefined),
      tool("api", outage("API server", outages.api), () => control("outage", { what: "api" }), outages.api !== undefined),
    ),
  );
}

const SPEEDS = { 1: "Clock: as it is", 60: "Clock: a minute a second", 3600: "Clock: an hour a second" };

function tempo(speed) {
  const choice = h("select", { class: "tool", "aria-label": "Speed of the clock", "data-key": "speed" },
    Object.entries(SPEEDS).map(([value, words]) => h("option", { value, selected: Number(value) === speed }, words)));
  choice.addEventListener("change", () => control("speed", { speed: Number(choice.value) }));
  return choice;
}

const outage = (name, left) => (left === undefined ? `${name} away, 20 s` : `${name} is away, ${left} s`);

const tool = (key, words, act, off = false) =>
  h("button", { type: "button", class: "tool", onclick: act, "aria-disabled": off ? "true" : null, "data-key": key }, words);

async function control(name, body) {
  try {
    toast((await post(name, body)).said);
  } catch (problem) {
    toast(problem.message, "bad");
  }
}
