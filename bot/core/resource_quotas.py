"""ResourceQuotas beside Kueue or instead of it: what they are called here, and which of their keys count devices.

A ResourceQuota is one more object with quota: convergence sees it as a QueueSnapshot whose name is namespace/name (no
ClusterQueue's name has a slash) and whose entries have no flavor, for Kubernetes knows none. Its field is `hard`.

Instead of Kueue it stands in the place of a team's queue, and people need a word where a flavor stands: the resource's
own, such as gpu. `as_queues` shows it so.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.kueue import ClusterPicture, FlavorResource, QueueSnapshot

NO_FLAVOR = ""
Value = TypeVar("Value")


def object_name(namespace: str, name: str) -> str:
    """What a ResourceQuota is called in pictures, records and annotations."""
    return f"{namespace}/{name}"


def is_resource_quota(queue: str) -> bool:
    """Whether this name of an object with quota is a ResourceQuota's, not a ClusterQueue's."""
    return "/" in queue


def kind_of(queue: str) -> str:
    """The object's kind, for people."""
    return "ResourceQuota" if is_resource_quota(queue) else "ClusterQueue"


def counting_key(resource: str) -> str:
    """The only key of spec.hard by which Kubernetes counts an extended resource."""
    return f"requests.{resource}"


def idle_keys(resource: str) -> tuple[str, str]:
    """Keys that the API server takes for an extended resource, and that count nothing."""
    return f"limits.{resource}", resource


def hard_entry(resource: str) -> FlavorResource:
    """The entry of a ResourceQuota that counts a resource."""
    return FlavorResource(NO_FLAVOR, resource)


def hard_field(cluster: str, quota: str, resource: str) -> FieldKey:
    """The field of a ResourceQuota (namespace/name) that a loan of this resource raises."""
    return FieldKey(cluster, quota, NO_FLAVOR, resource, FieldName.HARD)


def flavor_word(resource: str) -> str:
    """What stands for a flavor where there is none: `gpu` of nvidia.com/gpu."""
    return resource.rpartition("/")[2]


def as_queues(picture: ClusterPicture) -> ClusterPicture:
    """The picture for people: each ResourceQuota in it is a queue in no cohort, of which is reserved what is used."""
    shown = {name: _as_queue(quota) for name, quota in picture.resource_quotas.items()}
    return replace(picture, queues={**picture.queues, **shown}) if shown else picture


def _as_queue(quota: QueueSnapshot) -> QueueSnapshot:
    return replace(quota, quotas=_worded(quota.quotas), used=_worded(quota.used), reserved=_worded(quota.used))


def _worded(entries: Mapping[FlavorResource, Value]) -> dict[FlavorResource, Value]:
    return {FlavorResource(flavor_word(entry.resource), entry.resource): one for entry, one in entries.items()}
