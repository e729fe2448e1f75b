"""A ResourceQuota's JSON as an object with quota, and how to reach one. Called by adapters/kube/cluster.

It differs from a ClusterQueue in two things that convergence asks of an object. It has no generation (the API server
counts none for it), so who wrote which part of it when stands for one: that moves with every write but the quota
controller's, which goes to the status. And it is in force when the quota controller has copied `spec.hard` to
`status.hard`, which is what admission compares with.
"""

from binascii import crc32
from collections.abc import Mapping

import orjson

from bot.adapters.kube.ownership import Json, annotations_of_ours, managing_tool, spec_manager
from bot.adapters.kube.quantities import devices
from bot.core.kueue import FlavorResource, QueueSnapshot, Quota
from bot.core.resource_quotas import counting_key, hard_entry, object_name

_COUNTS = counting_key("")


def path_of(quota: str) -> str:
    """Where the API server keeps it. `quota`: namespace/name."""
    namespace, _, name = quota.partition("/")
    return f"/api/v1/namespaces/{namespace}/resourcequotas/{name}"


def resource_quota_snapshot(cluster: str, raw: Json) -> QueueSnapshot:
    """A ResourceQuota with its entries for extended resources; others (cpu, pods) are nothing that is lent."""
    metadata, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
    hard = spec.get("hard") or {}
    generation = int(metadata.get("generation") or 0) or _writes(metadata, spec)
    follows = all((status.get("hard") or {}).get(key) == hard[key] for key in hard)
    return QueueSnapshot(
        cluster=cluster,
        name=object_name(metadata["namespace"], metadata["name"]),
        uid=metadata["uid"],
        resource_version=metadata["resourceVersion"],
        generation=generation,
        quotas=_entries(hard),
        observed_generation=generation if follows else None,
        deleting="deletionTimestamp" in metadata,
        used=_used(status),
        annotations=annotations_of_ours(metadata),
        annotated=bool(metadata.get("annotations")),
        managed_by=managing_tool(metadata),
        spec_manager=spec_manager(metadata, "f:hard"),
        no_effect=tuple(sorted(key for key in hard if "/" in key and not key.startswith(_COUNTS))),
    )


def _entries(hard: Mapping[str, object]) -> dict[FlavorResource, Quota]:
    found = {}
    for key, quantity in hard.items():
        if key.startswith(_COUNTS) and "/" in key:
            number, whole = devices(quantity)
            found[hard_entry(key.removeprefix(_COUNTS))] = Quota(number, whole=whole)
    return found


def _used(status: Json) -> dict[FlavorResource, int]:
    return {entry: quota.nominal for entry, quota in _entries(status.get("used") or {}).items()}


def _writes(metadata: Json, spec: Json) -> int:
    """A number that is another one after any write to spec or metadata, and the same after one to the status."""
    writers = (entry for entry in metadata.get("managedFields") or () if not entry.get("subresource"))
    entries = sorted(orjson.dumps(entry, option=orjson.OPT_SORT_KEYS) for entry in writers)
    return crc32(b"\n".join([orjson.dumps(spec, option=orjson.OPT_SORT_KEYS), *entries]))
