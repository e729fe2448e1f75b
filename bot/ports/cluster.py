"""One Kubernetes cluster with Kueue. Implemented by adapters/kube."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Protocol

from bot.core.convergence.changes import PatchResult, QueueChange
from bot.core.evictions import ActiveChange
from bot.core.incidents.facts import Owner
from bot.core.kueue import ClusterPicture, WorkloadSnapshot
from bot.core.overcommit import Hardware
from bot.core.readiness.facts import ClusterFacts


class Cluster(Protocol):
    """One Kubernetes cluster with Kueue."""

    @property
    def name(self) -> str:
        """The cluster's name in clusters.yaml."""
        ...

    def read(
        self,
        *,
        cohorts_within: timedelta = timedelta(0),
        resource_quotas: Collection[str] = (),
        kueue: bool = True,
    ) -> ClusterPicture:
        """All ClusterQueues, fresh (never from a cache), and Cohorts that were read at most `cohorts_within` ago.

        And these ResourceQuotas (namespace/name), as fresh as the queues. Without `kueue` only these: nobody there
        has a queue.
        """
        ...

    def workloads(self, queues: Collection[str]) -> Sequence[WorkloadSnapshot]:
        """Workloads that hold or wait for quota in these ClusterQueues, unfinished ones only."""
        ...

    def hardware(self, resource: str) -> Hardware:
        """All nodes with what they have of a resource, and the nodes that each ResourceFlavor means."""
        ...

    def multikueue_checks(self) -> Collection[str]:
        """Names of the admission checks that send work to worker clusters."""
        ...

    def preemption_facts(self, devices: Collection[str]) -> ClusterFacts:
        """What readiness is judged from. `devices`: resources that count as GPUs. What may not be read is in it."""
        ...

    def notes_above(self, namespace: str, owner: Owner) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The bot's annotations on a piece of work and on its namespace; none where the bot may not look, or where
        there is no such thing. Raises Unavailable."""
        ...

    def set_active(self, change: ActiveChange) -> PatchResult:
        """Set one Workload inactive, or active again: one JSON Patch, sent once, answered as by `patch`."""
        ...

    def patch(self, change: QueueChange, *, dry_run: bool = False) -> PatchResult:
        """Send one JSON Patch, once: it is never retried here. Does not raise for an answer; every failure is a
        PatchResult, with UNKNOWN for whatever proves nothing."""
        ...
