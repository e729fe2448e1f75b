"""Readiness on what is shipped, and with one field of it changed: each change is found, in these words, and no other.

The cluster is a simulated one with policies/kubernetes applied and the examples running, read by the adapter's own
functions; the stack is as the charts of Kueue, DCGM exporter and Prometheus make it.
"""

import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml

from bot.adapters.kube.objects import cohort_snapshot, queue_snapshot
from bot.adapters.kube.readiness import CORE_LISTS, KUEUE_LISTS, Read, cluster_facts
from bot.core.kueue import ClusterPicture, FlavorResource, Preemption, QueueSnapshot
from bot.core.readiness.budgets import Pods, budget_faults
from bot.core.readiness.checkpoints import length
from bot.core.readiness.facts import Budget, ClusterFacts, Finding, Readiness, Selector
from bot.core.readiness.judge import PDB_NOTE, judge
from bot.demo.kube.sim import KubeSim
from tests.support.shipped import ROOT, Obj, objects

BEGAN = datetime(2026, 12, 3, 12, 0, tzinfo=UTC)
NOW = BEGAN + timedelta(hours=3)
GPU = "nvidia.com/gpu"
OURS = "gpu-quota-bot.io/"
JOB, SERVING = ("Job", "train-example"), ("Deployment", "serve-example")
TRAIN, SERVE = "Job vision-train/train-example", "Deployment inference/serve-example"
SAVED = (*JOB, ("metadata", "annotations", f"{OURS}checkpoint-at"))
INTERVAL = (*JOB, ("metadata", "annotations", f"{OURS}checkpoint-interval"))
TAKES = (*JOB, ("metadata", "annotations", f"{OURS}checkpoint-takes"))
SIGTERM = ("metadata", "annotations", f"{OURS}on-sigterm")
PREEMPTIBLE = ("metadata", "annotations", f"{OURS}preemptible")
POD = ("spec", "template", "spec")
LABELS = ("metadata", "labels")
BUDGET = "PodDisruptionBudget"


def _at(minutes_ago: float) -> str:
    return f"{NOW - timedelta(minutes=minutes_ago):%Y-%m-%dT%H:%M:%SZ}"


def _part(kind: str, namespace: str, name: str, label: str, **pod: Any) -> Obj:
    labels = {"app.kubernetes.io/name": label}
    if label == "kueue":
        labels["control-plane"] = "controller-manager"
    replicas = {} if kind == "DaemonSet" else {"replicas": 2}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "it:1"}], **pod}}
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": {**replicas, "template": template}}


def _bot() -> Obj:
    """As deploy/kustomize has it, in an overlay that gives it the class."""
    path = ROOT / "deploy/kustomize/base/deployment.yaml"
    (bot,) = (one for one in yaml.safe_load_all(path.read_text()) if one["kind"] == "Deployment")
    bot["metadata"]["namespace"] = "gpu-quota-bot"
    bot["metadata"]["labels"] = {"app.kubernetes.io/name": "gpu-quota-bot"}
    bot["spec"]["template"]["spec"]["priorityClassName"] = "gpu-stack"
    found: Obj = bot
    return found


def _shipped() -> list[Obj]:
    """All objects of a whole cluster."""
    system = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 2_000_000_000}
    prometheus = {"minAvailable": 1, "selector": {"matchLabels": {"app.kubernetes.io/name": "prometheus"}}}
    all_of_it = [
        *objects("base"),
        *objects("examples"),
        {**system, "metadata": {"name": "system-cluster-critical"}},
        _part("Deployment", "kueue-system", "kueue-manager", "kueue", priorityClassName="system-cluster-critical"),
        _part("DaemonSet", "monitoring", "dcgm-exporter", "dcgm-exporter", priorityClassName="gpu-stack"),
        _part("StatefulSet", "monitoring", "prometheus", "prometheus", priorityClassName="gpu-stack"),
        {
            "apiVersion": "policy/v1",
            "kind": BUDGET,
            "metadata": {"name": "prometheus", "namespace": "monitoring"},
            "spec": prometheus,
        },
        _bot(),
    ]
    (job,) = (one for one in all_of_it if (one["kind"], one["metadata"]["name"]) == JOB)
    job["metadata"]["annotations"][f"{OURS}checkpoint-at"] = _at(15)
    return all_of_it


