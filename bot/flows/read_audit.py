"""The audit for admins, newest first. Called by chat for `log`; that somebody else asked for it is in the audit too."""

from datetime import timedelta

from bot.core.audit import AuditQuery
from bot.core.errors import Refused
from bot.core.membership import OUTSIDER, lookup_failed
from bot.core.people import Person
from bot.core.policy import Policy
from bot.flows.audited import refusals_audited
from bot.flows.gather import person_of, person_or_id, roles_of_person
from bot.flows.world import World
from bot.views.answers.audit_log import MOST_LINES, LogFacts

NOBODY = frozenset({"bot"})
"""Who acts in the audit without being a person."""


def read_audit(
    world: World,
    user: str,
    *,
    request: int | None = None,
    who: str | None = None,
    team: str | None = None,
    last: timedelta | None = None,
) -> LogFacts:
    """What fits a message, and whether there is more. Raises Refused for everybody but admins."""
    policy = world.policies.policy
    with refusals_audited(world, user, "log", f"Q-{request}" if request else who or team or "all"):
        _admins_only(world, policy, user)
    query = AuditQuery(
        subject=f"Q-{request}" if request else None,
        who=who,
        team=team,
        fields=fields_of(policy, team) if team else (),
        since=world.clock() - last if last else None,
    )
    with world.store.read() as uow:
        found = uow.audit.find(query, MOST_LINES + 1)
    entries = tuple(found[:MOST_LINES])
    names = {one: person_or_id(world, one) for one in {entry.who for entry in entries} - NOBODY}
    return LogFacts(entries, names, more=len(found) > MOST_LINES, about=_about(world, request, who, team), last=last)


def fields_of(policy: Policy, team: str) -> tuple[str, ...]:
    """What the subjects of a team's queues begin with."""
    return tuple(
        f"{cluster}/{queue}/" for cluster in policy.clusters.clusters for queue in policy.queues_of(team, cluster)
    )


def _about(world: World, request: int | None, who: str | None, team: str | None) -> str | Person:
    return person_or_id(world, who) if who else f"Q-{request}" if request else team or ""


def _admins_only(world: World, policy: Policy, user: str) -> None:
    person = person_of(world, user)
    roles = roles_of_person(world, policy, person)
    if not person.full_member:
        raise Refused(OUTSIDER)
    if not roles.admin:
        unknown = lookup_failed(roles.unknown) if roles.unknown else ""
        raise Refused(
            unknown or f"Only {policy.approvals.admins} can read the log. Of your own: explain Q-142, or list."
        )
