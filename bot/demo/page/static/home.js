// The app's Home tab: what the bot published for this person, in the place of the messages.
import { drawBlocks } from "./blocks.js";
import { byId, fill, h, kept } from "./dom.js";
import { sceneOf } from "./scene.js";
import { state } from "./state.js";

const memory = new Map();
const failures = new Map(); // person -> what Slack says of the last press

export function drawHome(redraw) {
  const list = byId("list");
  list.setAttribute("role", "region");
  list.setAttribute("aria-label", "Home tab");
  const view = state.picture.home;
  const failure = failures.get(state.person) ?? null;
  const facts = [state.person, view?.id, view?.hash, view?.dates, failure];
  fill(list, [kept(memory, "home", facts, () => (view ? drawn(view, failure, redraw) : nothingYet()))]);
}

function drawn(view, failure, redraw) {
  const whose = state.person;
  const scene = sceneOf(view.dates, { view: view.id, hash: view.hash }, (words) => {
    words ? failures.set(whose, words) : failures.delete(whose);
    redraw();
  });
  return h(
    "section",
    { class: "home content", "data-key": "home", "data-home": view.hash, tabindex: "-1", "aria-label": "Home" },
    failure && h("p", { class: "failure", role: "alert" }, failure),
    drawBlocks(view.blocks, scene),
  );
}

const nothingYet = () =>
  h("section", { class: "home content", "data-key": "home", tabindex: "-1" }, h("p", { class: "unknown" }, "The app has shown nothing here yet."));