def _facts(world: list[Obj], name: str = "default", lenders: tuple[str, ...] = ()) -> ClusterFacts:
    """What the bot reads of a cluster with these objects, three hours after everything began to run."""
    sim = KubeSim(lambda: BEGAN)
    for namespace in ("kueue-system", "monitoring", "gpu-quota-bot"):
        sim.ensure("namespaces", namespace)
    for obj in copy.deepcopy(world):
        plural = obj["kind"].lower() + ("es" if obj["kind"].endswith("s") else "s")
        plural = plural.replace("policys", "policies")
        sim.request("POST", sim.path(plural, obj["metadata"].get("namespace", "")), obj)
    sim.reconcile()
    kinds = (*CORE_LISTS, *KUEUE_LISTS)
    lists = {kind: sim.cluster.store.all(kind) for kind in kinds}
    queues = {one["metadata"]["name"]: queue_snapshot(name, one) for one in sim.cluster.store.all("clusterqueues")}
    cohorts = {one["metadata"]["name"]: cohort_snapshot(one) for one in sim.cluster.store.all("cohorts")}
    picture = ClusterPicture(name, NOW, queues, cohorts)
    facts = cluster_facts(Read(name, NOW, picture, lists, (GPU,)), ())
    return replace(facts, lenders=frozenset(lenders))


@pytest.fixture(scope="module")
def shipped() -> list[Obj]:
    return _shipped()


def _changed(world: list[Obj], kind: str, name: str, path: tuple[str | int, ...], value: Any) -> list[Obj]:
    """The same with one field set, or taken away for None; the whole object for an empty path."""
    world = copy.deepcopy(world)
    (obj,) = (one for one in world if (one["kind"], one["metadata"]["name"]) == (kind, name))
    if not path:
        return [one for one in world if one is not obj]
    inner: Any = obj
    for key in path[:-1]:
        inner = inner[key] if isinstance(inner, list) else inner.setdefault(key, {})
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return world


def _said(found: Readiness) -> list[str]:
    return [_sentence(one) for one in found.findings]


def _sentence(one: Finding) -> str:
    return f"{one.thing} ({one.gpu_seconds / 3600:.1f}): {one.problem}. {one.mend}."


def test_nothing_is_found_on_what_is_shipped(shipped: list[Obj]) -> None:
    found = judge([_facts(shipped), _facts(shipped, "eu-1")])
    assert _said(found) == []
    assert (found.works, found.unready) == (4, 0)
    assert found.notes == (PDB_NOTE,)


@dataclass(frozen=True)
class Row:
    """One change, and what is then said (thing, GPU-hours at risk, problem and cure)."""

    kind: str
    name: str
    path: tuple[str | int, ...]
    value: Any
    said: tuple[str, ...]


def _row(where: tuple[str, str, tuple[str | int, ...]], value: Any, *said: str) -> Row:
    return Row(*where, value, said)


