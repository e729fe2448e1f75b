"""Watched work made by hand: Workloads, pods and Events as a cluster's JSON, and changes of them in order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bot.adapters.kube.seen import read_event, read_pod, read_workload
from bot.core.incidents.facts import Change, Kind, Wanted

GPU = "nvidia.com/gpu"
WANTED = Wanted(frozenset({GPU, "nvidia.com/mig-1g.5gb", "nvidia.com/mig-3g.40gb"}), frozenset({"owner", "team"}))
RECLAIMED = (
    "Preempted to accommodate a workload (UID: 9d0a, JobUID: 0e5d) due to reclamation within the cohort; "
    "preemptor path: /gpu-pool/nlp; preemptee path: /gpu-pool/vision"
)


def stamp(at: datetime) -> str:
    """As Kubernetes writes it."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def condition(kind: str, at: datetime, reason: str = "", message: str = "", *, holds: bool = True) -> dict[str, str]:
    """One condition."""
    return {
        "type": kind,
        "status": "True" if holds else "False",
        "reason": reason,
        "message": message,
        "lastTransitionTime": stamp(at),
    }


@dataclass(slots=True)
class Work:
    """One Job of a team with its Workload, which changes as a story goes on. `version` rises by itself."""

    name: str = "resnet-sweep"
    namespace: str = "vision-train"
    cluster: str = "default"
    kind: str = "Job"
    devices: int = 8
    resource: str = GPU
    annotations: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    conditions: dict[str, dict[str, str]] = field(default_factory=dict)
    queue: str | None = None
    evictions: int = 0
    active: bool = True
    version: int = 0

    def set(self, *conditions: Mapping[str, str]) -> "Work":
        """These conditions are so now."""
        for one in conditions:
            self.conditions[one["type"]] = dict(one)
        return self

    def admitted(self, at: datetime, queue: str = "vision") -> "Work":
        """It has its quota, and an earlier eviction is over."""
        self.queue = queue
        for kind in ("Evicted", "Preempted"):
            old = self.conditions.get(kind)
            if old and old["status"] == "True":
                self.set(condition(kind, at, "QuotaReserved", f"Previously: {old['message']}", holds=False))
        return self.set(
            condition("QuotaReserved", at, "QuotaReserved"),
            condition("Admitted", at, "Admitted"),
            condition("PodsReady", at, "WaitForStart", holds=False),
        )

    def running(self, at: datetime) -> "Work":
        """All its pods are ready."""
        return self.set(condition("PodsReady", at, "Started"))

    def evicted(
        self, at: datetime, reason: str = "Preempted", why: str = "InCohortReclamation", message: str = RECLAIMED
    ) -> "Work":
        """Kueue takes its quota: for now it still has it."""
        self.evictions += 1
        self.set(condition("Evicted", at, reason, message))
        return self.set(condition("Preempted", at, why, message)) if reason == "Preempted" else self

    def requeued(self, at: datetime) -> "Work":
        """It waits again."""
        self.queue = None
        said = self.conditions["Evicted"]["message"]
        return self.set(
            condition("QuotaReserved", at, "Pending", said, holds=False),
            condition("Admitted", at, "NoReservation", holds=False),
            condition("Requeued", at, "Preempted"),
            condition("PodsReady", at, "WaitForStart", holds=False),
        )

    def pending(self, at: datetime, message: str, reason: str = "Pending") -> "Work":
        """It waits for quota."""
        return self.set(condition("QuotaReserved", at, reason, message, holds=False))

    def raw(self) -> dict[str, Any]:
        """The Workload."""
        self.version += 1
        asked = {self.resource: str(self.devices)}
        admission: dict[str, Any] = {
            "clusterQueue": self.queue,
            "podSetAssignments": [{"name": "main", "flavors": {self.resource: "a100"}, "resourceUsage": asked}],
        }
        status: dict[str, Any] = {"conditions": list(self.conditions.values())}
        if self.queue:
            status["admission"] = admission
        if self.evictions:
            status["schedulingStats"] = {"evictions": [{"reason": "Preempted", "count": self.evictions}]}
        owner = {"kind": self.kind, "name": self.name, "uid": f"job-{self.name}", "controller": True}
        template = {"spec": {"containers": [{"resources": {"limits": asked}}]}}
        return {
            "metadata": {
                "namespace": self.namespace,
                "name": f"job-{self.name}"[:60],
                "uid": f"wl-{self.cluster}-{self.namespace}-{self.name}",
                "resourceVersion": str(self.version),
                "creationTimestamp": "2026-12-01T00:00:00Z",
                "annotations": dict(self.annotations),
                "labels": dict(self.labels),
                "ownerReferences": [owner],
            },
            "spec": {
                "active": self.active,
                "queueName": "main",
                "priority": 100,
                "podSets": [{"name": "main", "count": 1, "template": template}],
            },
            "status": status,
        }

    def change(self, **more: Any) -> Change:
        """As it is now."""
        seen = read_workload(self.cluster, self.raw(), WANTED)
        assert seen is not None
        return Change(self.cluster, Kind.WORKLOAD, seen.uid, seen, **more)

    def gone(self) -> Change:
        """It was deleted."""
        uid = f"wl-{self.cluster}-{self.namespace}-{self.name}"
        return Change(self.cluster, Kind.WORKLOAD, uid, None, gone=True)


