"""What teams use of their quota, from live pictures. Read by flows/look_up and flows/home_facts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.core.kueue import ClusterPicture, QueueSnapshot
from bot.core.policy import Policy
from bot.flows.card_facts import unit_of
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.waiting_devices import waiting_devices, waiting_of
from bot.flows.world import World
from bot.views.answers.status import QueueUse


@dataclass(frozen=True, slots=True)
class Looks:
    """What was read of the clusters, once each: many people are shown the same look."""

    world: World
    _queues: dict[str, ClusterPicture | NotRead] = field(default_factory=dict)
    _waiting: dict[tuple[str, str], Mapping[str, int] | NotRead] = field(default_factory=dict)

    def queues(self, cluster: str) -> ClusterPicture | NotRead:
        """The picture, or why there is none."""
        if cluster not in self._queues:
            self._queues[cluster] = read_queues(self.world, cluster)
        return self._queues[cluster]

    def waiting(self, queue: QueueSnapshot) -> Mapping[str, int] | NotRead:
        """Devices that pending work asks for, by resource."""
        key = (queue.cluster, queue.name)
        if key not in self._waiting:
            self._waiting[key] = waiting_devices(self.world, queue)
        return self._waiting[key]


@dataclass(frozen=True, slots=True)
class LiveUse:
    """As far as it could be read."""

    uses: Mapping[str, Sequence[QueueUse]]
    """By team."""
    read_at: datetime
    trouble: tuple[str, ...]
    """What could not be read, a clause each."""


def live_use_of(looks: Looks, policy: Policy, teams: Collection[str]) -> LiveUse:
    """Of these teams, over all clusters."""
    found = {name: looks.queues(name) for name in looks.world.clusters}
    pictures = [one for one in found.values() if not isinstance(one, NotRead)]
    uses = {team: [use for one in pictures for use in _uses(looks, policy, team, one)] for team in teams}
    missing = [f"No live figures of {name}: {one.why}" for name, one in found.items() if isinstance(one, NotRead)]
    read_at = min((one.read_at for one in pictures), default=looks.world.clock())
    return LiveUse(uses, read_at, (*missing, *_not_known(looks, policy, teams, pictures)))


def _not_known(looks: Looks, policy: Policy, teams: Collection[str], pictures: Sequence[ClusterPicture]) -> list[str]:
    asked = [looks.waiting(queue) for one in pictures for team in teams for queue in _queues(policy, team, one)]
    return [f"What waits is not known: {why}" for why in sorted({one.why for one in asked if isinstance(one, NotRead)})]


def _queues(policy: Policy, team: str, picture: ClusterPicture) -> list[QueueSnapshot]:
    return [picture.queues[name] for name in policy.queues_of(team, picture.cluster) if name in picture.queues]


def _uses(looks: Looks, policy: Policy, team: str, picture: ClusterPicture) -> list[QueueUse]:
    cluster = policy.cluster(picture.cluster)
    uses = []
    for queue in _queues(policy, team, picture):
        for entry, quota in queue.quotas.items():
            if cluster and entry.resource in cluster.accelerators:
                unit = unit_of(policy, picture.cluster, entry.resource)
                waiting = waiting_of(looks.waiting(queue), entry.resource)
                reserved = queue.reserved.get(entry, 0)
                uses.append(QueueUse(queue.name, entry.flavor, reserved, quota.nominal, waiting, unit))
    return uses
