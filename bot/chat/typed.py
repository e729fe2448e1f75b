"""A typed line: read its words, find its subcommand, answer. Called by chat/directory for every slash command.

A line is read twice. First without the cluster, so that a fault of grammar is answered even while the API server hangs;
then, if names of flavors could change what it means, with those that the person may see.
"""

from dataclasses import replace
from zoneinfo import ZoneInfo

from bot.chat.commands import COMMANDS
from bot.chat.desk import Arrived
from bot.core.membership import Roles, visible_queues
from bot.core.messages import Message
from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.wording.commands import CommandWords, parse_command
from bot.core.wording.explain_words import ExplainWords
from bot.core.wording.faults import UsageFault
from bot.core.wording.line import Context
from bot.core.wording.request_words import RequestWords
from bot.core.wording.small_commands import ShowWords
from bot.core.wording.vocabulary import Vocabulary
from bot.flows.gather import former_teams, person_of, roles_of_person
from bot.flows.read_cluster import NotRead, read_queues
from bot.views.answers.usage import usage_fault

_NAMES_FLAVORS = (RequestWords, ShowWords)


def typed(arrived: Arrived) -> Message | None:
    """Raises Refused."""
    world = arrived.world
    person = person_of(world, arrived.user)
    policy = world.policies.policy
    roles = roles_of_person(world, policy, person)
    said = _read(arrived, person, policy, _names(policy, roles))
    if isinstance(said, UsageFault) and roles.admin:
        names = _names(policy, roles)
        said = _read(arrived, person, policy, replace(names, teams=(*names.teams, *former_teams(world, policy))))
    asked = said.what if isinstance(said, ExplainWords) else said
    if isinstance(asked, _NAMES_FLAVORS) and asked != type(asked)():
        said = _read(arrived, person, policy, _with_flavors(arrived, policy, roles))
    if isinstance(said, UsageFault):
        return usage_fault(said)
    return COMMANDS[type(said)].run(arrived, said)


def _read(arrived: Arrived, person: Person, policy: Policy, names: Vocabulary) -> CommandWords | UsageFault:
    context = Context(
        now=arrived.item.received_at,
        zone=_zone(person),
        vocabulary=names,
        limit=policy.approvals.limits.most_per_request,
    )
    return parse_command(arrived.get("text"), context)


def _zone(person: Person) -> ZoneInfo:
    """Slack's zone of the person; UTC for one that this machine does not know."""
    try:
        return ZoneInfo(person.timezone)
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def _names(policy: Policy, roles: Roles) -> Vocabulary:
    """What the person may see of the policy."""
    queues: set[str] = set()
    for cluster in policy.clusters.clusters:
        everybodys = {queue for team in policy.teams.teams for queue in policy.queues_of(team, cluster)}
        own = {queue for team in roles.teams for queue in policy.queues_of(team, cluster)}
        queues |= visible_queues(policy, roles, cluster, everybodys) | own
    teams = tuple(policy.teams.teams) if roles.admin else roles.teams
    resources = dict.fromkeys(name for one in policy.clusters.clusters.values() for name in one.accelerators)
    return Vocabulary(
        queues=tuple(sorted(queues)),
        resources=tuple(resources),
        clusters=tuple(policy.clusters.clusters),
        teams=teams,
    )


def _with_flavors(arrived: Arrived, policy: Policy, roles: Roles) -> Vocabulary:
    names = _names(policy, roles)
    accelerators = {name for one in policy.clusters.clusters.values() for name in one.accelerators}
    flavors: dict[str, None] = {}
    for cluster in arrived.world.clusters:
        picture = read_queues(arrived.world, cluster)
        for name, queue in () if isinstance(picture, NotRead) else picture.queues.items():
            if name in names.queues:
                flavors.update(dict.fromkeys(e.flavor for e in queue.quotas if e.resource in accelerators))
    return Vocabulary(tuple(flavors), names.queues, names.resources, names.clusters, names.teams)
