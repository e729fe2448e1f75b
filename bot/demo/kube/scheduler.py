"""One pass of Kueue's scheduler: who gets quota, who must go for whom, who waits and why. Called by controller.py.

Simplified, and faithful where it shows: heads of queues in turn, without borrowing before with it, then priority,
then age; the quota of a workload that waits for its victims is kept for it within the pass. No fair sharing, no
admission checks, no topology.
"""

from dataclasses import dataclass, field
from typing import Any

from bot.demo.kube import preemption
from bot.demo.kube.assignment import FIT, PREEMPT, Assignment, assign
from bot.demo.kube.cluster import Cluster
from bot.demo.kube.cohorts import Node, Tree, Usage, build
from bot.demo.kube.evictions import preempt, reserve, usage_of, wait
from bot.demo.kube.workloads import (
    admitted_to,
    condition,
    in_queue_order,
    is_pending,
    is_reserving,
    is_true,
    priority,
    queue_of,
    spec_of,
)

Obj = dict[str, Any]


@dataclass
class Pass:
    """The picture one pass works on."""

    cluster: Cluster
    tree: Tree
    holding: list[preemption.Candidate]
    flavors: dict[str, Obj]
    queues: dict[str, Obj]
    chosen: set[str] = field(default_factory=set)


def tree_of(cluster: Cluster) -> Tree:
    """The quota tree with what reserving workloads hold."""
    usage: dict[str, Usage] = {}
    for workload in cluster.store.all("workloads"):
        if is_reserving(workload):
            held = usage.setdefault(admitted_to(workload), {})
            for at, units in usage_of(workload).items():
                held[at] = held.get(at, 0) + units
    return build(cluster.store.all("clusterqueues"), cluster.store.all("cohorts"), usage)


def schedule(cluster: Cluster) -> None:
    """Admit, preempt or explain, for every pending workload once."""
    now = _pass(cluster)
    waiting: dict[str, list[Obj]] = {}
    for workload in in_queue_order(cluster, filter(is_pending, cluster.store.all("workloads"))):
        queue = _queue(now, workload)
        if queue:
            waiting.setdefault(queue, []).append(workload)
    while heads := {queue: line[0] for queue, line in waiting.items() if line}:
        queue, assignment = _next(now, heads)
        workload = waiting[queue].pop(0)
        admitted = _decide(now, queue, workload, assignment)
        strict = spec_of(now.queues[queue]).get("queueingStrategy") == "StrictFIFO"
        if strict and not admitted:
            waiting[queue] = []


def _pass(cluster: Cluster) -> Pass:
    tree = tree_of(cluster)
    holding = []
    for workload in cluster.store.all("workloads"):
        queue, uid = admitted_to(workload), workload["metadata"]["uid"]
        if is_reserving(workload) and queue in tree.queues:
            since, born = cluster.reserved.get(uid, 0), cluster.store.born[uid]
            holding.append(preemption.Candidate(workload, tree.queues[queue], usage_of(workload), since, born))
    flavors = {flavor["metadata"]["name"]: flavor for flavor in cluster.store.all("resourceflavors")}
    queues = {queue["metadata"]["name"]: queue for queue in cluster.store.all("clusterqueues")}
    return Pass(cluster, tree, holding, flavors, queues)


def _queue(now: Pass, workload: Obj) -> str:
    """The active ClusterQueue it waits in; '' (and the reason on the workload) when there is none."""
    cluster, local = now.cluster, spec_of(workload).get("queueName", "")
    name = queue_of(cluster, workload)
    queue = now.queues.get(name)
    if not name:
        wait(cluster, workload, "Misconfigured", f"LocalQueue {local} doesn't exist")
    elif queue is None:
        wait(cluster, workload, "Misconfigured", f"ClusterQueue {name} doesn't exist")
    elif not is_true(queue, "Active") or name in now.tree.cyclic:
        wait(cluster, workload, "Suspended", f"ClusterQueue {name} is inactive")
    elif _local_stopped(cluster, workload):
        wait(cluster, workload, "Suspended", f"LocalQueue {local} is inactive")
    elif not _selected(cluster, queue, workload):
        wait(cluster, workload, "Misconfigured", "Workload namespace doesn't match ClusterQueue selector")
    elif not _held_back(workload):
        return name
    return ""


def _held_back(workload: Obj) -> bool:
    requeued = condition(workload, "Requeued")
    return requeued is not None and requeued["status"] == "False"


def _local_stopped(cluster: Cluster, workload: Obj) -> bool:
    local = cluster.get("localqueues", workload["metadata"]["namespace"], spec_of(workload).get("queueName", ""))
    return local is not None and spec_of(local).get("stopPolicy", "None") != "None"


def _selected(cluster: Cluster, queue: Obj, workload: Obj) -> bool:
    """Whether the queue takes work from the namespace; no selector takes none, an empty one all."""
    selector = spec_of(queue).get("namespaceSelector")
    if selector is None:
        return False
    namespace = cluster.get("namespaces", "", workload["metadata"]["namespace"])
    labels = (namespace or {}).get("metadata", {}).get("labels", {})
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    return all(_expression(labels, term) for term in selector.get("matchExpressions", []))


def _expression(labels: Obj, term: Obj) -> bool:
    value, values = labels.get(term["key"]), term.get("values", [])
    holds = {
        "In": value in values,
        "NotIn": value not in values,
        "Exists": value is not None,
        "DoesNotExist": value is None,
    }
    return holds[term["operator"]]


def _next(now: Pass, heads: dict[str, Obj]) -> tuple[str, Assignment]:
    """The head to decide first, with its assignment as things stand."""
    born = now.cluster.store.born
    ranked = []
    for queue, workload in heads.items():
        found = assign(now.tree.queues[queue], spec_of(now.queues[queue]), workload, now.flavors)
        rank = (found.borrows, -priority(workload), born[workload["metadata"]["uid"]])
        ranked.append((rank, queue, found))
    _, queue, found = min(ranked, key=lambda entry: entry[0])
    return queue, found


def _decide(now: Pass, queue: str, workload: Obj, found: Assignment) -> bool:
    """Whether it was admitted."""
    node = now.tree.queues[queue]
    if found.mode == FIT:
        node.take(found.usage)
        reserve(now.cluster, workload, queue, found)
        return True
    reason = "ExceedsMaxQuota" if found.never else "NoMatchingFlavor" if found.unmatched else "WaitingForQuota"
    if found.mode == PREEMPT and (count := _make_room(now, node, workload, found)):
        wait(
            now.cluster,
            workload,
            "WaitingForPreemptedWorkloads",
            f"{found.message}. Pending the preemption of {count} workload(s)",
        )
    else:
        wait(now.cluster, workload, reason, found.message)
    return False


def _make_room(now: Pass, node: Node, workload: Obj, found: Assignment) -> int:
    """Preempt for it, and keep what it will use out of reach of the rest of the pass. The number of victims."""
    uid = workload["metadata"]["uid"]
    spec, contested = spec_of(now.queues[node.name]), frozenset(found.contested)
    asking = preemption.Preemptor(workload, node, spec, found.usage, contested, now.cluster.store.born[uid])
    losers = preemption.victims(asking, now.holding)
    uids = {loser.candidate.workload["metadata"]["uid"] for loser in losers}
    if not losers or uids & now.chosen:
        return 0
    now.chosen |= uids
    for loser in losers:
        if not is_true(loser.candidate.workload, "Evicted"):
            preempt(now.cluster, asking, loser)
    node.take(found.usage)
    return len(losers)
