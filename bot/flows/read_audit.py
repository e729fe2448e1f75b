"""The audit for admins, newest first. Called by chat for `log`; that somebody else asked for it is in the audit too."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.core.audit import AuditQuery, audit_csv
from bot.core.errors import Refused, Rejected, Unavailable
from bot.core.membership import OUTSIDER, lookup_failed
from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.requests import AuditEntry
from bot.flows.audited import refusals_audited
from bot.flows.gather import person_of, person_or_id, roles_of_person
from bot.flows.world import World
from bot.views.answers.audit_log import MOST_LINES, LogFacts

MOST_IN_A_FILE = 20_000
NO_SCOPE = "missing_scope"
AT_A_TERMINAL = "gpu-quota-bot log --format csv"
NOBODY = frozenset({"bot"})
"""Who acts in the audit without being a person."""


@dataclass(frozen=True, slots=True)
class LogAsked:
    """What part of it; every given condition holds."""

    request: int | None = None
    who: str | None = None
    """User id."""
    team: str | None = None
    last: timedelta | None = None


def read_audit(world: World, user: str, asked: LogAsked) -> LogFacts:
    """What fits a message, and whether there is more. Raises Refused for everybody but admins."""
    found = _found(world, user, asked, MOST_LINES + 1)
    entries = tuple(found[:MOST_LINES])
    names = {one: person_or_id(world, one) for one in {entry.who for entry in entries} - NOBODY}
    return LogFacts(entries, names, more=len(found) > MOST_LINES, about=_about(world, asked), last=asked.last)


def fields_of(policy: Policy, team: str) -> tuple[str, ...]:
    """What the subjects of a team's queues begin with."""
    return tuple(
        f"{cluster}/{queue}/" for cluster in policy.clusters.clusters for queue in policy.queues_of(team, cluster)
    )


def send_audit(world: World, user: str, asked: LogAsked) -> int:
    """The same as a CSV file in the DM of the one who asks; how many entries. Raises Refused."""
    entries = _found(world, user, asked, MOST_IN_A_FILE)
    try:
        world.chat.send_file(user, f"gpu-quota-log-{world.clock():%Y-%m-%d}.csv", audit_csv(entries))
    except Rejected as error:
        add = "Admins of the app: add the scope files:write and install it again. " if error.code == NO_SCOPE else ""
        raise Refused(f"Slack did not take the file: {error.code}. {add}At a terminal: {AT_A_TERMINAL}") from error
    except Unavailable as error:
        raise Refused(
            f"Slack did not take the file: {error.why}. It may have come all the same: look first."
        ) from error
    return len(entries)


def _found(world: World, user: str, asked: LogAsked, most: int) -> Sequence[AuditEntry]:
    policy, team = world.policies.policy, asked.team
    subject = f"Q-{asked.request}" if asked.request else None
    with refusals_audited(world, user, "log", subject or asked.who or team or "all"):
        _admins_only(world, policy, user)
    since = world.clock() - asked.last if asked.last else None
    query = AuditQuery(subject, asked.who, team, fields_of(policy, team) if team else (), since)
    with world.store.read() as uow:
        return uow.audit.find(query, most)


def _about(world: World, asked: LogAsked) -> str | Person:
    if asked.who:
        return person_or_id(world, asked.who)
    return f"Q-{asked.request}" if asked.request else asked.team or ""


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
