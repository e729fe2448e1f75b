"""Look at a cluster for somebody, and know in words why there is nothing to see. Used by the flows that answer people.

Convergence reads for itself: what it cannot read holds up loans, and is told to more people.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.core.errors import NoRight, Rejected, Unavailable, short_name
from bot.core.kueue import ClusterPicture, WorkloadSnapshot
from bot.core.overcommit import Hardware
from bot.core.resource_quotas import as_queues, is_resource_quota
from bot.flows.tell_unreadable import tell_unread, tell_unreadable
from bot.flows.world import World

_QUEUES = frozenset({"clusterqueues", "cohorts"})


@dataclass(frozen=True, slots=True)
class NotRead:
    """There are no live figures."""

    why: str
    """A clause: "the API server is not answering", "the bot may not list workloads"."""
    then: str
    """A sentence: what the reader can do, or who knows."""

    @property
    def opening(self) -> str:
        """The clause as the beginning of a sentence."""
        return self.why[:1].upper() + self.why[1:]


def read_queues(world: World, cluster: str) -> ClusterPicture | NotRead:
    """The queues as they are now."""
    if cluster not in world.clusters:
        why = f"cluster {cluster} is new in the policy and the bot is not connected to it"
        return NotRead(why, "It connects when it is started again.")
    places = world.policies.policy.places_on(cluster)
    quotas = {name for name in places if is_resource_quota(name)}
    try:
        picture = world.clusters[cluster].read(resource_quotas=quotas, kueue=quotas != places or not quotas)
    except (Unavailable, Rejected) as error:
        return _not_read(world, cluster, error)
    tell_unread(world, picture)
    return as_queues(picture)


def read_work(world: World, cluster: str, queues: Collection[str]) -> Sequence[WorkloadSnapshot] | NotRead:
    """Workloads that hold or wait for quota in these queues."""
    try:
        return world.clusters[cluster].workloads(queues)
    except (Unavailable, Rejected) as error:
        return _not_read(world, cluster, error)


def read_hardware(world: World, cluster: str, resource: str) -> Hardware | NotRead:
    """The nodes, and which of them each flavor means."""
    try:
        return world.clusters[cluster].hardware(resource)
    except (Unavailable, Rejected) as error:
        return _not_read(world, cluster, error)


def read_multikueue(world: World, cluster: str) -> Collection[str] | NotRead:
    """The admission checks that send work to worker clusters."""
    try:
        return world.clusters[cluster].multikueue_checks()
    except (Unavailable, Rejected) as error:
        return _not_read(world, cluster, error)


def _not_read(world: World, cluster: str, error: Unavailable | Rejected) -> NotRead:
    if isinstance(error, Unavailable):
        return NotRead(f"the {error.what} is not answering", "Try again in a few minutes.")
    tell_unreadable(world, cluster, error)
    if not isinstance(error, NoRight):
        why = f"the bot cannot read the queues ({error.what}: {error.code})"
    elif short_name(error.resource) in _QUEUES:
        why = "the bot may not read the queues"
    else:
        why = f"the bot may not {error.verb} {short_name(error.resource)}"
    return NotRead(why, "Admins were told.")
