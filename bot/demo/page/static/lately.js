// What became of jobs: the last few of them that were admitted, preempted or ended while one looks at the page.
import { h, kept } from "./dom.js";

const SHOWN = 3;
const memory = new Map();
const lately = []; // the newest first
let before = null; // job -> running | waiting | preempted

export function drawLately(cohort) {
  const now = new Map(cohort.queues.flatMap((queue) => queue.jobs.map((job) => [job.name, mood(job)])));
  if (before) for (const words of changes(before, now)) lately.unshift(words);
  lately.length = Math.min(lately.length, SHOWN);
  before = now;
  return kept(memory, "lately", lately, () =>
    h("ol", { class: "lately", "aria-label": "What became of jobs, newest first" }, lately.map((words) => h("li", {}, words))),
  );
}

const mood = (job) => (job.preempted ? "preempted" : job.waits ? "waiting" : "running");

function* changes(old, now) {
  for (const [name, was] of old) if (!now.has(name)) yield was === "running" ? `${name} finished` : `${name} is gone`;
  for (const [name, is] of now) {
    if (is === old.get(name)) continue;
    if (is === "running") yield `${name} admitted`;
    else if (is === "preempted") yield `${name} preempted`;
    else if (!old.has(name)) yield `${name} waits`;
  }
}
