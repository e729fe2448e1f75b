"""Kueue's JSON into core values. Both API versions; called by adapters/kube/cluster for each object it reads."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from bot.adapters.kube.ownership import annotations_of_ours, managing_tool, quota_automation, spec_manager
from bot.adapters.kube.quantities import devices
from bot.core.evictions import MARK
from bot.core.kueue import CheckRef, CohortSnapshot, FlavorResource, Preemption, QueueSnapshot, Quota, WorkloadSnapshot
from bot.core.overcommit import NodeSnapshot

Json = Mapping[str, Any]

_OUT_OF_SERVICE = frozenset(
    {
        *(f"node.kubernetes.io/{why}" for why in ("not-ready", "unreachable", "unschedulable", "out-of-service")),
        "node.cloudprovider.kubernetes.io/shutdown",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "ToBeDeletedByClusterAutoscaler",
        "karpenter.sh/disrupted",
    }
)
"""Taints that say that a node takes no new pods at all. Others say which pods it takes."""


def queue_snapshot(cluster: str, raw: Json) -> QueueSnapshot:
    """A ClusterQueue of v1beta1 or v1beta2."""
    metadata, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
    active = condition(status, "Active")
    preemption = spec.get("preemption") or {}
    return QueueSnapshot(
        cluster=cluster,
        name=metadata["name"],
        uid=metadata["uid"],
        resource_version=metadata["resourceVersion"],
        generation=int(metadata.get("generation", 1)),
        quotas=_quotas(spec),
        cohort=spec.get("cohortName") or spec.get("cohort") or None,
        observed_generation=active.get("observedGeneration"),
        active=active.get("status") == "True",
        deleting="deletionTimestamp" in metadata,
        stop_policy=spec.get("stopPolicy") or "None",
        reserved=_totals(status.get("flavorsReservation")),
        used=_totals(status.get("flavorsUsage")),
        pending_workloads=int(status.get("pendingWorkloads") or 0),
        preemption=Preemption(
            within_cluster_queue=preemption.get("withinClusterQueue") or "Never",
            reclaim_within_cohort=preemption.get("reclaimWithinCohort") or "Never",
            borrow_within_cohort=(preemption.get("borrowWithinCohort") or {}).get("policy") or "Never",
        ),
        fair_weight=_text((spec.get("fairSharing") or {}).get("weight")),
        annotations=annotations_of_ours(metadata),
        annotated=bool(metadata.get("annotations")),
        managed_by=managing_tool(metadata),
        spec_manager=spec_manager(metadata),
        quota_automation=quota_automation(status),
        checks=_checks(spec),
    )


def cohort_snapshot(raw: Json) -> CohortSnapshot:
    """A Cohort of v1beta1 or v1beta2."""
    spec = raw.get("spec") or {}
    return CohortSnapshot(raw["metadata"]["name"], spec.get("parentName") or spec.get("parent") or None, _quotas(spec))


def workload_snapshot(raw: Json, queue_of: Mapping[tuple[str, str], str]) -> WorkloadSnapshot | None:
    """A Workload that is not finished, None for a finished one.

    `queue_of` maps (namespace, LocalQueue) to the ClusterQueue; it is asked for a Workload that holds no quota yet.
    """
    metadata, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
    if condition(status, "Finished").get("status") == "True":
        return None
    admission = status.get("admission") or {}
    reserved = condition(status, "QuotaReserved")
    owners = [owner for owner in metadata.get("ownerReferences") or () if owner.get("controller")]
    namespace = metadata["namespace"]
    return WorkloadSnapshot(
        namespace=namespace,
        name=metadata["name"],
        uid=metadata["uid"],
        queue=admission.get("clusterQueue") or queue_of.get((namespace, spec.get("queueName") or "")),
        priority=int(spec.get("priority") or 0),
        created_at=instant(metadata["creationTimestamp"]),
        reserved_at=instant(reserved["lastTransitionTime"]) if admission and "lastTransitionTime" in reserved else None,
        usage=_usage(admission),
        requests=_requests(spec),
        owner=owners[0]["name"] if owners else None,
        active=spec.get("active") is not False,
        resource_version=metadata.get("resourceVersion", ""),
        generation=int(metadata.get("generation", 1)),
        mark=annotations_of_ours(metadata).get(MARK),
        annotated=bool(metadata.get("annotations")),
    )


MULTIKUEUE = "kueue.x-k8s.io/multikueue"
"""The controller of the admission checks that send work to worker clusters."""


def is_multikueue(raw: Json) -> bool:
    """Whether an AdmissionCheck sends work to worker clusters."""
    return (raw.get("spec") or {}).get("controllerName") == MULTIKUEUE


def _checks(spec: Json) -> tuple[CheckRef, ...]:
    named = [{"name": name} for name in spec.get("admissionChecks") or ()]
    named += (spec.get("admissionChecksStrategy") or {}).get("admissionChecks") or ()
    return tuple(CheckRef(one["name"], tuple(one.get("onFlavors") or ())) for one in named)


def node_snapshot(raw: Json, resource: str) -> NodeSnapshot:
    """A Node with what it has of one resource."""
    metadata, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
    amount, _ = devices((status.get("allocatable") or {}).get(resource, 0))
    shut = bool(spec.get("unschedulable")) or any(one.get("key") in _OUT_OF_SERVICE for one in spec.get("taints") or ())
    ready = condition(status, "Ready").get("status", "True") == "True"
    return NodeSnapshot(metadata["name"], metadata.get("labels") or {}, amount, ready and not shut)


def node_labels(raw: Json) -> Mapping[str, str]:
    """The nodes that a ResourceFlavor means; empty if it means all."""
    return (raw.get("spec") or {}).get("nodeLabels") or {}


def _quotas(spec: Json) -> dict[FlavorResource, Quota]:
    found = {}
    for i, group in enumerate(spec.get("resourceGroups") or ()):
        for j, flavor in enumerate(group.get("flavors") or ()):
            for k, entry in enumerate(flavor.get("resources") or ()):
                found[FlavorResource(flavor["name"], entry["name"])] = _quota(entry, (i, j, k))
    return found


def _quota(entry: Json, path: tuple[int, int, int]) -> Quota:
    nominal, whole = devices(entry.get("nominalQuota", 0))
    limits: list[int | None] = []
    for name in ("borrowingLimit", "lendingLimit"):
        if entry.get(name) is None:
            limits.append(None)
            continue
        number, exact = devices(entry[name])
        limits.append(number)
        whole = whole and exact
    return Quota(nominal, limits[0], limits[1], whole, path)


def _totals(flavors: Iterable[Json] | None) -> dict[FlavorResource, int]:
    return {
        FlavorResource(flavor["name"], entry["name"]): devices(entry.get("total", 0))[0]
        for flavor in flavors or ()
        for entry in flavor.get("resources") or ()
    }


def _usage(admission: Json) -> dict[FlavorResource, int]:
    usage: dict[FlavorResource, int] = {}
    for pods in admission.get("podSetAssignments") or ():
        flavors = pods.get("flavors") or {}
        for resource, quantity in (pods.get("resourceUsage") or {}).items():
            if resource in flavors:
                key = FlavorResource(flavors[resource], resource)
                usage[key] = usage.get(key, 0) + devices(quantity)[0]
    return usage


def _requests(spec: Json) -> dict[str, int]:
    total: dict[str, int] = {}
    for pods in spec.get("podSets") or ():
        for resource, amount in pod_requests((pods.get("template") or {}).get("spec") or {}).items():
            total[resource] = total.get(resource, 0) + amount * int(pods.get("count", 1))
    return total


def pod_requests(spec: Json) -> dict[str, int]:
    """By Kubernetes' rule a pod needs the larger of its containers' sum and its largest init container."""
    together = _sum(spec.get("containers") or ())
    for init in spec.get("initContainers") or ():
        for resource, amount in _sum([init]).items():
            together[resource] = max(together.get(resource, 0), amount)
    return together


def _sum(containers: Iterable[Json]) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in containers:
        resources = container.get("resources") or {}
        for resource, quantity in {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.items():
            total[resource] = total.get(resource, 0) + devices(quantity)[0]
    return total


def condition(status: Json, kind: str) -> Json:
    """A condition, empty if it is not there."""
    return next((c for c in status.get("conditions") or () if c.get("type") == kind), {})


def instant(text: str) -> datetime:
    """A time as Kubernetes writes it."""
    return datetime.fromisoformat(text)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