def pod(name: str, version: int = 1, **more: Any) -> Change:
    """A pod. `owner` is (kind, name); `node`, `phase`, `conditions`, `workload`, `gone` as they are."""
    owner: tuple[str, str] | None = more.get("owner")
    references = (
        [{"kind": owner[0], "name": owner[1], "uid": f"{owner[0]}-{owner[1]}", "controller": True}] if owner else []
    )
    annotations = dict(more.get("annotations", {}))
    if more.get("workload"):
        annotations["kueue.x-k8s.io/workload"] = more["workload"]
    raw = {
        "metadata": {
            "namespace": more.get("namespace", "vision-train"),
            "name": name,
            "uid": f"pod-{name}",
            "resourceVersion": str(version),
            "labels": dict(more.get("labels", {})),
            "annotations": annotations,
            "ownerReferences": references,
        },
        "spec": {
            "nodeName": more.get("node"),
            "containers": [{"resources": {"limits": {more.get("resource", GPU): str(more.get("devices", 1))}}}],
        },
        "status": {"phase": more.get("phase", "Pending"), "conditions": list(more.get("conditions", ()))},
    }
    seen = read_pod(more.get("cluster", "default"), raw, WANTED)
    assert seen is not None
    flags = {key: more[key] for key in ("gone", "seeding", "late") if key in more}
    return Change(seen.cluster, Kind.POD, seen.uid, seen, **flags)


def unschedulable(
    at: datetime, message: str = "0/12 nodes are available: 12 Insufficient nvidia.com/gpu."
) -> list[dict[str, str]]:
    """The conditions of a pod that finds no node."""
    return [condition("PodScheduled", at, "Unschedulable", message, holds=False)]


def refused(uid: str, at: datetime, job: str = "rq", namespace: str = "vision-train", **more: Any) -> Change:
    """An Event: a Job could not make a pod because of a ResourceQuota."""
    words = (
        'Error creating: pods "rq-x" is forbidden: exceeded quota: gpu, requested: requests.nvidia.com/gpu=4, '
        "used: requests.nvidia.com/gpu=6, limited: requests.nvidia.com/gpu=8"
    )
    raw = {
        "metadata": {"namespace": namespace, "name": f"{job}.{uid}", "uid": uid, "resourceVersion": "1"},
        "reason": "FailedCreate",
        "involvedObject": {"kind": "Job", "name": job, "uid": f"job-{job}"},
        "message": words,
        "lastTimestamp": stamp(at),
    }
    seen = read_event("default", raw, WANTED)
    assert seen is not None
    return Change("default", Kind.EVENT, seen.uid, seen, **more)
