// The dialog that asks before a press counts. Resolves to whether the person agreed; Escape is a no.
import { byId, h } from "./dom.js";

export function confirmed(asked) {
  const dialog = byId("confirm");
  return new Promise((answer) => {
    let agreed = false;
    const yes = h(
      "button",
      { type: "button", class: asked.style === "danger" ? "danger" : "primary", onclick: () => ((agreed = true), dialog.close()) },
      asked.confirm.text,
    );
    const no = h("button", { type: "button", onclick: () => dialog.close() }, asked.deny.text);
    dialog.replaceChildren(
      h("h2", { id: "confirm-title" }, asked.title.text),
      h("div", { class: "modal-body" }, h("p", {}, asked.text.text)),
      h("footer", {}, no, yes),
    );
    dialog.addEventListener("close", () => answer(agreed), { once: true });
    dialog.showModal();
    yes.focus();
  });
}
