// The message box: Enter sends, Shift+Enter breaks the line, arrow up brings back what was sent, `/` offers commands.
import { complete } from "./completion.js";
import { h } from "./dom.js";

// `send(text)` returns a promise; `commands` is null where commands cannot be typed (threads).
export function composer({ id, label, send, command, commands }) {
  const list = h("ul", { class: "options", role: "listbox", id: `${id}-options`, "aria-label": "Commands", hidden: true });
  const usage = h("p", { class: "usage", id: `${id}-usage`, hidden: true });
  const box = h("textarea", {
    id, rows: "1", "aria-label": label, placeholder: label, autocomplete: "off", spellcheck: "false",
    role: commands ? "combobox" : null, "aria-expanded": commands ? "false" : null,
    "aria-controls": `${id}-options`, "aria-autocomplete": commands ? "list" : null, "aria-describedby": `${id}-usage`,
  });
  const button = h("button", { class: "send primary", type: "button", "aria-label": "Send", title: "Send (Enter)" }, "➤");
  const sent = [];
  let back = 0;
  let offered = { options: [], active: -1 };
  let closed = false;

  const set = (text) => {
    box.value = text;
    closed = false;
    offer();
  };
  const offer = () => {
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, 160)}px`;
    offered = commands && !closed ? complete(box.value, command, commands) : { options: [], usage: "", active: -1 };
    usage.textContent = offered.usage;
    usage.hidden = !offered.usage;
    draw();
  };
  const draw = () => {
    const open = offered.options.length > 0;
    list.hidden = !open;
    if (commands) box.setAttribute("aria-expanded", String(open));
    list.replaceChildren(...offered.options.map((one, index) => option(one, index)));
    const active = list.children[offered.active];
    active ? box.setAttribute("aria-activedescendant", active.id) : box.removeAttribute("aria-activedescendant");
    active?.scrollIntoView({ block: "nearest" });
  };
  const option = (one, index) =>
    h(
      "li",
      {
        role: "option", id: `${id}-option-${index}`, "aria-selected": String(index === offered.active),
        onmousedown: (event) => event.preventDefault(), onclick: () => (set(one.line), box.focus()),
      },
      h("code", {}, `${command} ${one.name}`),
      h("span", {}, one.summary),
    );
  const go = async () => {
    const text = box.value.trim();
    if (!text) return;
    if (sent.at(-1) !== text) sent.push(text);
    back = sent.length;
    set("");
    await send(text);
  };
  const recall = (step) => {
    back = Math.max(0, Math.min(sent.length, back + step));
    set(sent[back] ?? "");
    closed = true;
    offer();
  };
  const remembers = () => box.value === "" || box.value === sent[back];

  box.addEventListener("input", () => ((closed = false), (back = sent.length), offer()));
  box.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const { options, active } = offered;
    const plain = !event.shiftKey && !event.altKey && !event.ctrlKey && !event.metaKey;
    if (event.key === "Escape" && options.length) {
      closed = true;
      event.stopPropagation();
      offer();
    } else if (options.length && plain && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      offered.active = (active + (event.key === "ArrowDown" ? 1 : -1) + options.length) % options.length;
      draw();
    } else if (options.length && plain && (event.key === "Tab" || (event.key === "Enter" && active >= 0))) {
      set(options[Math.max(0, active)].line);
    } else if (event.key === "Enter" && plain) {
      go();
    } else if (plain && (event.key === "ArrowUp" || event.key === "ArrowDown") && sent.length && remembers()) {
      recall(event.key === "ArrowUp" ? -1 : 1);
    } else return;
    event.preventDefault();
  });
  button.addEventListener("click", () => (go(), box.focus()));
  const node = h("div", { class: "compose" }, list, usage, h("div", { class: "box" }, box, button));
  return { node, set, box, name: (words) => (box.setAttribute("aria-label", words), (box.placeholder = words)) };
}
