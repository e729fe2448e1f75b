// The controls that ask something first: a job to submit, what becomes of a job, a node, a quota to edit by hand.
import { byId, h } from "./dom.js";

export function askJob(cohort, go) {
  const queue = queues(cohort);
  const gpus = number("control-gpus", "4", "1", "64");
  const urgent = h("input", { type: "checkbox", id: "control-urgent" });
  ask("Submit a job", "Submit", [
    labelled("ClusterQueue", queue),
    labelled(`GPUs (${cohort.flavor})`, gpus),
    h("div", { class: "field tick" }, urgent, h("label", { for: "control-urgent" }, "High priority: may preempt")),
  ], () => go("job", { queue: queue.value, gpus: Number(gpus.value), urgent: urgent.checked }));
}

export function askNode(cohort, go) {
  const node = h("select", { id: "control-node" }, cohort.nodes.map((one) =>
    h("option", { value: one.name }, `${one.name} (${one.gpus}${one.cordoned ? ", cordoned" : ""})`)));
  const cordoned = () => cohort.nodes.find((one) => one.name === node.value).cordoned;
  ask("Cordon a node", "Cordon", [
    h("p", { class: "hint" }, "Nothing new starts on it; what runs goes on. One that is cordoned is opened again."),
    labelled("Node (GPUs)", node),
  ], () => go("cordon", { node: node.value, undo: cordoned() }));
  const follow = () => (byId("control").querySelector(".primary").textContent = cordoned() ? "Uncordon" : "Cordon");
  node.addEventListener("change", follow);
  follow();
}

export function askWhatOf(queue, job, go) {
  const act = (name) => () => (byId("control").close(), go(name, { queue: queue.name, job: job.name }));
  const other = job.waits ? null : h("button", { type: "button", onclick: act("finish") }, "Finish it");
  ask(job.name, "Raise its priority", [
    h("p", {}, `${job.gpus} GPUs, ${job.mood}, priority ${job.priority}.`),
    h("p", { class: "hint" }, "With a higher priority it goes before others, and may preempt them where the queue allows it."),
  ], act("raise"), other);
}

export function askQuota(cohort, go) {
  const queue = queues(cohort);
  const nominal = number("control-nominal", "", "0", "999");
  const follow = () => (nominal.value = Math.max(0, cohort.queues.find((one) => one.name === queue.value).nominal - 4));
  queue.addEventListener("change", follow);
  follow();
  ask("Edit quota by hand", "Edit", [
    h("p", { class: "hint" }, "As kubectl edit would, past the bot. It asks in #gpu-platform what was meant."),
    labelled("ClusterQueue", queue),
    labelled("nominalQuota", nominal),
  ], () => go("quota", { queue: queue.value, nominal: Number(nominal.value) }));
}

const queues = (cohort) =>
  h("select", { id: "control-queue" }, cohort.queues.map((one) => h("option", { value: one.name }, `${one.name} (${one.nominal})`)));

const number = (id, value, min, max) => h("input", { type: "number", id, value, min, max, step: "1", required: true });

const labelled = (words, input) => h("div", { class: "field" }, h("label", { for: input.id }, words), input);

function ask(title, yes, content, act, other = null) {
  const dialog = byId("control");
  const submit = (event) => {
    event.preventDefault();
    dialog.close();
    act();
  };
  dialog.replaceChildren(
    h(
      "form",
      { method: "dialog", onsubmit: submit },
      h("h2", { id: "control-title" }, title),
      h("div", { class: "modal-body" }, content),
      h("footer", {}, h("button", { type: "button", onclick: () => dialog.close() }, "Not now"), other, h("button", { class: "primary" }, yes)),
    ),
  );
  dialog.showModal();
}