ROWS = {
    "no interval": _row(
        INTERVAL,
        None,
        f"{TRAIN} (2.0): No checkpoint annotation: it may start from the beginning. "
        f"Set {OURS}checkpoint-interval, such as 30min, or none if that is fine.",
    ),
    "an interval that is no length": _row(
        INTERVAL,
        "often",
        f'{TRAIN} (2.0): Its checkpoint interval "often" is not a length of time. '
        f"Write {OURS}checkpoint-interval as 30min, 2h or none.",
    ),
    "never saved": _row(
        SAVED,
        None,
        f"{TRAIN} (24.0): No checkpoint in 3 h, though it says one every 30 min. "
        f"See why it does not save; it sets {OURS}checkpoint-at each time it has.",
    ),
    "saved long ago": _row(
        SAVED,
        _at(61),
        f"{TRAIN} (8.1): Last checkpoint 1 h 1 min old, though it says one every 30 min. "
        f"See why it does not save; it sets {OURS}checkpoint-at each time it has.",
    ),
    "saved before it was preempted the last time": _row(
        SAVED,
        _at(300),
        f"{TRAIN} (24.0): Last checkpoint 3 h old, though it says one every 30 min. "
        f"See why it does not save; it sets {OURS}checkpoint-at each time it has.",
    ),
    "saved at no instant": _row(
        SAVED,
        "noon",
        f'{TRAIN} (24.0): When it last saved, "noon", is not an instant. '
        f"Write {OURS}checkpoint-at as 2026-12-05T14:05:00Z.",
    ),
    "saved at an instant without a zone": _row(
        SAVED,
        "2026-12-03T14:50:00",
        f'{TRAIN} (24.0): When it last saved, "2026-12-03T14:50:00", is not an instant. '
        f"Write {OURS}checkpoint-at as 2026-12-05T14:05:00Z.",
    ),
    "saved in the future": _row(
        SAVED, _at(-60), f"{TRAIN} (24.0): Its last checkpoint is 1 h in the future. Set the clock of its node right."
    ),
    "a shorter interval than it keeps": _row(
        INTERVAL,
        "5min",
        f"{TRAIN} (2.0): Last checkpoint 15 min old, though it says one every 5 min. "
        f"See why it does not save; it sets {OURS}checkpoint-at each time it has.",
    ),
    "no time to save": _row(
        TAKES,
        None,
        f"{TRAIN} (2.0): Does not say how long saving takes, so whether 5 min of grace are enough is not known. "
        f"Set {OURS}checkpoint-takes, such as 2min.",
    ),
    "a time to save that is no length": _row(
        TAKES,
        "2 beers",
        f'{TRAIN} (2.0): How long saving takes, "2 beers", is not a length of time. '
        f"Write {OURS}checkpoint-takes as 90s or 2min.",
    ),
    "saving takes longer than the grace": _row(
        TAKES,
        "6min",
        f"{TRAIN} (2.0): Grace period 5 min, saving takes 6 min. Set terminationGracePeriodSeconds: 720 on its pods.",
    ),
    "a grace that is shorter than saving": _row(
        (*JOB, (*POD, "terminationGracePeriodSeconds")),
        30,
        f"{TRAIN} (2.0): Grace period 30 s, saving takes 2 min. Set terminationGracePeriodSeconds: 240 on its pods.",
    ),
    "the default grace": _row(
        (*JOB, (*POD, "terminationGracePeriodSeconds")),
        None,
        f"{TRAIN} (2.0): Grace period 30 s, saving takes 2 min. Set terminationGracePeriodSeconds: 240 on its pods.",
    ),
    "SIGTERM is not spoken of": _row(
        (*JOB, SIGTERM),
        None,
        f"{TRAIN} (2.0): Does not say what it does on SIGTERM, so it may just be killed. "
        f"Handle SIGTERM, then set {OURS}on-sigterm: checkpoint.",
    ),
    "SIGTERM does something unknown": _row(
        (*JOB, SIGTERM),
        "pray",
        f'{TRAIN} (2.0): What it does on SIGTERM, "pray", is not known here. '
        f"Write {OURS}on-sigterm as checkpoint or drain.",
    ),
    "serving with SIGTERM that does something unknown": _row(
        (*SERVING, SIGTERM),
        "yes",
        f'{SERVE} (0.0): What it does on SIGTERM, "yes", is not known here. '
        f"Write {OURS}on-sigterm as checkpoint or drain.",
    ),
    "training without a budget": _row(
        (BUDGET, "train-example", ()),
        None,
        f"{TRAIN} (2.0): No PodDisruptionBudget: a drain or kube-scheduler may take any of its 2 pods. "
        "Add one with minAvailable: 2 that selects its pods.",
    ),
    "serving without a budget": _row(
        (BUDGET, "serve-example", ()),
        None,
        f"{SERVE} (0.0): No PodDisruptionBudget: a drain or kube-scheduler may take any of its 4 pods. "
        "Add one with maxUnavailable: 1 that selects its pods.",
    ),
    "a budget for other pods": _row(
        (BUDGET, "train-example", ("spec", "selector", "matchLabels", "app")),
        "trian-example",
        f"{TRAIN} (2.0): No PodDisruptionBudget selects its 2 pods; there are train-example. "
        "Correct the selector of one, with minAvailable: 2.",
    ),
    "a budget without selector": _row(
        (BUDGET, "serve-example", ("spec", "selector")),
        None,
        f"{SERVE} (0.0): No PodDisruptionBudget selects its 4 pods; there are serve-example. "
        "Correct the selector of one, with maxUnavailable: 1.",
    ),
    "a budget by an expression that does not hold": _row(
        (BUDGET, "serve-example", ("spec", "selector", "matchExpressions")),
        [{"key": "app", "operator": "NotIn", "values": ["serve-example"]}],
        f"{SERVE} (0.0): No PodDisruptionBudget selects its 4 pods; there are serve-example. "
        "Correct the selector of one, with maxUnavailable: 1.",
    ),
    "a budget in another namespace": _row(
        (BUDGET, "train-example", ("metadata", "namespace")),
        "nlp-train",
        f"{TRAIN} (2.0): No PodDisruptionBudget: a drain or kube-scheduler may take any of its 2 pods. "
        "Add one with minAvailable: 2 that selects its pods.",
    ),
    "a percentage for a Job": _row(
        (BUDGET, "train-example", ("spec", "minAvailable")),
        "100%",
        f"{TRAIN} (2.0): PodDisruptionBudget train-example does not work for a Job: Kubernetes can count its "
        "pods for a "
        "number of minAvailable only. Set minAvailable: 2 on it, and no maxUnavailable.",
    ),
    "maxUnavailable for a Job": _row(
        (BUDGET, "train-example", ("spec", "maxUnavailable")),
        0,
        f"{TRAIN} (2.0): PodDisruptionBudget train-example does not work for a Job: Kubernetes can count its "
        "pods for a "
        "number of minAvailable only. Set minAvailable: 2 on it, and no maxUnavailable.",
    ),
    "a budget that keeps half of a Job": _row(
        (BUDGET, "train-example", ("spec", "minAvailable")),
        1,
        f"{TRAIN} (2.0): PodDisruptionBudget train-example keeps 1 of 2 pods, and the Job needs all of them. "
        "Set minAvailable: 2 on it.",
    ),
    "a budget that keeps nothing of a Job": _row(
        (BUDGET, "train-example", ("spec", "minAvailable")),
        0,
        f"{TRAIN} (2.0): PodDisruptionBudget train-example protects nothing: all 2 pods may go at once. "
        "Set minAvailable: 2 on it.",
    ),
    "a budget that keeps nothing": _row(
        (BUDGET, "serve-example", ("spec", "maxUnavailable")),
        "100%",
        f"{SERVE} (0.0): PodDisruptionBudget serve-example protects nothing: all 4 pods may go at once. "
        "Set maxUnavailable: 1 on it.",
    ),
    "a budget that lets none go": _row(
        (BUDGET, "serve-example", ("spec", "maxUnavailable")),
        0,
        f"{SERVE} (0.0): PodDisruptionBudget serve-example lets no pod go, so draining its nodes never ends. "
        "Set maxUnavailable: 1 on it.",
    ),
    "Prometheus has its budget in another namespace": _row(
        (BUDGET, "prometheus", ("metadata", "namespace")),
        "kueue-system",
        "StatefulSet monitoring/prometheus (0.0): Prometheus: No PodDisruptionBudget: a drain or kube-scheduler "
        "may take "
        "any of its 2 pods. Add one with maxUnavailable: 1 that selects its pods.",
    ),
    "a class that is not there": _row(
        (*JOB, (*POD, "priorityClassName")),
        "trianing",
        f"{TRAIN} (2.0): PriorityClass trianing does not exist: no new pod of it is taken. "
        "Make trianing, or name another one.",
    ),
    "no class for the nodes": _row(
        (*JOB, (*POD, "priorityClassName")),
        None,
        f"{TRAIN} (2.0): Kueue counts it as 1,000, kube-scheduler as 0. "
        "Name a PriorityClass and a WorkloadPriorityClass of the same value.",
    ),
    "training that calls itself inference on the nodes": _row(
        (*JOB, (*POD, "priorityClassName")),
        "inference",
        f"{TRAIN} (2.0): PriorityClass inference takes the place of lower ones on the nodes, beside Kueue's quota. "
        "Make inference again with preemptionPolicy: Never.",
        f"{TRAIN} (2.0): Kueue counts it as 1,000, kube-scheduler as 100,000. "
        "Name a PriorityClass and a WorkloadPriorityClass of the same value.",
    ),
    "spare for Kueue only": _row(
        (*JOB, (*LABELS, "kueue.x-k8s.io/priority-class")),
        "training-spare",
        f"{TRAIN} (2.0): Kueue counts it as 100, kube-scheduler as 1,000. "
        "Name a PriorityClass and a WorkloadPriorityClass of the same value.",
    ),
    "training that preempts on the nodes": _row(
        ("PriorityClass", "training", ("preemptionPolicy",)),
        "PreemptLowerPriority",
        f"{TRAIN} (2.0): PriorityClass training takes the place of lower ones on the nodes, beside Kueue's quota. "
        "Make training again with preemptionPolicy: Never.",
    ),
    "a class for serving that is not there": _row(
        (*SERVING, (*LABELS, "kueue.x-k8s.io/priority-class")),
        "interference",
        f"{SERVE} (0.0): WorkloadPriorityClass interference does not exist: Kueue takes no new work with it. "
        "Make interference, or name another one.",
    ),
    "a value for Kueue that is not that of the pods": _row(
        ("WorkloadPriorityClass", "inference", ("value",)),
        90_000,
        f"{SERVE} (0.0): Kueue counts it as 90,000, kube-scheduler as 100,000. "
        "Name a PriorityClass and a WorkloadPriorityClass of the same value.",
    ),
    "a value near the system's": _row(
        ("PriorityClass", "gpu-stack", ("value",)),
        999_000_000,
        "PriorityClass gpu-stack (0.0): Its value is 999,000,000, above 10,000,000: too near the system classes. "
        "Make it again with at most 10,000,000.",
    ),
    "not preemptible, in words that are none": _row(
        (*SERVING, PREEMPTIBLE),
        "never",
        f'{SERVE} (0.0): {OURS}preemptible is "never". Write {OURS}preemptible as true or false.',
    ),
    "serving from a queue that borrows": _row(
        ("ClusterQueue", "inference", ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0, "borrowingLimit")),
        "4",
        f"{SERVE} (0.0): Must not be preempted, and can be. ClusterQueue inference borrows, and what is "
        "borrowed is taken "
        f"back (reclaimWithinCohort: Any): borrowingLimit of a100 {GPU} is 4. "
        "Set borrowingLimit: 0 there, on ClusterQueue inference.",
    ),
    "serving from a queue that borrows cpu without a limit": _row(
        ("ClusterQueue", "inference", ("spec", "resourceGroups", 0, "flavors", 0, "resources", 1, "borrowingLimit")),
        None,
        f"{SERVE} (0.0): Must not be preempted, and can be. ClusterQueue inference borrows, and what is "
        "borrowed is taken "
        "back (reclaimWithinCohort: Any): borrowingLimit of a100 cpu is not set. "
        "Set borrowingLimit: 0 there, on ClusterQueue inference.",
    ),
    "serving where older work preempts newer": _row(
        ("ClusterQueue", "inference", ("spec", "preemption", "withinClusterQueue")),
        "LowerOrNewerEqualPriority",
        f"{SERVE} (0.0): Must not be preempted, and can be. In ClusterQueue inference gpu-stack (1,000,000) "
        "preempts its "
        "100,000 (withinClusterQueue: LowerOrNewerEqualPriority). "
        "Set withinClusterQueue: Never on ClusterQueue inference.",
    ),
    "serving where priority decides": _row(
        ("ClusterQueue", "inference", ("spec", "preemption", "withinClusterQueue")),
        "LowerPriority",
        f"{SERVE} (0.0): Must not be preempted, and can be. In ClusterQueue inference gpu-stack (1,000,000) "
        "preempts its "
        "100,000 (withinClusterQueue: LowerPriority). Set withinClusterQueue: Never on ClusterQueue inference.",
    ),
    "serving below a class that preempts": _row(
        ("PriorityClass", "gpu-stack", ("preemptionPolicy",)),
        None,
        f"{SERVE} (0.0): Must not be preempted, and can be. PriorityClass gpu-stack (1,000,000) may take its place on "
        "the nodes; its own is inference (100,000). "
        "Give it a class that none is above, or set preemptionPolicy: Never on gpu-stack.",
    ),
    "serving through a LocalQueue that is not there": _row(
        (*SERVING, (*LABELS, "kueue.x-k8s.io/queue-name")),
        "mian",
        f"{SERVE} (0.0): Must not be preempted, and can be. Which ClusterQueue LocalQueue mian belongs to is "
        "not known. "
        "Name a LocalQueue that is there.",
    ),
    "training that must not be preempted": _row(
        (*JOB, PREEMPTIBLE),
        "false",
        f"{TRAIN} (2.0): Must not be preempted, and can be. In ClusterQueue vision gpu-stack (1,000,000) preempts its "
        "1,000 (withinClusterQueue: LowerPriority). Set withinClusterQueue: Never on ClusterQueue vision.",
        f"{TRAIN} (2.0): Must not be preempted, and can be. ClusterQueue vision borrows, and what is borrowed is taken "
        f"back (reclaimWithinCohort: Any): borrowingLimit of a100 cpu is not set (and of 5 more). "
        "Set borrowingLimit: 0 there, on ClusterQueue vision.",
        f"{TRAIN} (2.0): Must not be preempted, and can be. PriorityClass inference (100,000) may take its place on "
        "the nodes; its own is training (1,000). "
        "Give it a class that none is above, or set preemptionPolicy: Never on inference.",
    ),
    "Kueue can be preempted": _row(
        ("Deployment", "kueue-manager", (*POD, "priorityClassName")),
        None,
        "Deployment kueue-system/kueue-manager (0.0): Kueue can be preempted. PriorityClass inference (100,000) "
        "may take "
        "its place on the nodes; its own is none (0). Give it gpu-stack or a system class.",
    ),
    "Kueue has one replica": _row(
        ("Deployment", "kueue-manager", ("spec", "replicas")),
        1,
        "Deployment kueue-system/kueue-manager (0.0): Kueue has one replica: while it moves to another node nothing is "
        "admitted. Set two replicas.",
    ),
    "Kueue has no budget": _row(
        (BUDGET, "kueue-controller-manager", ()),
        None,
        "Deployment kueue-system/kueue-manager (0.0): Kueue: No PodDisruptionBudget: a drain or kube-scheduler "
        "may take "
        "any of its 2 pods. Add one with maxUnavailable: 1 that selects its pods.",
    ),
    "DCGM exporter is training": _row(
        ("DaemonSet", "dcgm-exporter", (*POD, "priorityClassName")),
        "training",
        "DaemonSet monitoring/dcgm-exporter (0.0): DCGM exporter can be preempted. PriorityClass inference "
        "(100,000) may "
        "take its place on the nodes; its own is training (1,000). Give it gpu-stack or a system class.",
    ),
    "Prometheus has a class that is not there": _row(
        ("StatefulSet", "prometheus", (*POD, "priorityClassName")),
        "gpu-stak",
        "StatefulSet monitoring/prometheus (0.0): PriorityClass gpu-stak of Prometheus does not exist: no new "
        "pod of it "
        "is taken. Make gpu-stak, or name another one.",
    ),
    "the bot can be preempted": _row(
        ("Deployment", "gpu-quota-bot", (*POD, "priorityClassName")),
        None,
        "Deployment gpu-quota-bot/gpu-quota-bot (0.0): gpu-quota-bot can be preempted. PriorityClass inference "
        "(100,000) "
        "may take its place on the nodes; its own is none (0). Give it gpu-stack or a system class.",
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_one_field_of_what_is_shipped_is_wrong_and_that_alone_is_said(shipped: list[Obj], row: Row) -> None:
    found = judge([_facts(_changed(shipped, row.kind, row.name, row.path, row.value))])
    assert tuple(_said(found)) == row.said


def test_there_are_enough_of_them() -> None:
    assert len(ROWS) >= 40


def _two(shipped: list[Obj], kind: str, name: str, path: tuple[str | int, ...], value: Any) -> list[str]:
    """What is said of two clusters, the second one with a change."""
    return _said(judge([_facts(shipped), _facts(_changed(shipped, kind, name, path, value), "eu-1")]))


@pytest.mark.parametrize(
    ("kind", "path", "value", "said"),
    [
        (
            "PriorityClass",
            ("value",),
            2000,
            "PriorityClass training (2.0): Is 1,000 in default and 2,000 in eu-1. Make it again with one value "
            "everywhere.",
        ),
        (
            "WorkloadPriorityClass",
            ("value",),
            2000,
            "WorkloadPriorityClass training (2.0): Is 1,000 in default and 2,000 in eu-1. "
            "Make it again with one value everywhere.",
        ),
        (
            "PriorityClass",
            ("preemptionPolicy",),
            None,
            "PriorityClass training (2.0): Its preemptionPolicy is not the same in default and eu-1. "
            "Make it again with one preemptionPolicy everywhere.",
        ),
        (
            "PriorityClass",
            (),
            None,
            "PriorityClass training (2.0): Exists in default and not in eu-1. Make it in eu-1 with 1,000.",
        ),
        (
            "WorkloadPriorityClass",
            (),
            None,
            "WorkloadPriorityClass training (0.0): Exists in default and not in eu-1. Make it in eu-1 with 1,000.",
        ),
    ],
)
def test_a_class_that_is_not_the_same_in_all_clusters_is_said_once(
    shipped: list[Obj], kind: str, path: tuple[str | int, ...], value: Any, said: str
) -> None:
    found = [line for line in _two(shipped, kind, "training", path, value) if line.startswith(f"{kind} ")]
    assert found == [said]


def test_whoever_may_start_again_from_the_beginning_is_asked_nothing_more(shipped: list[Obj]) -> None:
    world = _changed(shipped, *INTERVAL, "none")
    for path in (SAVED, TAKES, (*JOB, SIGTERM)):
        world = _changed(world, *path, None)
    assert _said(judge([_facts(world)])) == []


def test_a_prestop_hook_says_what_happens_at_the_end(shipped: list[Obj]) -> None:
    assert _said(judge([_facts(_changed(shipped, *SERVING, SIGTERM, None))])) == []
    without = _changed(shipped, *SERVING, SIGTERM, None)
    without = _changed(without, *SERVING, (*POD, "containers", 0, "lifecycle"), None)
    (said,) = _said(judge([_facts(without)]))
    assert said.startswith(f"{SERVE} (0.0): Does not say what it does on SIGTERM, so it may just be killed.")
    assert said.endswith(f"set {OURS}on-sigterm: drain.")


def test_a_queue_that_policy_lets_lend_may_fall_below_what_runs(shipped: list[Obj]) -> None:
    assert _said(judge([_facts(shipped, lenders=("inference",))])) == [
        f"{SERVE} (0.0): Must not be preempted, and can be. ClusterQueue inference may lend by loans, and what "
        "then runs "
        "above its quota is taken back. Take inference out of lenders in clusters.yaml."
    ]


def _serving_queue(facts: ClusterFacts, **fields: Any) -> ClusterFacts:
    assert facts.picture is not None
    queues = {**facts.picture.queues, "inference": replace(facts.picture.queues["inference"], **fields)}
    return replace(facts, picture=replace(facts.picture, queues=queues))


def test_a_queue_that_runs_above_its_own_quota_can_lose_the_rest(shipped: list[Obj]) -> None:
    facts = _facts(shipped)
    over = _serving_queue(facts, reserved={FlavorResource("h100", GPU): 20})
    assert _said(judge([over])) == [
        f"{SERVE} (0.0): Must not be preempted, and can be. ClusterQueue inference uses 20 of its 16 h100: the "
        "rest can be "
        "taken back. Raise nominalQuota of inference, or let work of it end."
    ]
    assert _said(judge([_serving_queue(over, cohort=None)])) == [], "there is nobody to take it back"


def test_nobody_takes_back_where_no_queue_reclaims_or_only_from_lower_priorities(shipped: list[Obj]) -> None:
    world = _changed(
        shipped,
        "ClusterQueue",
        "inference",
        ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0, "borrowingLimit"),
        "4",
    )
    facts = _facts(world)
    assert facts.picture is not None
    for policy, found in (("Never", 0), ("LowerPriority", 1), ("Any", 1)):
        queues = {
            name: replace(queue, preemption=replace(queue.preemption, reclaim_within_cohort=policy))
            for name, queue in facts.picture.queues.items()
        }
        there = replace(facts, picture=replace(facts.picture, queues=queues))
        assert len(_said(judge([there]))) == found, policy
    above = {name: one for name, one in (facts.pod_classes or {}).items() if name != "gpu-stack"}
    highest = replace(facts, pod_classes=above, picture=replace(facts.picture, queues=_lower_only(facts)), stack=())
    assert _said(judge([highest])) == [], "no class is above its own"


