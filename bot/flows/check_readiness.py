"""Readiness over all clusters, as far as somebody may see it. Called by cli/readiness and by chat's `readiness`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from bot.core.errors import Refused, Rejected, Unavailable
from bot.core.policy import Policy
from bot.core.readiness.facts import ClusterFacts, Readiness
from bot.core.readiness.judge import judge
from bot.flows.gather import person_of, roles_of_person
from bot.flows.world import World
from bot.ports.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found, where."""

    readiness: Readiness
    where: str
    """In words: "vision-train", "all namespaces"."""


def check_readiness(
    clusters: Mapping[str, Cluster], policy: Policy, namespaces: Collection[str] | None = None
) -> Readiness:
    """Of work in these namespaces; with None of all work, the classes it names and the GPU stack. Raises Refused."""
    known = [one for name, one in clusters.items() if policy.cluster(name)]  # a reload may have taken one out
    found = [_within(_facts(cluster, policy), namespaces) for cluster in known]
    readiness = judge(found)
    if namespaces is None:
        return readiness
    return replace(readiness, findings=tuple(one for one in readiness.findings if one.namespace))


def readiness_for(world: World, user: str, namespace: str | None) -> Checked:
    """Of the asker's teams; admins ask about everything. Raises Refused."""
    policy = world.policies.policy
    roles = roles_of_person(world, policy, person_of(world, user))
    own = [name for team in roles.teams if (found := policy.team(team)) for name in found.namespaces]
    if namespace is not None and not roles.admin and namespace not in own:
        near = f" Yours: {', '.join(own)}." if own else ""
        raise Refused(f"No namespace {namespace} that you can see.{near}")
    if namespace is not None:
        return Checked(check_readiness(world.clusters, policy, {namespace}), namespace)
    if roles.admin:
        return Checked(check_readiness(world.clusters, policy), "all namespaces")
    if not own:
        raise Refused("No namespace is yours: your teams name none in teams.yaml.")
    return Checked(check_readiness(world.clusters, policy, set(own)), ", ".join(own))


def _facts(cluster: Cluster, policy: Policy) -> ClusterFacts:
    named = policy.clusters.clusters[cluster.name]
    try:
        facts = cluster.preemption_facts(tuple(named.accelerators))
    except (Unavailable, Rejected) as error:
        why = error.why if isinstance(error, Unavailable) else error.detail
        raise Refused(f"Nothing was judged: {cluster.name} could not be read, {why}.") from error
    return replace(facts, lenders=frozenset(named.lenders))


def _within(facts: ClusterFacts, namespaces: Collection[str] | None) -> ClusterFacts:
    """Without what is nobody's business there. Budgets and classes stay: work is judged by them."""
    if namespaces is None:
        return facts
    works = tuple(work for work in facts.works if work.namespace in namespaces)
    return replace(facts, works=works, stack=())
