"""Facts that several flows need before they decide: who somebody is, who is in a group, what the cluster shows.

Nothing here decides. A look-up that fails becomes words for the one who acts, or an Unknown group; never an empty one.
"""

from collections.abc import Iterable
from datetime import datetime

from bot.core.errors import Refused, Rejected, Unavailable
from bot.core.loans import Loan, LoanState
from bot.core.membership import Groups, Roles, Unknown, groups_of_roles, may_handle, roles_of
from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.request_facts import WEEK, RequestFacts
from bot.core.requests import Ask, QuotaRequest, RequestState
from bot.flows.world import World
from bot.ports.store import UnitOfWork

OPEN = (LoanState.SCHEDULED, LoanState.RUNNING, LoanState.RETURNING)


def person_of(world: World, user: str) -> Person:
    """Who acts. Raises Refused, in words, when Slack does not say."""
    try:
        return world.chat.person(user)
    except (Unavailable, Rejected) as error:
        raise Refused("Slack did not say who you are. Nothing was changed. Try again in a minute.") from error


def person_or_id(world: World, user: str) -> Person:
    """Who is spoken of: a name to show, the bare id when Slack does not say."""
    try:
        return world.chat.person(user)
    except (Unavailable, Rejected):
        return Person(user, user)


def request_of(world: World, number: int) -> QuotaRequest:
    """As it is stored. Raises Refused."""
    with world.store.read() as uow:
        request = uow.requests.get(number)
    if request is None:
        raise Refused(f"There is no Q-{number}.")
    return request


def look_up_groups(world: World, groups: Iterable[str]) -> Groups:
    """Members by user group id; what could not be looked up is Unknown."""
    found: dict[str, frozenset[str] | Unknown] = {}
    for group in sorted(groups):
        try:
            found[group] = world.chat.group_members(group)
        except (Unavailable, Rejected) as error:
            found[group] = Unknown(str(error))
    return found


def roles_of_person(world: World, policy: Policy, person: Person) -> Roles:
    """What somebody is to each team, with groups looked up now."""
    return roles_of(policy, person, look_up_groups(world, groups_of_roles(policy)))


def check_theirs(world: World, person: Person, *theirs: QuotaRequest) -> None:
    """Whether somebody may accept, withdraw, extend or return one of these. Looked up before a transaction, never in
    it. Raises Refused, in the words about the last of them."""
    roles = roles_of_person(world, world.policies.policy, person)
    barred = [may_handle(roles, person, one, person_or_id(world, one.ask.requester).name) for one in theirs]
    if all(barred):
        raise Refused(barred[-1] or "")


def has_left(world: World, policy: Policy, request: QuotaRequest) -> bool:
    """Whether the requester is known to be in the team no more. An admin who asked for a team was never in it.

    Nobody left a team that is itself gone: whoever asked is then the only one to hear of it.
    """
    if policy.team(request.ask.team) is None:
        return False
    roles = roles_of_person(world, policy, person_or_id(world, request.ask.requester))
    return not (roles.admin or roles.unknown or request.ask.team in roles.teams)


def former_teams(world: World, policy: Policy) -> tuple[str, ...]:
    """Teams that asked once and that the policy does not name any more; admins still find what they have."""
    with world.store.read() as uow:
        return tuple(sorted(uow.requests.teams() - policy.teams.teams.keys()))


def open_loans(uow: UnitOfWork, cluster: str) -> list[Loan]:
    """All loans of a cluster that are not closed."""
    return [loan for loan in uow.loans.find(states=OPEN) if loan.cluster == cluster]


def request_facts(
    uow: UnitOfWork, ask: Ask, now: datetime, policy: Policy, number: int | None = None, extends: int | None = None
) -> RequestFacts:
    """What the team has on loan and asks for, beside this ask. `extends` is the loan that is to end later, if any."""
    queues = set(policy.queues_of(ask.team, ask.cluster)) | {ask.queue}
    open_loans = [loan for loan in uow.loans.find(states=OPEN, queues=queues) if loan.borrower in queues]
    recent = [loan for loan in uow.loans.find(queues=queues, since=now - WEEK) if loan.borrower in queues]
    loans = {loan.id: loan for loan in (*open_loans, *recent)}
    waiting = uow.requests.find(states={RequestState.WAITING}, teams={ask.team})
    extended = uow.loans.get(extends) if extends is not None else None
    return RequestFacts(now, ask, tuple(loans.values()), tuple(waiting), number, extended)
