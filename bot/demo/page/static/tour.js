// The tour: a story that plays in the page itself, step by step or by itself. The server tells the steps
// (`state.start.tour`): whose eyes, where, what is said of it, what is done then, and what shows that it came true.
import { act, buttonOf } from "./tour_acts.js";
import { byId, h } from "./dom.js";
import { here, HOME, state } from "./state.js";

const READING = 55; // milliseconds a letter
const AT_LEAST = 4000;
const PATIENCE = 45000; // what the bot looks at by its own timer it sees within 30 s
const LOOK = 100;

class Stopped extends Error {}

const tour = { at: null, playing: false, busy: false, trouble: "", timer: 0, run: 0 };
let page = null; // what main.js gives: become, open, say, type, redraw

// Panel of the tour, drawn once; `drawTour` says what is in it.
const count = h("b", { class: "tour-count" });
const words = h("span", {});
const trouble = h("p", { class: "tour-trouble", role: "alert" });
const onward = h("button", { type: "button", class: "primary", "data-tour": "next", onclick: () => next() });
const play = h("button", { type: "button", "data-tour": "play", onclick: () => toggle() });
const end = h("button", { type: "button", class: "quiet", "data-tour": "end", onclick: () => stop() }, "End the tour");

export function setUpTour(given) {
  page = given;
  const told = h("p", { class: "tour-words", "aria-live": "polite" }, count, words);
  byId("tour").append(h("div", {}, told, trouble), h("div", { class: "tour-buttons" }, onward, play, end));
}

export const hasTour = () => state.start.tour.length > 0;

export function startTour() {
  stop();
  show(0, tour.run).catch(failed);
  page.redraw(); // it is there now, and can have the focus
  onward.focus();
}

export function drawTour() {
  const step = steps()[tour.at];
  document.body.classList.toggle("touring", Boolean(step));
  byId("tour").hidden = !step;
  document.querySelectorAll(".tour-mark").forEach((node) => node.classList.remove("tour-mark"));
  if (!step) return;
  const last = tour.at === steps().length - 1;
  count.textContent = `${tour.at + 1} of ${steps().length}`;
  if (words.textContent !== step.words) words.textContent = step.words;
  trouble.textContent = tour.trouble;
  onward.textContent = tour.trouble ? "Try again" : last ? "Done" : "Next";
  onward.ariaBusy = String(tour.busy);
  play.textContent = tour.playing ? "Pause" : "Play";
  play.hidden = end.hidden = last && !tour.trouble;
  if (state.person === step.user && !tour.busy) target(step)?.classList.add("tour-mark");
}

const steps = () => state.start.tour;

// What the step is about: where one would press, type or look.
function target(step) {
  if (step.line) return byId("composer").querySelector(".box");
  if (step.press) return buttonOf(step.press);
  return step.look ? byId("strip") : null;
}

function stop() {
  clearTimeout(tour.timer);
  Object.assign(tour, { at: null, playing: false, busy: false, trouble: "", run: tour.run + 1 });
  if (state.picture) page.redraw();
}

function toggle() {
  tour.playing = !tour.playing;
  clearTimeout(tour.timer);
  page.redraw();
  if (tour.playing && !tour.busy) next();
}

// Does what the step says and goes to the next one.
async function next() {
  if (tour.busy) return;
  clearTimeout(tour.timer);
  const { run, at } = tour;
  if (at === steps().length - 1) return stop();
  Object.assign(tour, { busy: true, trouble: "" });
  page.redraw();
  try {
    await stage(steps()[at], run);
    await done(steps()[at], run);
    await show(at + 1, run);
  } catch (problem) {
    failed(problem);
  }
}

async function show(at, run) {
  Object.assign(tour, { at, busy: true });
  const step = steps()[at];
  await stage(step, run);
  if (step.line) page.type(step.line);
  tour.busy = false;
  page.redraw();
  const marked = document.querySelector(".tour-mark");
  marked?.scrollIntoView({ block: "nearest" });
  if (at === steps().length - 1) tour.playing = false;
  if (tour.playing) tour.timer = setTimeout(next, Math.max(AT_LEAST, step.words.length * READING));
}

function failed(problem) {
  if (problem instanceof Stopped) return;
  Object.assign(tour, { busy: false, playing: false, trouble: problem.message });
  page.redraw();
}

// The person of the step, in its place.
async function stage(step, run) {
  page.become(step.user);
  await until(() => state.picture.me === step.user, run);
  const place = step.place === "dm" ? state.picture.places.find((one) => one.dm)?.id : step.place;
  if (here().id !== place || state.thread) page.open(place);
}

async function done(step, run) {
  let turnedAway = timesTurnedAway();
  while (!(claims(step) && cameTrue(step))) { // somebody may have done it by hand
    await act(step, page.say, (found) => until(found, run));
    if (!claims(step)) return;
    await until(() => cameTrue(step) || timesTurnedAway() > turnedAway, run);
    turnedAway = timesTurnedAway();
  }
}

// While one press is looked into the bot asks whoever presses next to do it again.
const timesTurnedAway = () => [...document.querySelectorAll("#list article")].filter((one) => one.textContent.includes("Try again in a moment")).length;

const claims = (step) => step.until || Object.keys(step.quota).length > 0;

function cameTrue(step) {
  const { queues } = state.picture.cohort;
  const quota = Object.entries(step.quota).every(([name, wanted]) => queues.find((one) => one.name === name)?.nominal === wanted);
  const where = here().id === HOME.id ? ".home" : "#list article";
  const said = !step.until || [...document.querySelectorAll(where)].some((one) => one.textContent.includes(step.until));
  return quota && said;
}

// What `found` finds, as soon as it does.
async function until(found, run) {
  for (let waited = 0; waited < PATIENCE; waited += LOOK) {
    if (run !== tour.run) throw new Stopped();
    const it = found();
    if (it) return it;
    await new Promise((resume) => setTimeout(resume, LOOK));
  }
  throw new Error("This did not come. The story needs a demo in which nothing was done yet: end it and start it again.");
}