def _lower_only(facts: ClusterFacts) -> dict[str, QueueSnapshot]:
    assert facts.picture is not None
    lower = Preemption(reclaim_within_cohort="LowerPriority")
    return {name: replace(queue, preemption=lower) for name, queue in facts.picture.queues.items()}


def test_equal_priorities_are_safe_unless_older_work_goes_first(shipped: list[Obj]) -> None:
    facts = _facts(shipped)
    above = {name: one for name, one in (facts.pod_classes or {}).items() if name != "gpu-stack"}
    for policy, said in (
        ("LowerPriority", []),
        ("LowerOrNewerEqualPriority", ["older work preempts newer of the same"]),
    ):
        within = _serving_queue(facts, preemption=Preemption(within_cluster_queue=policy))
        found = _said(judge([replace(within, pod_classes=above, stack=())]))
        assert len(found) == len(said)
        assert all(words in line for words, line in zip(said, found, strict=True))


def test_work_that_cannot_be_preempted_is_not_asked_for_checkpoints(shipped: list[Obj]) -> None:
    """A cluster without Kueue, in which no class preempts."""
    world = _changed(_changed(shipped, *INTERVAL, None), *SAVED, None)
    facts = _facts(world)
    classes = {name: replace(one, preempts=False) for name, one in (facts.pod_classes or {}).items()}
    works = tuple(replace(one, local_queue=None, queue=None, priority=None) for one in facts.works)
    found = judge([replace(facts, works=works, pod_classes=classes, picture=None)])
    assert _said(found) == []
    assert found.notes == ()


