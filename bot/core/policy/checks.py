"""Names in one policy file that must exist in another. Used by policy.read_policy."""

from collections.abc import Iterator

from bot.core.policy.alerts import AlertsFile
from bot.core.policy.approvals import ApprovalsFile, Conditions, Rule
from bot.core.policy.clusters import ClustersFile
from bot.core.policy.findings import Finding, Where, unknown
from bot.core.policy.teams import EVERY_CLUSTER, Sees, TeamsFile
from bot.core.resource_quotas import is_resource_quota

TEAMS, APPROVALS, CLUSTERS, ALERTS = "teams.yaml", "approvals.yaml", "clusters.yaml", "alerts.yaml"
FILES = (TEAMS, APPROVALS, CLUSTERS, ALERTS)
MAY_BE_LEFT_OUT = frozenset({ALERTS})
"""Without one of these everything it could say is as it starts."""


def dangling(teams: TeamsFile, approvals: ApprovalsFile, clusters: ClustersFile) -> tuple[Finding, ...]:
    """Everything that names what is not there, or gives one queue to two teams."""
    return (
        *_team_names(teams),
        *_team_clusters(teams, clusters),
        *_shared_queues(teams, clusters),
        *_resource_quotas(teams),
        *_groups(approvals),
        *_rules(teams, approvals),
        *_lenders(teams, clusters),
        *_aliases(clusters),
    )


def alert_teams(teams: TeamsFile, alerts: AlertsFile) -> tuple[Finding, ...]:
    """Teams that routes and mutes name."""
    names = tuple(teams.teams)
    found: list[Finding] = []
    named = [(("routes", number), route.teams) for number, route in enumerate(alerts.routes)]
    named += [(("mutes", number), mute.teams) for number, mute in enumerate(alerts.mutes)]
    for where, listed in named:
        for index, team in enumerate(listed or ()):
            found += _known(ALERTS, (*where, "teams", index), "team", team, names)
    return tuple(found)


def _known(file: str, where: Where, what: str, word: str, names: tuple[str, ...]) -> Iterator[Finding]:
    if word not in names:
        yield Finding(file, where, unknown(what, word, names), names)


def _team_names(teams: TeamsFile) -> Iterator[Finding]:
    seen: list[tuple[Where, Sees | None]] = [(("sees",), teams.sees)]
    seen += [(("teams", name, "sees"), team.sees) for name, team in teams.teams.items()]
    for where, sees in seen:
        if isinstance(sees, tuple):
            for index, name in enumerate(sees):
                yield from _known(TEAMS, (*where, index), "team", name, tuple(teams.teams))


def _team_clusters(teams: TeamsFile, clusters: ClustersFile) -> Iterator[Finding]:
    for name, team in teams.teams.items():
        for cluster in team.queues:
            if cluster != EVERY_CLUSTER:
                where = ("teams", name, "queues", cluster)
                yield from _known(TEAMS, where, "cluster", cluster, tuple(clusters.clusters))


def _shared_queues(teams: TeamsFile, clusters: ClustersFile) -> Iterator[Finding]:
    owners: dict[tuple[str, str], str] = {}
    told: set[tuple[str, str]] = set()
    for name, team in teams.teams.items():
        for cluster in clusters.clusters:
            for queue in team.queues_on(cluster):
                owner = owners.setdefault((cluster, queue), name)
                if owner != name and (name, queue) not in told and not is_resource_quota(queue):
                    told.add((name, queue))
                    message = f'queue "{queue}" is team {owner}\'s already; a queue belongs to one team'
                    yield Finding(TEAMS, ("teams", name, "queues"), message)


def _resource_quotas(teams: TeamsFile) -> Iterator[Finding]:
    owners: dict[tuple[str, str], str] = {}
    for name, team in teams.teams.items():
        quota = team.resource_quota
        if quota is None:
            continue
        where = ("teams", name, "resource_quota")
        yield from _known(TEAMS, (*where, "namespace"), "namespace of the team", quota.namespace, team.namespaces)
        owner = owners.setdefault((quota.namespace, quota.name), name)
        if owner != name:
            message = f'ResourceQuota "{quota.name}" in {quota.namespace} is team {owner}\'s already'
            yield Finding(TEAMS, where, f"{message}; a ResourceQuota goes with one team")


def _groups(approvals: ApprovalsFile) -> Iterator[Finding]:
    names = tuple(approvals.groups)
    yield from _known(APPROVALS, ("admins",), "group", approvals.admins, names)
    yield from _escalation_groups(approvals, names)
    for number, rule in enumerate(approvals.rules):
        for index, step in enumerate(rule.then.steps or ()):
            if step.group is not None:
                where = ("rules", number, "then", "steps", index, "who")
                yield from _known(APPROVALS, where, "group", step.group, names)


def _escalation_groups(approvals: ApprovalsFile, names: tuple[str, ...]) -> Iterator[Finding]:
    named = approvals.unanswered.escalate_to
    wanted: list[tuple[Where, str | None]] = [(("unanswered", "escalate_to"), named)]
    wanted += [(("unanswered", "hours_of", group), group) for group in approvals.unanswered.hours_of]
    wanted += [(("rules", number, "escalate_to"), rule.escalate_to) for number, rule in enumerate(approvals.rules)]
    for where, group in wanted:
        if group is not None:
            yield from _known(APPROVALS, where, "group", group, names)


def _rules(teams: TeamsFile, approvals: ApprovalsFile) -> Iterator[Finding]:
    before: dict[str, Rule] = {}
    for number, rule in enumerate(approvals.rules):
        for index, team in enumerate(rule.when.team or ()):
            where = ("rules", number, "if", "team", index)
            yield from _known(APPROVALS, where, "team", team, tuple(teams.teams))
        if rule.name in before:
            yield Finding(APPROVALS, ("rules", number, "name"), f'there is a rule "{rule.name}" already')
        catch_all = next((one.name for one in before.values() if one.when == Conditions()), None)
        if catch_all is not None:
            message = f'rule "{rule.name}" is never reached: "{catch_all}" before it matches everything'
            yield Finding(APPROVALS, ("rules", number), message)
        before.setdefault(rule.name, rule)


def _lenders(teams: TeamsFile, clusters: ClustersFile) -> Iterator[Finding]:
    for name, cluster in clusters.clusters.items():
        owned = tuple(queue for team in teams.teams.values() for queue in team.queues_on(name))
        for queue, lender in cluster.lenders.items():
            if queue not in owned and lender.consent == "lead":
                message = f"{unknown('queue of a team', queue, owned)}: nobody could consent"
                yield Finding(CLUSTERS, ("clusters", name, "lenders", queue), message, owned)
        known = tuple(dict.fromkeys((*owned, *cluster.lenders)))
        for key, named in (("default_flavors", cluster.default_flavors), ("queues", cluster.queues)):
            for queue in named:
                yield from _known(CLUSTERS, ("clusters", name, key, queue), "queue", queue, known)


def _aliases(clusters: ClustersFile) -> Iterator[Finding]:
    """A word that people type must mean one resource."""
    for name, cluster in clusters.clusters.items():
        for resource, accelerator in cluster.accelerators.items():
            meant = cluster.resource_named(accelerator.alias) if accelerator.alias else resource
            if meant != resource:
                message = f'"{accelerator.alias}" means {meant} already; an alias belongs to one resource'
                yield Finding(CLUSTERS, ("clusters", name, "accelerators", resource, "alias"), message)
