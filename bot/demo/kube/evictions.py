"""How a workload gains and loses its quota: the sequence of status writes of one admission and one eviction.

t0 `evict` marks it while it still holds quota; t1 its Job is suspended (jobs.py); t2 `release` takes the quota away;
t3 `reserve` gives quota again and turns the marks to "Previously: ...". Called by scheduler.py and controller.py.
"""

from datetime import datetime
from typing import Any

from bot.demo.kube.assignment import Assignment
from bot.demo.kube.cluster import Cluster
from bot.demo.kube.cohorts import Usage
from bot.demo.kube.events import ADMISSION, WORKLOADS, emit
from bot.demo.kube.preemption import WORDS, Preemptor, Victim
from bot.demo.kube.quantity import printed
from bot.demo.kube.workloads import NO_RESERVATION, condition, is_true, marked, priority, requests, spec_of

Obj = dict[str, Any]
_COMES_BACK = ("Preempted", "NodeFailures")


def usage_of(workload: Obj) -> Usage:
    """The quota a workload holds, from its admission."""
    found: Usage = {}
    admission = workload.get("status", {}).get("admission") or {}
    wanted = dict(requests(workload))
    for pods in admission.get("podSetAssignments", []):
        for resource, flavor in pods["flavors"].items():
            at = (flavor, resource)
            found[at] = found.get(at, 0) + wanted[pods["name"]].get(resource, 0)
    return found


def reserve(cluster: Cluster, workload: Obj, queue: str, assignment: Assignment) -> None:
    """Quota reserved and, there being no admission checks, admitted at once."""
    status = {k: v for k, v in workload.get("status", {}).items() if k != "resourceRequests"}
    status["admission"] = {"clusterQueue": queue, "podSetAssignments": _assignments(workload, assignment)}
    workload = {**workload, "status": status}
    reserved = f"Quota reserved in ClusterQueue {queue}"
    workload = marked(cluster, workload, "QuotaReserved", True, "QuotaReserved", reserved)
    for kind in ("Evicted", "Preempted"):
        old = condition(workload, kind)
        if old is not None and old["status"] == "True":
            workload = marked(cluster, workload, kind, False, "QuotaReserved", f"Previously: {old['message']}")
    workload = marked(cluster, workload, "Admitted", True, "Admitted", "The workload is admitted")
    workload = cluster.put_status(workload, "workloads", workload["status"], ADMISSION)
    cluster.reserved[workload["metadata"]["uid"]] = cluster.store.version
    emit(
        cluster,
        workload,
        "Normal",
        "QuotaReserved",
        f"{reserved}, wait time since queued was {_waited(cluster, workload)}s",
    )
    note = f"Admitted by ClusterQueue {queue}, wait time since reservation was 0s"
    emit(cluster, workload, "Normal", "Admitted", note)


def _assignments(workload: Obj, assignment: Assignment) -> list[Obj]:
    counts = {pods["name"]: pods.get("count", 1) for pods in spec_of(workload).get("podSets", [])}
    return [
        {
            "name": name,
            "count": counts[name],
            "flavors": assignment.flavors[name],
            "resourceUsage": {resource: printed(resource, units) for resource, units in wanted.items()},
        }
        for name, wanted in requests(workload)
    ]


def _waited(cluster: Cluster, workload: Obj) -> int:
    return _seconds(workload["metadata"]["creationTimestamp"], cluster.now())


