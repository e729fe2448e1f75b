"""Kueue's controllers: one pass over everything, writing only what changed. `sim.reconcile` runs passes until
nothing changes.

The order within a pass is what makes an eviction visible in stages: marks of the last pass are acted upon first.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from bot.demo.kube import jobs, resource_quotas
from bot.demo.kube.cluster import Cluster
from bot.demo.kube.cohorts import Node, Tree
from bot.demo.kube.evictions import evict, release, requeue, usage_of, wait
from bot.demo.kube.gate import FINALIZER
from bot.demo.kube.quantity import printed
from bot.demo.kube.scheduler import schedule, tree_of
from bot.demo.kube.workloads import (
    admitted_to,
    condition,
    is_active,
    is_finished,
    is_pending,
    is_reserving,
    is_true,
    marked,
    queue_of,
    spec_of,
)

Obj = dict[str, Any]
_DEACTIVATED = "The workload is deactivated"


def run(cluster: Cluster) -> bool:
    """One pass. Whether anything was written. Without Kueue only ResourceQuotas are looked after."""
    before = cluster.store.version
    resource_quotas.follow(cluster)
    if not cluster.kueue_up or not cluster.versions:
        return cluster.store.version != before
    jobs.create_workloads(cluster)
    jobs.finish_workloads(cluster)
    jobs.stop_evicted(cluster)
    for workload in cluster.store.all("workloads"):
        if is_true(workload, "Evicted"):
            release(cluster, workload)
    _collect_deleted(cluster)
    _queue_conditions(cluster)
    for workload in cluster.store.all("workloads"):
        _stop_or_resume(cluster, workload)
    schedule(cluster)
    jobs.start_admitted(cluster)
    picture = _picture(cluster)
    for queue in cluster.store.all("clusterqueues"):
        cluster.put_status(queue, "clusterqueues", {**queue.get("status", {}), **_counts(picture, queue)})
    for local in cluster.store.all("localqueues"):
        _local_status(cluster, local)
    return cluster.store.version != before


def _stop_or_resume(cluster: Cluster, workload: Obj) -> None:
    """Evict what was deactivated or whose queue drains; requeue what may come back."""
    if is_finished(workload):
        return
    if is_true(workload, "QuotaReserved"):
        if is_true(workload, "Evicted"):
            return
        drained = _drained(cluster, workload)
        if not is_active(workload):
            evict(cluster, workload, "Deactivated", _DEACTIVATED)
        elif drained:
            evict(cluster, workload, f"{drained}Stopped", f"The {drained} is stopped")
        return
    if cluster.granular and not is_active(workload):
        wait(cluster, workload, "Deactivated", _DEACTIVATED)
        return
    requeued = condition(workload, "Requeued")
    if requeued is None or requeued["status"] == "True":
        return
    if requeued["reason"] == "Deactivated" and is_active(workload):
        requeue(cluster, workload, "Reactivated", "The workload was reactivated")
    stopped = requeued["reason"].removesuffix("Stopped")
    if stopped != requeued["reason"] and not _stopped(cluster, workload, stopped):
        requeue(cluster, workload, f"{stopped}Restarted", f"The {stopped} was restarted after being stopped")


def _policies(cluster: Cluster, workload: Obj) -> dict[str, str]:
    queue = cluster.get("clusterqueues", "", admitted_to(workload) or queue_of(cluster, workload))
    local = cluster.get("localqueues", workload["metadata"]["namespace"], spec_of(workload).get("queueName", ""))
    found = {"ClusterQueue": queue, "LocalQueue": local}
    return {kind: spec_of(obj).get("stopPolicy", "None") if obj else "None" for kind, obj in found.items()}


def _drained(cluster: Cluster, workload: Obj) -> str:
    """'ClusterQueue' or 'LocalQueue' when that one is drained, else ''."""
    return next((kind for kind, policy in _policies(cluster, workload).items() if policy == "HoldAndDrain"), "")


def _stopped(cluster: Cluster, workload: Obj, kind: str) -> bool:
    return _policies(cluster, workload).get(kind, "None") != "None"


def _queue_conditions(cluster: Cluster) -> None:
    """Active, before the pass decides by it; the first status of a new queue comes complete."""
    picture = _picture(cluster)
    for queue in cluster.store.all("clusterqueues"):
        reason, message = _activity(cluster, queue)
        marks = marked(cluster, queue, "Active", reason == "Ready", reason, message)
        if condition(queue, "Active") != condition(marks, "Active"):
            cluster.put_status(queue, "clusterqueues", {**marks["status"], **_counts(picture, queue)})


def _activity(cluster: Cluster, queue: Obj) -> tuple[str, str]:
    if "deletionTimestamp" in queue["metadata"]:
        return "Terminating", "Can't admit new workloads; clusterQueue is terminating"
    problems: list[tuple[str, str]] = []
    spec = spec_of(queue)
    if spec.get("stopPolicy", "None") != "None":
        problems.append(("Stopped", "is stopped"))
    names = [flavor["name"] for group in spec.get("resourceGroups", []) for flavor in group["flavors"]]
    missing = [name for name in names if cluster.get("resourceflavors", "", name) is None]
    if missing:
        problems.append(("FlavorNotFound", f"references missing ResourceFlavor(s): {','.join(missing)}"))
    if not problems:
        return "Ready", "Can admit new workloads"
    return problems[0][0], f"Can't admit new workloads: {', '.join(text for _, text in problems)}."


@dataclass(frozen=True, slots=True)
class _Picture:
    """Who holds and who waits, by ClusterQueue."""

    tree: Tree
    holding: dict[str, list[Obj]]
    pending: Counter[str]


def _picture(cluster: Cluster) -> _Picture:
    holding: dict[str, list[Obj]] = {}
    pending: Counter[str] = Counter()
    for workload in cluster.store.all("workloads"):
        if is_reserving(workload):
            holding.setdefault(admitted_to(workload), []).append(workload)
        elif is_pending(workload):
            pending[queue_of(cluster, workload)] += 1
    return _Picture(tree_of(cluster), holding, pending)


def _counts(picture: _Picture, queue: Obj) -> Obj:
    name = queue["metadata"]["name"]
    node, holding = picture.tree.queues[name], picture.holding.get(name, [])
    admitted = [workload for workload in holding if is_true(workload, "Admitted")]
    running = Node(name, node.quotas, node.parent)
    for workload in admitted:
        running.take(usage_of(workload))
    return {
        "admittedWorkloads": len(admitted),
        "flavorsReservation": _totals(queue, node),
        "flavorsUsage": _totals(queue, running),
        "pendingWorkloads": picture.pending[name],
        "reservingWorkloads": len(holding),
    }


def _totals(queue: Obj, node: Node) -> list[Obj]:
    """Every flavor and resource of the queue, zeros too."""
    entries = []
    for group in spec_of(queue).get("resourceGroups", []):
        for flavor in group["flavors"]:
            resources = []
            for quota in flavor["resources"]:
                at, resource = (flavor["name"], quota["name"]), quota["name"]
                total, borrowed = node.usage.get(at, 0), node.borrowed(at)
                entry = {"borrowed": printed(resource, borrowed), "name": resource, "total": printed(resource, total)}
                resources.append(entry)
            entries.append({"name": flavor["name"], "resources": resources})
    return entries


def _local_status(cluster: Cluster, local: Obj) -> None:
    meta, name = local["metadata"], spec_of(local).get("clusterQueue", "")
    queue = cluster.get("clusterqueues", "", name)
    mine = [
        workload
        for workload in cluster.store.all("workloads", meta["namespace"])
        if spec_of(workload).get("queueName") == meta["name"]
    ]
    holding = [w for w in mine if is_reserving(w) and admitted_to(w) == name]
    admitted = [w for w in holding if is_true(w, "Admitted")]
    status = {
        "admittedWorkloads": len(admitted),
        "flavorsReservation": _local_totals(queue, holding),
        "flavorsUsage": _local_totals(queue, admitted),
        "pendingWorkloads": sum(1 for workload in mine if is_pending(workload)),
        "reservingWorkloads": len(holding),
    }
    reason, message = "Ready", "Can submit new workloads to localQueue"
    if queue is None:
        reason, message = "ClusterQueueDoesNotExist", "Can't submit new workloads to clusterQueue"
    elif not is_true(queue, "Active"):
        reason, message = "ClusterQueueIsInactive", "Can't submit new workloads to clusterQueue"
    marks = marked(cluster, local, "Active", reason == "Ready", reason, message)
    cluster.put_status(local, "localqueues", {**marks["status"], **status})


def _local_totals(queue: Obj | None, holding: list[Obj]) -> list[Obj]:
    node = Node("")
    for workload in holding:
        node.take(usage_of(workload))
    entries = _totals(queue, node) if queue else []
    for entry in entries:
        entry["resources"] = [{k: v for k, v in r.items() if k != "borrowed"} for r in entry["resources"]]
    return entries


def _collect_deleted(cluster: Cluster) -> None:
    """Take Kueue's finalizer from what is marked for deletion and no longer used."""
    workloads = cluster.store.all("workloads")
    used = {admitted_to(workload) for workload in workloads if is_reserving(workload)}
    for queue in cluster.store.all("clusterqueues"):
        if queue["metadata"]["name"] not in used:
            _free(cluster, queue, "clusterqueues")
    named = {
        flavor["name"]
        for queue in cluster.store.all("clusterqueues")
        for group in spec_of(queue).get("resourceGroups", [])
        for flavor in group["flavors"]
    }
    for flavor in cluster.store.all("resourceflavors"):
        if flavor["metadata"]["name"] not in named:
            _free(cluster, flavor, "resourceflavors")
    for workload in workloads:
        _free(cluster, workload, "workloads")


def _free(cluster: Cluster, obj: Obj, plural: str) -> None:
    meta = obj["metadata"]
    if "deletionTimestamp" not in meta or FINALIZER not in meta.get("finalizers", []):
        return
    left = [name for name in meta["finalizers"] if name != FINALIZER]
    obj = cluster.put({**obj, "metadata": {**meta, "finalizers": left}}, plural, "kueue")
    if not left:
        cluster.remove(obj, plural, "kueue")
