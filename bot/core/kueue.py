"""What the bot knows of Kueue's objects: frozen pictures of ClusterQueues, Cohorts and Workloads.

Made by the cluster adapter from plain JSON; read by convergence, impact, verdicts and views. Quantities are whole
device counts (Kueue rounds a fraction up, so a live "0.5" is 1 and `Quota.whole` is False).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class FlavorResource(NamedTuple):
    """One quota of a queue: a flavor and the resource it counts, such as a100 and nvidia.com/gpu."""

    flavor: str
    resource: str


@dataclass(frozen=True, slots=True)
class Quota:
    """The three numbers Kueue keeps per flavor and resource. None is "not set" (for a limit: unlimited)."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None
    whole: bool = True
    """False when one of the live quantities is not a whole number: such an entry is read, never written."""
    path: tuple[int, int, int] = (0, 0, 0)
    """Where it stands: index of the resource group, of the flavor in it, of the resource in that."""


@dataclass(frozen=True, slots=True)
class Preemption:
    """The ClusterQueue's preemption policy, with Kueue's defaults."""

    within_cluster_queue: str = "Never"
    reclaim_within_cohort: str = "Never"
    borrow_within_cohort: str = "Never"


@dataclass(frozen=True, slots=True)
class CheckRef:
    """An admission check that a ClusterQueue names."""

    name: str
    flavors: tuple[str, ...] = ()
    """Which flavors it is for; empty: all."""


@dataclass(frozen=True, slots=True)
class QueueSnapshot:
    """One ClusterQueue at one resourceVersion."""

    cluster: str
    name: str
    uid: str
    resource_version: str
    generation: int
    quotas: Mapping[FlavorResource, Quota]
    cohort: str | None = None
    observed_generation: int | None = None
    """Generation that Kueue's controller has seen (condition Active), None if it has seen none."""
    active: bool = True
    deleting: bool = False
    stop_policy: str = "None"
    reserved: Mapping[FlavorResource, int] = field(default_factory=dict)
    used: Mapping[FlavorResource, int] = field(default_factory=dict)
    pending_workloads: int = 0
    preemption: Preemption = Preemption()
    fair_weight: str | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Only the bot's own annotations; the key's prefix is `gpu-quota-bot.io/`."""
    annotated: bool = False
    """Whether the object has a map of annotations at all: a JSON Patch cannot add a key to a map that is not there."""
    managed_by: str | None = None
    """"Argo CD", "Flux" or "Helm" when labels or annotations say that such a tool owns the queue."""
    spec_manager: str | None = None
    """The field manager that wrote the spec last, from managedFields; None when not known."""
    quota_automation: str | None = None
    """Why Kueue itself writes or overrides this queue's quotas (MultiKueue, effectiveQuotas); None if it does not."""
    checks: tuple[CheckRef, ...] = ()
    """Admission checks that its work must pass."""
    no_effect: tuple[str, ...] = ()
    """Of a ResourceQuota: keys that look like a quota of devices and count nothing (core/resource_quotas)."""


@dataclass(frozen=True, slots=True)
class CohortSnapshot:
    """A Cohort object. A cohort that is only named by queues has none: it is a root without quota of its own."""

    name: str
    parent: str | None = None
    quotas: Mapping[FlavorResource, Quota] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClusterPicture:
    """All ClusterQueues and Cohorts of one cluster, read at one moment."""

    cluster: str
    read_at: datetime
    queues: Mapping[str, QueueSnapshot]
    cohorts: Mapping[str, CohortSnapshot] = field(default_factory=dict)
    resource_quotas: Mapping[str, QueueSnapshot] = field(default_factory=dict)
    """The ResourceQuotas that were asked for and are there, by namespace/name."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """ResourceQuotas that the bot was not let read, and the API server's words."""

    def find(self, name: str) -> QueueSnapshot | None:
        """The object of this name that has quota: a ClusterQueue, or a ResourceQuota by namespace/name."""
        return self.queues.get(name) or self.resource_quotas.get(name)

    def objects(self) -> Mapping[str, QueueSnapshot]:
        """All objects that quota may be written to."""
        return {**self.queues, **self.resource_quotas}


@dataclass(frozen=True, slots=True)
class WorkloadSnapshot:
    """A Workload that holds or waits for quota."""

    namespace: str
    name: str
    uid: str
    queue: str | None
    """ClusterQueue it holds quota in, or waits for; None when that is not known."""
    priority: int
    created_at: datetime
    reserved_at: datetime | None
    """When quota was reserved; None while it waits."""
    usage: Mapping[FlavorResource, int] = field(default_factory=dict)
    """Devices it holds by flavor and resource. Empty while it waits."""
    requests: Mapping[str, int] = field(default_factory=dict)
    """Devices it asks for, by resource, over all its pods."""
    owner: str | None = None
    """Name of the controlling owner (the Job), which people know it by."""
    active: bool = True
    """`spec.active`: Kueue evicts what is not, and does not admit it."""
    resource_version: str = ""
    generation: int = 1
    mark: str | None = None
    """Value of the bot's annotation on what it set inactive itself (core/evictions)."""
    annotated: bool = False
    """Whether the object has a map of annotations at all."""