def _seconds(start: str, end: str) -> int:
    return int((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())


def wait(cluster: Cluster, workload: Obj, reason: str, message: str) -> None:
    """It gets no quota now: why, in Kueue's words. `reason` is the granular one."""
    old = condition(workload, "QuotaReserved")
    told = reason if cluster.granular else _plain(reason)
    if old is not None and old["status"] == "False" and (old["reason"], old["message"]) == (told, message):
        return
    new = marked(cluster, workload, "QuotaReserved", False, told, message)
    if cluster.granular:
        new = marked(cluster, new, "Admitted", False, "NoReservation", NO_RESERVATION)
    wanted = [
        {"name": name, "resources": {resource: printed(resource, units) for resource, units in share.items()}}
        for name, share in requests(workload)
    ]
    new = cluster.put_status(new, "workloads", {**new["status"], "resourceRequests": wanted}, ADMISSION)
    emit(cluster, new, "Warning", told, message)


def _plain(reason: str) -> str:
    return "Inadmissible" if reason in ("Misconfigured", "Suspended") else "Pending"


def preempt(cluster: Cluster, preemptor: Preemptor, victim: Victim) -> None:
    """t0 of a preemption: both conditions in one write, two events on the victim, one on the preemptor."""
    chosen, node = preemptor.workload, victim.candidate.node
    job = chosen["metadata"].get("labels", {}).get("kueue.x-k8s.io/job-uid", "UNKNOWN")
    message = (
        f"Preempted to accommodate a workload (UID: {chosen['metadata']['uid']}, JobUID: {job}) "
        f"due to {WORDS[victim.reason]}; preemptor path: {preemptor.node.path}; preemptee path: {node.path}"
    )
    loser = victim.candidate.workload
    high, low = priority(chosen), priority(loser)
    ranks = (
        f"; preemptor effective priority: {high} (base: {high}, boost: 0)"
        f"; preemptee effective priority: {low} (base: {low}, boost: 0)"
    )
    evict(cluster, loser, "Preempted", message, preempted=victim.reason, controller=ADMISSION)
    emit(cluster, loser, "Normal", "Preempted", message + ranks)
    meta = loser["metadata"]
    named = f"Preempted workload {meta['namespace']}/{meta['name']} (UID: {meta['uid']}) in ClusterQueue {node.name}"
    emit(cluster, chosen, "Normal", "PreemptedWorkload", named + ranks)


def evict(
    cluster: Cluster, workload: Obj, reason: str, message: str, *, preempted: str = "", controller: str = WORKLOADS
) -> None:
    """t0: marked as evicted; quota and admission are still there."""
    workload = marked(cluster, workload, "Evicted", True, reason, message)
    if preempted:
        workload = marked(cluster, workload, "Preempted", True, preempted, message)
    stats = _counted(workload["status"].get("schedulingStats", {}), reason)
    workload = cluster.put_status(workload, "workloads", {**workload["status"], "schedulingStats": stats}, controller)
    emit(cluster, workload, "Normal", f"EvictedDueTo{reason}", message, controller)


def _counted(stats: Obj, reason: str) -> Obj:
    evictions = [dict(entry) for entry in stats.get("evictions", [])]
    for entry in evictions:
        if entry["reason"] == reason:
            entry["count"] += 1
            return {**stats, "evictions": evictions}
    return {**stats, "evictions": [*evictions, {"reason": reason, "underlyingCause": "", "count": 1}]}


def release(cluster: Cluster, workload: Obj) -> None:
    """t2: the quota of an evicted workload is free again."""
    evicted, admitted = condition(workload, "Evicted"), condition(workload, "Admitted")
    if evicted is None or not is_true(workload, "QuotaReserved"):
        return
    status = {k: v for k, v in workload["status"].items() if k != "admission"}
    if admitted is not None and admitted["status"] == "True":
        past = status.get("accumulatedPastExecutionTimeSeconds", 0)
        status["accumulatedPastExecutionTimeSeconds"] = past + _seconds(admitted["lastTransitionTime"], cluster.now())
    workload = {**workload, "status": status}
    reason, message = evicted["reason"], evicted["message"]
    told = "PendingEvaluation" if cluster.granular else "Pending"
    workload = marked(cluster, workload, "QuotaReserved", False, told, message)
    workload = marked(cluster, workload, "Admitted", False, "NoReservation", NO_RESERVATION)
    workload = marked(cluster, workload, "Requeued", reason in _COMES_BACK, reason, message)
    cluster.put_status(workload, "workloads", workload["status"], ADMISSION)


def requeue(cluster: Cluster, workload: Obj, reason: str, message: str) -> None:
    """What kept it from queueing is over."""
    workload = marked(cluster, workload, "Requeued", True, reason, message)
    cluster.put_status(workload, "workloads", workload["status"])


def finish(cluster: Cluster, workload: Obj, reason: str, message: str) -> None:
    """Finished for good; its quota is free."""
    workload = marked(cluster, workload, "Finished", True, reason, message)
    cluster.put_status(workload, "workloads", workload["status"])
