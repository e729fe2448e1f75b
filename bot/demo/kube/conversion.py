"""Kueue's conversion between v1beta1 and v1beta2, field by field. Objects are stored as v1beta2; called on every read
and write through v1beta1. Neither direction changes what it is given.
"""

from typing import Any

from bot.demo.kube.kinds import KUEUE, NEW, OLD

Obj = dict[str, Any]

_CLASS_SOURCES = {
    "kueue.x-k8s.io/workloadpriorityclass": {"group": KUEUE, "kind": "WorkloadPriorityClass"},
    "scheduling.k8s.io/priorityclass": {"group": "scheduling.k8s.io", "kind": "PriorityClass"},
}
_STOP_SEARCH = ("Borrow", "Preempt")


def to_new(obj: Obj) -> Obj:
    """A v1beta1 object as v1beta2."""
    return _converted(obj, NEW)


def to_old(obj: Obj) -> Obj:
    """A v1beta2 object as v1beta1. `concurrentAdmissionPolicy` has no place there and is lost."""
    return _converted(obj, OLD)


def _converted(obj: Obj, version: str) -> Obj:
    out = {**obj, "apiVersion": f"{KUEUE}/{version}"}
    change = _CHANGES.get((str(obj.get("kind")), version))
    if change is not None:
        if isinstance(obj.get("spec"), dict):
            out["spec"] = dict(obj["spec"])
        if isinstance(obj.get("status"), dict):
            out["status"] = dict(obj["status"])
        change(out.get("spec", {}), out.get("status", {}))
    return out


def _rename(fields: Obj, old: str, new: str) -> None:
    if old in fields:
        fields[new] = fields.pop(old)


def _queue_to_new(spec: Obj, status: Obj) -> None:
    _rename(spec, "cohort", "cohortName")
    checks = spec.pop("admissionChecks", None)
    if checks:
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": name} for name in checks]}
    fungible = spec.get("flavorFungibility")
    if isinstance(fungible, dict):
        spec["flavorFungibility"] = {k: "MayStopSearch" if v in _STOP_SEARCH else v for k, v in fungible.items()}
    status.pop("pendingWorkloadsStatus", None)


def _queue_to_old(spec: Obj, status: Obj) -> None:
    del status
    _rename(spec, "cohortName", "cohort")
    spec.pop("concurrentAdmissionPolicy", None)


def _local_to_new(spec: Obj, status: Obj) -> None:
    del spec
    _rename(status, "flavorUsage", "flavorsUsage")
    status.pop("flavors", None)


def _local_to_old(spec: Obj, status: Obj) -> None:
    del spec
    _rename(status, "flavorsUsage", "flavorUsage")


def _workload_to_new(spec: Obj, status: Obj) -> None:
    name, source = spec.pop("priorityClassName", None), spec.pop("priorityClassSource", None)
    if name:
        spec["priorityClassRef"] = {**_CLASS_SOURCES.get(str(source), {}), "name": name}
    _rename(status, "accumulatedPastExexcutionTimeSeconds", "accumulatedPastExecutionTimeSeconds")


def _workload_to_old(spec: Obj, status: Obj) -> None:
    ref = spec.pop("priorityClassRef", None)
    if isinstance(ref, dict):
        spec["priorityClassName"] = ref.get("name")
        kind = ref.get("kind")
        source = next((name for name, fields in _CLASS_SOURCES.items() if fields["kind"] == kind), None)
        if source is not None:
            spec["priorityClassSource"] = source
    spec.pop("preemptionGates", None)
    _rename(status, "accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds")


_CHANGES = {
    ("ClusterQueue", NEW): _queue_to_new,
    ("ClusterQueue", OLD): _queue_to_old,
    ("LocalQueue", NEW): _local_to_new,
    ("LocalQueue", OLD): _local_to_old,
    ("Workload", NEW): _workload_to_new,
    ("Workload", OLD): _workload_to_old,
}
