"""What one person's Home tab says, from the database, Slack and a look at the clusters. Called by flows/publish_home.

Only what the person may see anyway: their own requests and loans, what they may decide now, what teams they lead have
on loan and have lent, what teams they are in use.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.core.convergence.findings import field_path
from bot.core.errors import Rejected, Unavailable
from bot.core.home_tab import asked_as
from bot.core.loans import Loan, LoanState
from bot.core.membership import (
    OUTSIDER,
    Allowed,
    Groups,
    Roles,
    groups_of_roles,
    groups_of_steps,
    may_approve,
    open_step,
    roles_of,
)
from bot.core.messages import Home, MessageRef
from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest, RequestState
from bot.flows.card_facts import Stored, card_facts, stored
from bot.flows.cards import channel_card
from bot.flows.gather import look_up_groups, person_of, person_or_id
from bot.flows.live_team_use import Looks, live_use_of
from bot.flows.look_up import pause_of
from bot.flows.who_may_decide import with_escalations
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.answers.status import TeamStatus
from bot.views.home import MOST_EACH, AskedFor, HomeFacts, OpenEdit, ToDecide, closed_home, home

_BEGUN = frozenset({LoanState.SCHEDULED, LoanState.RUNNING})


@dataclass(frozen=True, slots=True)
class _Reader:
    """Whose tab it is."""

    person: Person
    policy: Policy
    roles: Roles
    groups: Groups


def home_of(looks: Looks, user: str) -> Home:
    """As it is now. Raises Refused when Slack does not say who this is, Unavailable (database)."""
    world = looks.world
    policy, person = world.policies.policy, person_of(world, user)
    if not person.full_member:
        return closed_home(OUTSIDER, world.clock())
    groups = look_up_groups(world, groups_of_roles(policy))
    reader = _Reader(person, policy, roles_of(policy, person, groups), groups)
    used = live_use_of(looks, policy, reader.roles.teams)
    decide, team = _to_decide(world, reader), _of_teams(world, reader)
    return home(
        HomeFacts(
            read_at=used.read_at,
            decide=[_decide_row(world, reader, one) for one in decide[:MOST_EACH]],
            decide_left=len(decide[MOST_EACH:]),
            edits=_edits(world) if reader.roles.admin else (),
            asked_back=_asked_back(world, reader),
            own=[card_facts(world, one) for one in _own(world, user)],
            team_loans=[card_facts(world, one) for one in team[:MOST_EACH]],
            team_left=len(team[MOST_EACH:]),
            lent=_lent(world, reader),
            teams=[TeamStatus(name, tuple(used.uses[name])) for name in reader.roles.teams],
            leads=bool(reader.roles.leads),
            admin=reader.roles.admin,
            in_no_team=not reader.roles.teams,
            trouble=(*used.trouble, *_unsure(reader.roles)),
            pause=pause_of(world),
            observe=world.observe_only,
        )
    )


def _unsure(roles: Roles) -> tuple[str, ...]:
    """A user group that could not be looked up might have made it more."""
    return ("Slack did not say who is in every user group, so some of it may be missing",) if roles.unknown else ()


def _own(world: World, user: str) -> list[Stored]:
    """What waits, and what has a loan that is not over; of a loan that ends later, the loan."""
    with world.store.read() as uow:
        waiting = uow.requests.find(states={RequestState.WAITING}, requester=user)
        mine = sorted((*waiting, *uow.home_tabs.on_loan(user)), key=lambda one: (one.created_at, one.id), reverse=True)
        return _stored(uow, mine)


def _stored(uow: UnitOfWork, requests: Iterable[QuotaRequest]) -> list[Stored]:
    return [found for one in requests if (found := stored(uow, one.id)) is not None]


def _of_teams(world: World, reader: _Reader) -> list[Stored]:
    """Loans of teams that they lead, but for their own."""
    with world.store.read() as uow:
        theirs = uow.home_tabs.on_loan(teams=reader.roles.leads)
        return _stored(uow, (one for one in theirs if one.ask.requester != reader.person.id))


def _to_decide(world: World, reader: _Reader) -> list[QuotaRequest]:
    """Steps that are open now and that a press of theirs would count for, the oldest first."""
    policy, person = reader.policy, reader.person
    with world.store.read() as uow:
        waiting = uow.home_tabs.waiting_for(asked_as(policy, person, reader.groups))
        asked = [(with_escalations(uow, policy, one), uow.requests.approvals(one.id)) for one in waiting]
    groups = look_up_groups(world, {name for one, _ in asked for name in groups_of_steps(policy, one.steps)})
    return [
        one
        for one, approvals in asked
        if open_step(one.steps, approvals) is not None
        and isinstance(may_approve(policy, person, one, approvals, groups), Allowed)
    ]


def _decide_row(world: World, reader: _Reader, request: QuotaRequest) -> ToDecide:
    with world.store.read() as uow:
        found, ref = stored(uow, request.id), _card_ref(uow, reader, request)
    assert found is not None
    return ToDecide(card_facts(world, found), _link(world, ref))


def _card_ref(uow: UnitOfWork, reader: _Reader, request: QuotaRequest) -> MessageRef | None:
    """Their own copy, or the one in the approvals channel."""
    for to in (reader.person.id, reader.policy.approvals.approvals_channel):
        card = uow.notices.get(channel_card(request.id, to))
        if card is not None and card.ref is not None:
            return card.ref
    return None


def _link(world: World, ref: MessageRef | None) -> str | None:
    """A row without a link is still a row."""
    if ref is None:
        return None
    try:
        return world.chat.permalink(ref)
    except (Unavailable, Rejected):
        return None


def _edits(world: World) -> list[OpenEdit]:
    with world.store.read() as uow:
        found = [one for cluster in world.clusters for one in _edits_on(uow, cluster)]
    return [OpenEdit(one.queue, one.flavor, one.live, one.expected, one.since, _link(world, ref)) for one, ref in found]


def _edits_on(uow: UnitOfWork, cluster: str) -> Iterator[tuple[OpenEdit, MessageRef | None]]:
    """Each with the newest message about it."""
    for key, record in uow.fields.records(cluster).items():
        if record.question is not None:
            notice = uow.notices.latest(f"edit:{field_path(key)}:")
            edit = OpenEdit(key.queue, key.flavor, record.question.live, record.wrote, record.question.since)
            yield edit, notice.ref if notice else None


def _asked_back(world: World, reader: _Reader) -> list[AskedFor]:
    """Of loans that they may keep or return."""
    with world.store.read() as uow:
        asks = [(one, uow.requests.get(one.loan), uow.loans.get(one.loan)) for one in uow.ask_backs.waiting()]
    return [
        AskedFor(ask, loan, person_or_id(world, ask.who))
        for ask, request, loan in asks
        if request is not None and loan is not None and loan.ended_at is None and _handles(reader, request)
    ]


def _handles(reader: _Reader, request: QuotaRequest) -> bool:
    return request.ask.requester == reader.person.id or request.ask.team in reader.roles.leads


def _lent(world: World, reader: _Reader) -> Sequence[Loan]:
    """By teams that they lead."""
    policy = reader.policy
    places = {
        (name, queue)
        for name in world.clusters
        for team in reader.roles.leads
        for queue in policy.queues_of(team, name)
    }
    if not places:
        return ()
    with world.store.read() as uow:
        loans = uow.loans.find(states=_BEGUN, queues={queue for _, queue in places})
    return sorted((one for one in loans if (one.cluster, one.lender) in places), key=lambda one: (one.end, one.id))
