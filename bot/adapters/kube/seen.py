"""Workloads, pods and Events as watches give them, as what the bot reads of them. Called for every line of a watch.

Tolerant: whatever is missing or of another shape is left out, only metadata.uid must be there. Plain JSON, of v1beta1
and v1beta2.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.adapters.kube.objects import Json, pod_requests
from bot.adapters.kube.ownership import annotations_of_ours
from bot.adapters.kube.quantities import devices
from bot.core.incidents.facts import Condition, Owner, SeenFailedCreate, SeenPod, SeenWorkload, Wanted

_KUEUE = "kueue.x-k8s.io"
_WORKLOAD_NOTE = f"{_KUEUE}/workload"
_POD_GROUP = f"{_KUEUE}/pod-group-name"
_VARIANT = f"{_KUEUE}/concurrent-admission-parent"
_COPY = f"{_KUEUE}/multikueue-origin"
POD_GROUP = "Pod group"
"""Kueue's: pods that are admitted together, with nothing above them but a name."""
_SERIES = ("eventTime", "lastTimestamp", "firstTimestamp")
_ABOVE = {
    "jobset.sigs.k8s.io/jobset-name": "JobSet",
    "leaderworkerset.sigs.k8s.io/name": "LeaderWorkerSet",
    _POD_GROUP: POD_GROUP,
}
"""Labels of pods that name what stands above their direct owner. Names over 63 characters are in no label."""
_OF_RAY = ("ray.io/originated-from-crd", "ray.io/originated-from-cr-name")
_OF_DEPLOYMENT = "pod-template-hash"


def read_workload(cluster: str, raw: Json, wanted: Wanted) -> SeenWorkload | None:
    """None for one that asks for no accelerators, or that has no uid."""
    metadata, spec, status = _map(raw, "metadata"), _map(raw, "spec"), _map(raw, "status")
    sets = [one for one in _list(spec, "podSets") if isinstance(one, Mapping)]
    asked = _asked(sets, wanted)
    if not asked or not metadata.get("uid"):
        return None
    templates = [_map(_map(one, "template"), "metadata") for one in sets]
    labels = metadata.get("labels") or {}
    admission = _map(status, "admission")
    return SeenWorkload(
        cluster=cluster,
        **_common(raw, wanted, templates),
        owner=_above_workload(metadata),
        created_at=_when(metadata.get("creationTimestamp")),
        conditions=_conditions(status),
        local_queue=str(spec.get("queueName") or ""),
        queue=admission.get("clusterQueue") or None,
        priority=_number(spec.get("priority")),
        accelerators=asked,
        flavors=_flavors(admission, wanted),
        pods=sum(_number(one.get("count", 1)) for one in sets),
        active=spec.get("active") is not False,
        requeue_at=_when(_map(status, "requeueState").get("requeueAt")),
        evictions=sum(_number(one.get("count")) for one in _list(_map(status, "schedulingStats"), "evictions")),
        on_cluster=status.get("clusterName") or None,
        copy=_COPY in labels,
        variant=_VARIANT in labels,
    )


def read_pod(cluster: str, raw: Json, wanted: Wanted) -> SeenPod | None:
    """None for one that asks for no accelerators, or that has no uid."""
    metadata, spec, status = _map(raw, "metadata"), _map(raw, "spec"), _map(raw, "status")
    asked = _accelerators(spec, wanted)
    if not asked or not metadata.get("uid"):
        return None
    conditions = _conditions(status, frozenset({"PodScheduled", "DisruptionTarget", "Ready"}))
    ready = conditions.get("Ready")
    return SeenPod(
        cluster=cluster,
        **_common(raw, wanted, ()),
        owner=_above_pod(metadata),
        created_at=_when(metadata.get("creationTimestamp")),
        phase=str(status.get("phase") or ""),
        node=spec.get("nodeName") or None,
        accelerators=asked,
        scheduled=conditions.get("PodScheduled"),
        disrupted=conditions.get("DisruptionTarget"),
        workload=(metadata.get("annotations") or {}).get(_WORKLOAD_NOTE) or None,
        nominated=bool(status.get("nominatedNodeName")),
        ready=ready is not None and ready.true,
    )


def read_event(cluster: str, raw: Json, wanted: Wanted) -> SeenFailedCreate | None:
    """Of the older or the newer API of Events; None for every Event but FailedCreate."""
    metadata = _map(raw, "metadata")
    about = _map(raw, "involvedObject") or _map(raw, "regarding")
    if raw.get("reason") != "FailedCreate" or not metadata.get("uid"):
        return None
    times = [_when(_map(raw, "series").get("lastObservedTime")), *(_when(raw.get(name)) for name in _SERIES)]
    times.append(_when(metadata.get("creationTimestamp")))
    return SeenFailedCreate(
        cluster=cluster,
        **{**_common(raw, wanted, ()), "name": str(about.get("name") or ""), "notes": {}},
        owner=Owner(str(about.get("kind") or ""), str(about.get("name") or ""), str(about.get("uid") or "")),
        at=next((one for one in times if one), None),
        message=str(raw.get("message") or raw.get("note") or ""),
    )


