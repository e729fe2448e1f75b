"""Reading and marking Workloads: conditions, requests, order. The vocabulary of the controller, the scheduler and
the visibility API.
"""

from collections.abc import Iterable
from typing import Any

from bot.demo.kube.cluster import Cluster
from bot.demo.kube.quantity import amount

Obj = dict[str, Any]
Resources = dict[str, int]
NO_RESERVATION = "The workload has no reservation"


def spec_of(obj: Obj) -> Obj:
    """The spec; a custom resource may come without one."""
    spec: Obj = obj.get("spec") or {}
    return spec


def condition(obj: Obj, kind: str) -> Obj | None:
    conditions = obj.get("status", {}).get("conditions", [])
    return next((c for c in conditions if c["type"] == kind), None)


def is_true(obj: Obj, kind: str) -> bool:
    found = condition(obj, kind)
    return found is not None and found["status"] == "True"


def marked(cluster: Cluster, obj: Obj, kind: str, state: bool, reason: str, message: str) -> Obj:
    """The object's status with the condition set; the transition time moves only when the state flips."""
    old = condition(obj, kind)
    value = "True" if state else "False"
    flipped = old is None or old["status"] != value
    new: Obj = {
        "lastTransitionTime": cluster.now() if flipped or old is None else old["lastTransitionTime"],
        "message": message,
        "observedGeneration": obj["metadata"]["generation"],
        "reason": reason,
        "status": value,
        "type": kind,
    }
    if kind == "Preempted":
        del new["observedGeneration"]
    status = obj.get("status", {})
    conditions = list(status.get("conditions", []))
    if old is None:
        conditions.append(new)
    else:
        conditions[conditions.index(old)] = new
    return {**obj, "status": {**status, "conditions": conditions}}


def is_active(workload: Obj) -> bool:
    return bool(spec_of(workload).get("active", True))


def is_finished(workload: Obj) -> bool:
    return is_true(workload, "Finished")


def is_reserving(workload: Obj) -> bool:
    """Holds quota: until it is finished, or its eviction went through."""
    return is_true(workload, "QuotaReserved") and not is_finished(workload)


def is_pending(workload: Obj) -> bool:
    """Waits for quota: not finished, holds none, is active."""
    return is_active(workload) and not is_true(workload, "QuotaReserved") and not is_finished(workload)


def admitted_to(workload: Obj) -> str:
    """The ClusterQueue whose quota it holds, or ''."""
    return str((workload.get("status", {}).get("admission") or {}).get("clusterQueue", ""))


def queue_of(cluster: Cluster, workload: Obj) -> str:
    """The ClusterQueue it waits for, '' when its LocalQueue does not exist."""
    local = cluster.get("localqueues", workload["metadata"]["namespace"], spec_of(workload).get("queueName", ""))
    return str(spec_of(local).get("clusterQueue", "")) if local else ""


def priority(workload: Obj) -> int:
    return int(spec_of(workload).get("priority") or 0)


def requests(workload: Obj) -> list[tuple[str, Resources]]:
    """(pod set, what all its pods together ask for), in Kueue's units."""
    return [(pods["name"], _pod_set(pods)) for pods in spec_of(workload).get("podSets", [])]


def _pod_set(pods: Obj) -> Resources:
    total: Resources = {}
    for container in pods["template"].get("spec", {}).get("containers", []):
        resources = container.get("resources", {})
        for name, value in {**resources.get("limits", {}), **resources.get("requests", {})}.items():
            total[name] = total.get(name, 0) + amount(name, value) * pods.get("count", 1)
    return total


def in_queue_order(cluster: Cluster, workloads: Iterable[Obj]) -> list[Obj]:
    """Higher priority first, then older."""
    born = cluster.store.born
    return sorted(workloads, key=lambda w: (-priority(w), born[w["metadata"]["uid"]]))
