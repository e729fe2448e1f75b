// Inputs of a form: static_select, number_input, plain_text_input, datetimepicker, checkboxes (one). Each knows its value as text or null.
import { h } from "./dom.js";

// `standing` is what the server remembers of this input, `dates` tells instants in the person's zone.
export function field(block, standing, dates, changed) {
  const make = { static_select: select, number_input: line, plain_text_input: line, datetimepicker: moment, checkboxes: tick }[block.element.type];
  if (!make) return null;
  const control = make(block.element, standing ?? {}, dates);
  const id = `field-${block.block_id}`;
  control.input.id = id;
  const error = h("p", { class: "field-error", id: `${id}-error`, role: "alert", hidden: true });
  const hint = block.hint ? h("p", { class: "hint", id: `${id}-hint` }, block.hint.text) : null;
  control.input.setAttribute("aria-describedby", `${id}-error ${id}-hint`);
  if (!block.optional) control.input.setAttribute("aria-required", "true");
  if (block.dispatch_action) dispatch(block.element, control, changed);
  const label = h("label", { for: id }, block.label.text, block.optional && h("small", {}, " (optional)"));
  const node = h("div", { class: "field" }, label, control.input, control.extra, hint, error);
  return {
    node,
    value: control.value,
    adopt: control.adopt,
    focus: () => control.input.focus(),
    complain(words) {
      error.textContent = words ?? "";
      error.hidden = !words;
      control.input.setAttribute("aria-invalid", String(Boolean(words)));
    },
  };
}

function dispatch(element, control, changed) {
  const enter = element.type === "number_input" || element.type === "plain_text_input";
  if (!enter) control.input.addEventListener("change", changed);
  else
    control.input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      changed();
    });
}

function select(element, standing) {
  const extra = h("p", { class: "hint" });
  const known = [...(element.options ?? []), ...(element.option_groups ?? []).flatMap((group) => group.options)];
  const options = (each) => each.map((one) => h("option", { value: one.value }, one.text.text));
  const groups = (element.option_groups ?? []).map((group) => h("optgroup", { label: group.label.text }, options(group.options)));
  const input = h("select", {}, h("option", { value: "" }, element.placeholder?.text ?? "Choose"), options(element.options ?? []), groups);
  const describe = () => {
    extra.textContent = known.find((one) => one.value === input.value)?.description?.text ?? "";
  };
  const adopt = (value) => {
    if (known.some((one) => one.value === value)) input.value = value;
    describe();
  };
  adopt((standing.selected_option ?? element.initial_option)?.value);
  if (input.value) input.options[0].remove(); // what was chosen can be changed, not taken back, as in Slack
  input.addEventListener("change", describe);
  return { input, extra, adopt, value: () => input.value || null };
}

function line(element, standing) {
  const number = element.type === "number_input";
  const input = element.multiline
    ? h("textarea", { rows: "3" })
    : h("input", { type: "text", inputmode: number ? (element.is_decimal_allowed ? "decimal" : "numeric") : null, autocomplete: "off" });
  if (element.placeholder) input.placeholder = element.placeholder.text;
  const adopt = (value) => (input.value = value ?? "");
  adopt(standing.value ?? element.initial_value);
  return { input, extra: null, adopt, value: () => input.value };
}

function tick(element, standing) {
  const [option] = element.options;
  const input = h("input", { type: "checkbox" });
  const words = [option.text.text, option.description?.text].filter(Boolean).join(". ");
  const adopt = (value) => (input.checked = value === option.value);
  adopt((standing.selected_options ?? element.initial_options ?? [])[0]?.value);
  return { input, extra: h("p", { class: "hint" }, words), adopt, value: () => (input.checked ? option.value : null) };
}

function moment(element, standing, dates) {
  const input = h("input", { type: "datetime-local" });
  const unix = standing.selected_date_time ?? element.initial_date_time;
  const adopt = (value) => (input.value = value ?? "");
  adopt(unix ? dates[`${unix}|local`] : "");
  return { input, extra: null, adopt, value: () => input.value || null };
}
