"""What teams.yaml may say: who belongs together, who leads, which queues and namespaces are theirs, who sees what."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, PlainValidator

from bot.core.policy.scalars import Channel, KubernetesName, KubernetesNames, Name, People, Strict, TimeZone, unique
from bot.core.resource_quotas import object_name

EVERY_CLUSTER = "*"
"""Key under which a plain list of queues is kept: the team has these on each cluster."""

Sees: TypeAlias = Literal["all", "own"] | tuple[str, ...]
"""Whose queues people see: everybody's, their own team's only, or their own and those of the named teams."""


def _sees(value: Any) -> Any:
    if value in ("all", "own"):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value):
        return unique(tuple(value))
    raise ValueError(f'"{value}" is neither all, own nor a list of teams')


def _by_cluster(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value
    return {EVERY_CLUSTER: value}


class TeamQuota(Strict):
    """A ResourceQuota that a team's pods count in."""

    namespace: KubernetesName
    name: KubernetesName


class Team(Strict):
    """Who asks, who consents, and what is theirs."""

    channel: Channel
    """Where the team's own messages go."""
    members: People
    leads: People = ()
    """May consent to lend the team's quota; count as members too."""
    namespaces: KubernetesNames = ()
    queues: Annotated[Mapping[str, KubernetesNames], BeforeValidator(_by_cluster)] = Field(default_factory=dict)
    """ClusterQueues by cluster; EVERY_CLUSTER for those of each."""
    resource_quota: TeamQuota | None = None
    """Goes up and down with the team's loans. In one of its namespaces, and of the same name on each cluster."""
    timezone: TimeZone = "UTC"
    sees: Annotated[Sees, PlainValidator(_sees)] | None = None
    """None: as the file's own `sees` has it."""

    def queues_on(self, cluster: str) -> tuple[str, ...]:
        """The team's ClusterQueues on this cluster, in the order of the file; without any, its ResourceQuota."""
        queues = tuple(dict.fromkeys((*self.queues.get(EVERY_CLUSTER, ()), *self.queues.get(cluster, ()))))
        quota = self.resource_quota
        return queues or (() if quota is None else (object_name(quota.namespace, quota.name),))


class TeamsFile(Strict):
    """The whole of teams.yaml."""

    teams: Mapping[Name, Team]
    sees: Annotated[Sees, PlainValidator(_sees)] = "all"
    """For teams that say nothing themselves, and for people in no team."""
