// Starts the page: asks who can be played, then draws every picture that comes.
import { get, post, watch } from "./api.js";
import { composer } from "./composer.js";
import { byId, keepingFocus, toast } from "./dom.js";
import { drawHome } from "./home.js";
import { drawMessages, drawThread, showMessage } from "./messages.js";
import { drawPlaces, drawRoles, drawWhere } from "./places.js";
import { here, role, state } from "./state.js";
import { drawStrip } from "./strip.js";
import { drawTour, setUpTour, startTour } from "./tour.js";
import { drawView } from "./view.js";

state.start = await get("/api/start");
state.person = state.start.roles.find((one) => one.name === location.hash.slice(1))?.user ?? state.start.roles[0].user;
await post("reload", { person: state.person });

const line = composer({
  id: "line", label: "Message", send: (text) => say(text, null), command: state.start.command, commands: state.start.commands,
});
byId("composer").append(line.node);
setUpTour({ become, open, say: sayFirst, type: (text) => line.set(text), redraw: draw });
const reply = composer({ id: "reply", label: "Reply", send: (text) => say(text, state.thread), command: state.start.command, commands: null });

async function say(text, thread) {
  const { person } = state;
  const channel = here().id;
  try {
    const body = { person, channel, text };
    const told = await post("say", thread ? { ...body, thread } : body);
    if (told.shown) notice(person, channel, told.shown);
  } catch (problem) {
    notice(person, channel, problem.message);
  }
}

// A line of the tour: what stands in the box is sent.
async function sayFirst(text) {
  line.set("");
  await say(text, null);
}

// What Slack itself says goes below the newest message of its channel, and only this person sees it.
function notice(person, channel, text) {
  const last = state.picture.messages[channel]?.at(-1)?.ts ?? "0";
  state.notices.push({ notice: true, person, channel, text: escaped(text), ts: `${last}~${state.notices.length}`, time: "", day: "" });
  draw();
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

function draw() {
  if (state.picture?.me !== state.person) return; // the new person's picture is on its way
  keepingFocus(drawAll);
}

function drawAll() {
  drawRoles(become);
  drawPlaces(open);
  drawWhere();
  line.name(`Message ${title()}`);
  byId("composer").hidden = Boolean(here().home);
  here().home ? drawHome(draw) : drawMessages(draw, use, startTour);
  drawThread(draw, reply.node);
  drawStrip(startTour);
  drawView();
  drawTour();
  document.title = `${role().name} · ${title()} · gpu-quota-bot demo`;
}

const title = () => (here().dm || here().home ? here().name : `#${here().name}`);

function use(text) {
  line.set(text);
  line.box.focus();
}

function open(channel) {
  state.place[state.person] = channel;
  state.thread = null;
  menu(false);
  draw();
  lookAtHome();
}

// Slack tells the app whenever somebody comes to the tab.
function lookAtHome() {
  if (here().home) post("home", { person: state.person }).catch((problem) => toast(problem.message, "bad"));
}

// A link to a message is followed inside the page.
document.addEventListener("open-message", ({ detail: { channel, ts } }) => {
  if (!state.picture.places.some((one) => one.id === channel)) return toast("You are not in the channel of this message.", "bad");
  open(channel);
  showMessage(ts);
});

function become(user) {
  if (user === state.person) return;
  state.person = user;
  state.thread = null;
  history.replaceState(null, "", `#${role().name}`);
  looking.restart();
  lookAtHome();
}

function menu(wanted) {
  document.body.classList.toggle("menu-open", wanted);
  byId("menu").setAttribute("aria-expanded", String(wanted));
}

byId("menu").addEventListener("click", () => menu(!document.body.classList.contains("menu-open")));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || document.querySelector("dialog[open]")) return;
  menu(false);
  if (state.thread) byId("thread").querySelector("header button").click();
});
document.addEventListener("visibilitychange", draw);

let away = false;
const looking = watch(
  () => state.person,
  (picture) => {
    state.picture = picture;
    draw();
  },
  (lost) => {
    if (lost && !away) toast("The demo is not answering. Is it still running?", "bad");
    away = lost;
    document.body.classList.toggle("lost", lost);
  },
);