def test_what_waits_has_nothing_to_lose(shipped: list[Obj]) -> None:
    facts = _facts(_changed(shipped, *INTERVAL, None))
    works = tuple(replace(one, running_since=None) for one in facts.works)
    (one,) = judge([replace(facts, works=works)]).findings
    assert (one.check, one.gpu_seconds) == ("checkpoint-missing", 0)


def test_what_may_not_be_listed_is_said_and_nothing_is_judged_by_it(shipped: list[Obj]) -> None:
    world = _changed(
        _changed(shipped, BUDGET, "train-example", (), None), *JOB, (*POD, "priorityClassName"), "trianing"
    )
    facts = _facts(world)
    blind = replace(
        facts, budgets=None, pod_classes=None, kueue_classes=None, unread=("priorityclasses.scheduling.k8s.io",)
    )
    found = judge([blind])
    assert _said(found) == []
    assert found.notes == (
        "The bot may not list priorityclasses.scheduling.k8s.io in default: what depends on it is not judged.",
    )


PODS = Pods("team-a", {"app": "x"}, 3, job=False)
ALL = Selector({"app": "x"})


@pytest.mark.parametrize(
    ("pods", "budgets", "check"),
    [
        (PODS, [Budget("team-a", "one", ALL, max_unavailable=1)], ""),
        (PODS, [Budget("team-a", "one", Selector(), max_unavailable="34%")], ""),
        (PODS, [Budget("team-a", "one", ALL, min_available="67%")], "budget-blocks"),
        (PODS, [Budget("team-a", "one", ALL, min_available=4)], "budget-blocks"),
        (PODS, [Budget("team-a", "one", ALL, max_unavailable="0%")], "budget-blocks"),
        (PODS, [Budget("team-a", "one", ALL, min_available="0%")], "budget-useless"),
        (PODS, [Budget("team-a", "one", ALL)], "budget-blocks"),
        (PODS, [Budget("team-a", "a", ALL, 1), Budget("team-a", "b", Selector(), 1)], "budget-twice"),
        (PODS, [Budget("team-a", "one", Selector({}, (("app", "In", ("y", "x")),)), 1)], ""),
        (PODS, [Budget("team-a", "one", Selector({}, (("app", "In", ("y",)),)), 1)], "budget-not-matching"),
        (PODS, [Budget("team-a", "one", Selector({}, (("app", "Exists", ()),)), 1)], ""),
        (PODS, [Budget("team-a", "one", Selector({}, (("app", "DoesNotExist", ()),)), 1)], "budget-not-matching"),
        (replace(PODS, count=1), [], ""),
        (replace(PODS, count=1), [Budget("team-a", "one", ALL, max_unavailable=1)], ""),
        (replace(PODS, count=1), [Budget("team-a", "one", ALL, min_available=1)], "budget-blocks"),
        (replace(PODS, count=0), [Budget("team-a", "one", ALL, min_available=1)], "budget-blocks"),
        (replace(PODS, count=1, job=True), [Budget("team-a", "one", ALL, min_available=1)], ""),
    ],
)
def test_what_a_budget_comes_to(pods: Pods, budgets: list[Budget], check: str) -> None:
    assert [fault[0] for fault in budget_faults(pods, budgets)] == ([check] if check else [])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("5m", 300), ("5min", 300), ("1d12h", 129_600), (" 2h ", 7200), ("0s", 0), ("", 0), ("-5m", 0)],
)
def test_lengths_are_written_as_people_write_them(text: str, seconds: int) -> None:
    found = length(text)
    assert (found.total_seconds() if found else 0) == seconds
