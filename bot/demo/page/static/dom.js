// Elements from code: the only way the page makes them. Strings become text nodes, so nobody's words are markup.

// h("button", { class: "quiet", onclick: f, "aria-label": "Close" }, "×", null, [more])
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const byId = (id) => document.getElementById(id);

// Puts `nodes` into `parent` and leaves alone those that are there already, so that focus and scrolling stay.
export function fill(parent, nodes) {
  const wanted = new Set(nodes);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  nodes.forEach((node, index) => {
    if (parent.childNodes[index] !== node) parent.insertBefore(node, parent.childNodes[index] ?? null);
  });
}

// Draws a node only when its facts changed: `memory` is a Map of one place, `key` names the node in it.
export function kept(memory, key, facts, draw) {
  const name = JSON.stringify(facts);
  const known = memory.get(key);
  if (known && known.name === name) return known.node;
  const node = draw();
  memory.set(key, { name, node });
  return node;
}

// Where the focus was is where it is afterwards, also when what had it was drawn anew: in the same button of the node
// with the same data-key, else in that node.
export function keepingFocus(draw) {
  const active = document.activeElement;
  const key = active.closest("[data-key]")?.dataset.key;
  const { action, value } = active.dataset;
  draw();
  if (active.isConnected || !key) return;
  const home = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const same = [...(home?.querySelectorAll("[data-action]") ?? [])].filter((one) => one.dataset.action === action);
  (same.find((one) => one.dataset.value === value) ?? (home?.dataset.key === "home" ? home : same[0]) ?? home)?.focus({ preventScroll: true });
}

export function toast(words, kind = "") {
  const node = h("p", { class: `toast ${kind}` }, words);
  byId("toasts").append(node);
  setTimeout(() => node.remove(), 6000);
}
