"""What policies/*.yaml say, as frozen values, and what is wrong with them if something is.

Read by verdicts, membership, proposals and views; made from files by adapters/policy_files.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.core.policy.alerts import AlertsFile
from bot.core.policy.approvals import ApprovalsFile
from bot.core.policy.checks import ALERTS, APPROVALS, CLUSTERS, FILES, MAY_BE_LEFT_OUT, TEAMS, alert_teams, dangling
from bot.core.policy.clusters import Cluster, ClustersFile
from bot.core.policy.findings import Finding, from_pydantic
from bot.core.policy.teams import Team, TeamsFile
from bot.core.resource_quotas import is_resource_quota, object_name

__all__ = ["FILES", "MAY_BE_LEFT_OUT", "Finding", "Policy", "read_policy"]

MODELS: Mapping[str, type[BaseModel]] = {
    TEAMS: TeamsFile,
    APPROVALS: ApprovalsFile,
    CLUSTERS: ClustersFile,
    ALERTS: AlertsFile,
}


@dataclass(frozen=True, slots=True)
class Policy:
    """All files, consistent with each other. `version` changes when any of them does."""

    version: str
    teams: TeamsFile
    approvals: ApprovalsFile
    clusters: ClustersFile
    alerts: AlertsFile = field(default_factory=AlertsFile)

    def team(self, name: str) -> Team | None:
        """The team of this name."""
        return self.teams.teams.get(name)

    def cluster(self, name: str) -> Cluster | None:
        """The cluster of this name."""
        return self.clusters.clusters.get(name)

    def proposes(self, cluster: str, queue: str) -> bool:
        """Whether this queue's quota is written in Git, and never by the bot."""
        found = self.cluster(cluster)
        return found is not None and found.proposes(queue)

    def proposing(self, cluster: str) -> frozenset[str]:
        """The queues of a cluster that are."""
        found = self.cluster(cluster)
        return frozenset(name for name in found.queues if found.proposes(name)) if found else frozenset()

    def team_of(self, cluster: str, queue: str) -> str | None:
        """Name of the team that a ClusterQueue belongs to; None if it is nobody's."""
        return next((name for name, team in self.teams.teams.items() if queue in team.queues_on(cluster)), None)

    def queues_of(self, team: str, cluster: str) -> tuple[str, ...]:
        """ClusterQueues of a team on a cluster; none for a team that is not there."""
        found = self.team(team)
        return found.queues_on(cluster) if found else ()

    def resource_quota_of(self, team: str) -> str | None:
        """namespace/name of the ResourceQuota that goes up and down with a team's loans; None if it has none."""
        found = self.team(team)
        quota = found.resource_quota if found else None
        return object_name(quota.namespace, quota.name) if quota else None

    def places_on(self, cluster: str) -> frozenset[str]:
        """All that teams can ask for: ClusterQueues, and ResourceQuotas of teams without one."""
        return frozenset(queue for team in self.teams.teams.values() for queue in team.queues_on(cluster))

    def resource_quota_beside(self, cluster: str, queue: str) -> str | None:
        """The ResourceQuota of the team that a ClusterQueue belongs to; None for one that stands in a queue's place."""
        team = None if is_resource_quota(queue) else self.team_of(cluster, queue)
        return self.resource_quota_of(team) if team else None


def read_policy(documents: Mapping[str, Any], version: str) -> Policy | tuple[Finding, ...]:
    """A policy of the parsed files (by name: FILES), or everything that is wrong with them.

    A file that could not be parsed is left out: the others are still looked at. Names across files are checked once
    each file is right by itself.
    """
    findings: list[Finding] = []
    read: dict[str, Any] = {}
    for name, document in documents.items():
        try:
            read[name] = MODELS[name].model_validate(document)
        except ValidationError as error:
            findings += from_pydantic(name, MODELS[name], error)
    missing = set(FILES) - set(read)
    if findings or missing - MAY_BE_LEFT_OUT:
        return tuple(findings)
    alerts = read.get(ALERTS, AlertsFile())
    findings += dangling(read[TEAMS], read[APPROVALS], read[CLUSTERS])
    findings += alert_teams(read[TEAMS], alerts)
    return tuple(findings) or Policy(version, read[TEAMS], read[APPROVALS], read[CLUSTERS], alerts)
