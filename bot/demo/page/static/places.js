// The sidebar (channels, then messages with the bot) and the switch of person at the top.
import { byId, fill, h, kept } from "./dom.js";
import { avatar } from "./messages.js";
import { here, HOME, state } from "./state.js";

const memory = new Map();

export function drawPlaces(open) {
  const { places } = state.picture;
  const channels = places.filter((one) => !one.dm);
  const direct = places.filter((one) => one.dm);
  fill(byId("places"), [
    place(HOME, open),
    kept(memory, "title 1", "", () => h("h2", {}, "Channels")),
    ...channels.map((one) => place(one, open)),
    kept(memory, "title 2", "", () => h("h2", {}, "Direct messages")),
    ...direct.map((one) => place(one, open)),
  ]);
}

function place(one, open) {
  const current = one.id === here().id;
  const unread = current ? 0 : one.unread;
  const pinged = current ? 0 : one.pinged;
  return kept(memory, one.id, [one.name, unread, pinged, current], () =>
    h(
      "button",
      {
        type: "button", class: unread ? "place unread" : "place", "aria-current": current ? "page" : null,
        onclick: () => open(one.id), "data-key": `place ${one.id}`,
      },
      h("span", { "aria-hidden": "true" }, one.home ? "⌂" : one.dm ? "▥" : "#"),
      h("span", { class: "name" }, one.name),
      pinged > 0 && h("span", { class: "count" }, String(pinged)),
      unread > 0 && h("span", { class: "hidden" }, `, ${unread} unread`),
    ),
  );
}

export function drawRoles(become) {
  const nodes = state.start.roles.map((one) => {
    const mine = one.user === state.person;
    const waiting = mine ? 0 : state.picture.waiting[one.user];
    return kept(memory, `role ${one.user}`, [mine, waiting], () => roleButton(one, mine, waiting, become));
  });
  fill(byId("roles"), nodes);
}

function roleButton(one, mine, waiting, become) {
  return h(
    "button",
    {
      type: "button", role: "radio", class: "role", "aria-checked": String(mine), tabindex: mine ? "0" : "-1",
      "data-person": one.name, "data-key": `role ${one.user}`, onclick: () => become(one.user), onkeydown: (event) => step(event, one, become),
    },
    avatar({ author: one.user }),
    h("span", { class: "role-words" }, h("b", {}, one.name), h("small", {}, one.title)),
    waiting > 0 && h("span", { class: "count", "aria-label": `, ${waiting} new` }, String(waiting)),
  );
}

// Arrow keys move between the people, as in any group of radio buttons.
function step(event, one, become) {
  const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const { roles } = state.start;
  const next = roles[(roles.indexOf(one) + by + roles.length) % roles.length];
  become(next.user);
  byId("roles").querySelector(`[data-person="${CSS.escape(next.name)}"]`)?.focus();
}

export function drawWhere() {
  const place = here();
  fill(byId("where"), [
    kept(memory, "where", [place.name, place.members, place.dm], () =>
      h(
        "div",
        {},
        h("h2", {}, place.dm || place.home ? place.name : `# ${place.name}`),
        h("p", {}, place.home ? "What the app shows to you alone" : place.dm ? "Messages between you and the app" : `${place.members} members`),
      ),
    ),
  ]);
}
