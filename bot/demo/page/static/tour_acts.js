// What a step of the tour does, with the page's own controls, slowly enough to be seen.
import { post } from "./api.js";
import { byId, toast } from "./dom.js";

const SEEN = 1500; // milliseconds that a dialog or a filled form stands before it is agreed to

const seen = () => new Promise((resume) => setTimeout(resume, SEEN));

// `say` sends a line, `until` waits for what a function finds.
export async function act(step, say, until) {
  if (step.line) await say(step.line);
  if (step.press) await press(step.press, until);
  if (Object.keys(step.fill).length) await fill(step.fill, until);
  if (step.control) toast((await post(step.control.name, step.control.body)).said);
}

// The newest message with these words has it last.
export function buttonOf({ words, action }) {
  const messages = [...document.querySelectorAll("#list article")].filter((one) => one.textContent.includes(words));
  return messages.at(-1)?.querySelector(`[data-action="${CSS.escape(action)}"]`);
}

async function press(wanted, until) {
  (await until(() => buttonOf(wanted))).click();
  const dialog = byId("confirm");
  if (!dialog.open) return;
  await seen();
  dialog.querySelector("footer button:last-child").click();
}

async function fill(values, until) {
  const form = byId("view");
  const inputs = () => Object.keys(values).map((id) => form.querySelector(`#field-${CSS.escape(id)}`));
  await until(() => form.open && inputs().every(Boolean) && form.querySelector("[data-submit]"));
  for (const [id, value] of Object.entries(values)) {
    const input = form.querySelector(`#field-${CSS.escape(id)}`);
    input.value = value;
    input.dispatchEvent(new Event("change"));
  }
  await seen();
  form.querySelector("[data-submit]")?.click();
  await until(() => !form.open || !form.querySelector("[data-submit]"));
  if (!form.open) return;
  await seen(); // it says what came of it
  form.querySelector("footer button").click();
}
