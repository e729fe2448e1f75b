"""Answers to `status` and `list`, and what "my loan" means when no number was said. Reads only; called by chat."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from bot.core.errors import Refused
from bot.core.loans import Loan, LoanState
from bot.core.membership import Roles
from bot.core.pause import Pause
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest, RequestState
from bot.flows.card_facts import card_facts, stored
from bot.flows.gather import former_teams, person_of, roles_of_person
from bot.flows.live_team_use import Looks, live_use_of
from bot.flows.series import loan_meant, times_of
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.answers.requests_list import MOST_ROWS, ListFacts
from bot.views.answers.status import QueueUse, StatusFacts, TeamStatus
from bot.views.facts import CardFacts

ROWS = 10
"""Rows of `list`. One's own that are open are shown beyond it."""
MOST_OVER = 60
"""The newest of what is over that `list closed` looks at."""
DENIED_STAYS = timedelta(days=30)
_BEGUN = frozenset({LoanState.SCHEDULED, LoanState.RUNNING})


def own_loans(world: World, user: str) -> tuple[Loan, ...]:
    """Loans of this person that are not over."""
    with world.store.read() as uow:
        mine = uow.requests.find_open(requester=user)
        loans = [loan for request in mine if (loan := _loan(uow, request)) is not None]
    return tuple(loan for loan in loans if loan.state in _BEGUN)


def _loan(uow: UnitOfWork, request: QuotaRequest) -> Loan | None:
    """Of a series what runs or comes next."""
    return uow.loans.get(request.id) if request.ask.series is None else times_of(uow, request).shown


def loan_of(world: World, number: int) -> Loan:
    """A loan that is not over; of a series what runs or comes next. Raises Refused."""
    number = loan_meant(world, number)
    with world.store.read() as uow:
        loan = uow.loans.get(number)
    if loan is None:
        raise Refused(f"There is no loan Q-{number}.")
    if loan.state not in _BEGUN:
        raise Refused(f"Q-{number} is over already.")
    return loan


def requests_to_withdraw(world: World, user: str) -> tuple[QuotaRequest, ...]:
    """Requests and extensions of this person that are not in force."""
    with world.store.read() as uow:
        mine = uow.requests.find_open(requester=user)
        loans = {request.id: _not_begun(uow, request) for request in mine}
    return tuple(request for request in mine if _can_withdraw(request, loans[request.id]))


def _not_begun(uow: UnitOfWork, request: QuotaRequest) -> Loan | None:
    """Of a series the last one, if any is still to come."""
    if request.ask.series is None:
        return uow.loans.get(request.id)
    left = times_of(uow, request).left
    return left[-1] if left else None


def _can_withdraw(request: QuotaRequest, loan: Loan | None) -> bool:
    if request.state is RequestState.WAITING:
        return True
    return loan is not None and loan.state in _BEGUN and loan.in_force_at is None


def status_facts(world: World, user: str, team: str | None) -> StatusFacts:
    """Own teams, or one that may be seen. Raises Refused."""
    policy, roles = _who(world, user)
    former = former_teams(world, policy) if roles.admin else ()
    teams = (team,) if team in former else _teams(policy, roles, team)
    used = live_use_of(Looks(world), policy, teams)
    rows = _open_ones(world, teams)
    return StatusFacts(
        tuple(_team(name, rows, used.uses[name]) for name in teams),
        used.read_at,
        used.trouble,
        pause_of(world),
    )


def list_facts(world: World, user: str, scope: str | None, *, closed: bool) -> ListFacts:
    """The asker's own and their teams' by default; what is over only with `closed`. Raises Refused.

    What is open comes first, and of that the asker's own: all of these are shown, however many others there are.
    """
    _, roles = _who(world, user)
    everybodys = roles.admin and scope in {"all", "waiting"}  # those of former teams too
    teams: Collection[str] | None = None if everybodys else () if scope == "mine" else roles.teams
    now, what = world.clock(), {"mine": "yours", "waiting": "waiting", "all": "all"}.get(scope or "")
    with world.store.read() as uow:
        going_on = _both(uow.requests.find_open(requester=user), uow.requests.find_open(teams=teams))
        if scope == "waiting":
            going_on = [one for one in going_on if one.state is RequestState.WAITING]
        over = [] if scope == "waiting" else _over(uow, user, teams, since=None if closed else now - DENIED_STAYS)
        own = [one for one in going_on if one.ask.requester == user]
        rest = [*(one for one in going_on if one not in own), *(one for one in over if one not in going_on)]
        shown = [*own[:MOST_ROWS], *rest[: max(0, ROWS - len(own))]]
        rows = [row for one in shown if (row := stored(uow, one.id)) is not None]
    cut = f", what is open and the newest {MOST_OVER}" if len(over) >= MOST_OVER else ""
    return ListFacts(
        tuple(card_facts(world, row) for row in rows),
        (what or "yours and your teams'") + cut,
        now,
        filtered=scope is not None or closed,
        left=len(own) + len(rest) - len(rows),
    )


def _over(uow: UnitOfWork, user: str, teams: Collection[str] | None, *, since: datetime | None) -> list[QuotaRequest]:
    """The newest. With `since` only what was denied after it, which people look for; the rest is history then."""
    states = None if since is None else {RequestState.DENIED}
    found = _both(
        uow.requests.find(requester=user, states=states, limit=MOST_OVER),
        uow.requests.find(teams=teams, states=states, limit=MOST_OVER),
    )[:MOST_OVER]
    return [one for one in found if since is None or (one.decided_at is not None and one.decided_at >= since)]


def _both(own: Sequence[QuotaRequest], teams: Sequence[QuotaRequest]) -> list[QuotaRequest]:
    """Each once, the newest first."""
    found = {one.id: one for one in (*own, *teams) if _is_a_row(one)}
    return [found[number] for number in sorted(found, reverse=True)]


def pause_of(world: World) -> Pause | None:
    """Whether quota changes are paused now."""
    with world.store.read() as uow:
        return uow.pauses.get()


def _who(world: World, user: str) -> tuple[Policy, Roles]:
    policy = world.policies.policy
    return policy, roles_of_person(world, policy, person_of(world, user))


def _teams(policy: Policy, roles: Roles, team: str | None) -> tuple[str, ...]:
    if team is None:
        return roles.teams
    if team not in policy.teams.teams or not (roles.admin or team in roles.teams):
        raise Refused(f"No team {team} that you can see.")
    return (team,)


def _open_ones(world: World, teams: Collection[str]) -> Sequence[CardFacts]:
    """All of them: what runs must not give way to what was asked for since."""
    with world.store.read() as uow:
        found = uow.requests.find_open(teams=teams)
        rows = [row for request in found if _is_a_row(request) and (row := stored(uow, request.id)) is not None]
    return [card_facts(world, row) for row in rows]


def _is_a_row(request: QuotaRequest) -> bool:
    """A decided extension shows in its loan's end."""
    return request.extends is None or request.state is RequestState.WAITING


def _team(name: str, rows: Sequence[CardFacts], uses: Sequence[QueueUse]) -> TeamStatus:
    mine = [row for row in rows if row.request.ask.team == name]
    return TeamStatus(
        name,
        tuple(uses),
        tuple(row for row in mine if row.request.state is RequestState.WAITING),
        tuple(
            row for row in mine if row.request.extends is None and row.loan and row.loan.state is not LoanState.CLOSED
        ),
    )