def _common(raw: Json, wanted: Wanted, templates: Sequence[Json]) -> dict[str, Any]:
    metadata = _map(raw, "metadata")
    notes: dict[str, str] = {}
    labels: dict[str, str] = {}
    for one in (*reversed(templates), metadata):
        notes |= annotations_of_ours(one)
        labels |= {key: value for key, value in (one.get("labels") or {}).items() if key in wanted.labels}
    return {
        "namespace": str(metadata.get("namespace") or ""),
        "name": str(metadata.get("name") or ""),
        "uid": str(metadata.get("uid") or ""),
        "version": str(metadata.get("resourceVersion") or ""),
        "notes": notes,
        "labels": labels,
        "deleting": "deletionTimestamp" in metadata,
    }


def _above_workload(metadata: Json) -> Owner | None:
    """A Workload of a pod group has the group's name and is owned by its pods, all of them."""
    owner = _controller(metadata)
    owners = [one for one in _list(metadata, "ownerReferences") if isinstance(one, Mapping)]
    if owner is None and owners and all(one.get("kind") == "Pod" for one in owners):
        return Owner(POD_GROUP, str(metadata.get("name") or ""))
    return owner


def _above_pod(metadata: Json) -> Owner | None:
    owner = _labelled(metadata) or _controller(metadata)
    hash_label = (metadata.get("labels") or {}).get(_OF_DEPLOYMENT)
    if owner is not None and owner.kind == "ReplicaSet" and hash_label:
        return Owner("Deployment", owner.name.removesuffix(f"-{hash_label}"))
    return owner


def _labelled(metadata: Json) -> Owner | None:
    labels = metadata.get("labels") or {}
    crd, name = (labels.get(one) for one in _OF_RAY)
    if crd and name:
        return Owner(str(crd), str(name))
    return next((Owner(kind, str(labels[key])) for key, kind in _ABOVE.items() if labels.get(key)), None)


def _controller(metadata: Json) -> Owner | None:
    for one in _list(metadata, "ownerReferences"):
        if isinstance(one, Mapping) and one.get("controller"):
            return Owner(str(one.get("kind") or ""), str(one.get("name") or ""), str(one.get("uid") or ""))
    return None


def _conditions(status: Json, only: frozenset[str] | None = None) -> dict[str, Condition]:
    found = {}
    for one in _list(status, "conditions"):
        if isinstance(one, Mapping) and (only is None or one.get("type") in only):
            words = (str(one.get("reason") or ""), str(one.get("message") or ""))
            since = _when(one.get("lastTransitionTime"))
            found[str(one.get("type"))] = Condition(one.get("status") == "True", *words, since)
    return found


def _asked(sets: Sequence[Json], wanted: Wanted) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in sets:
        for resource, amount in _accelerators(_map(_map(one, "template"), "spec"), wanted).items():
            total[resource] = total.get(resource, 0) + amount * _number(one.get("count", 1))
    return total


def _accelerators(spec: Json, wanted: Wanted) -> dict[str, int]:
    """Containers that ask for none are not looked into: most pods have some, and quantities of cpu are slow to read."""
    kept = {key: [_only(one, wanted) for one in spec.get(key) or ()] for key in ("containers", "initContainers")}
    return {name: amount for name, amount in pod_requests(kept).items() if amount}


def _only(container: Json, wanted: Wanted) -> Json:
    resources = container.get("resources") or {}
    parts = {
        part: {name: amount for name, amount in (resources.get(part) or {}).items() if name in wanted.accelerators}
        for part in ("limits", "requests")
    }
    return {"resources": parts}


def _flavors(admission: Json, wanted: Wanted) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in _list(admission, "podSetAssignments"):
        found |= {key: str(flavor) for key, flavor in _map(one, "flavors").items() if key in wanted.accelerators}
    return found


def _map(raw: Json, key: str) -> Json:
    value = raw.get(key)
    return value if isinstance(value, Mapping) else {}


def _list(raw: Json, key: str) -> Sequence[Any]:
    value = raw.get(key)
    return value if isinstance(value, list) else ()


def _number(value: Any) -> int:
    try:
        return devices(value)[0]
    except (ValueError, TypeError):
        return 0


def _when(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except (ValueError, TypeError):
        return None
