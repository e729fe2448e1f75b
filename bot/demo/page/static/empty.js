// What an empty channel says: what this person can do here, and lines to try. A click puts a line into the message box.
import { h } from "./dom.js";
import { here, role } from "./state.js";
import { hasTour } from "./tour.js";

export function emptyState(use, startTour) {
  const place = here();
  const mine = place.id === role().start;
  return h(
    "section",
    { class: "empty" },
    h("h2", {}, place.dm ? `Messages from ${place.name}` : `#${place.name}`),
    h("p", {}, mine ? role().hint : place.dm ? "What concerns you comes here: answers, approvals, reminders." : "Nothing has been said here."),
    mine &&
      hasTour() &&
      h(
        "button",
        { type: "button", class: "primary start-tour", onclick: startTour },
        "▶ Show me",
        h("small", {}, "a story of three minutes"),
      ),
    mine && hasTour() && h("p", {}, "Or try it yourself:"),
    mine &&
      role().examples.map((line, index) =>
        h(
          "button",
          { type: "button", class: index ? "example" : "example first", onclick: () => use(line) },
          h("code", {}, line),
          index === 0 && h("span", {}, "Click, then press Enter"),
        ),
      ),
  );
}
