"""What people hear of their loans after each look at the cluster: in force, not in force, ended, given back.

Called by flows/converge_quota when a plan has nothing left to write now. What was told is known by the notices' keys
and by `Loan.in_force_at`; telling again is harmless.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from bot.core.convergence.planner import Plan
from bot.core.errors import Stale
from bot.core.impact import Move
from bot.core.loans import Loan, LoanEnd, LoanState
from bot.core.notices import Notice, NoticeDraft
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest
from bot.core.standing import Blocker, LoanStanding, to_json
from bot.flows.begin_eviction import begin_eviction
from bot.flows.cards import owe_line, refresh_cards, tell_lender, tell_requester
from bot.flows.loan_standing import Live, Trouble, is_seen, standing_of
from bot.flows.own_card import own_card, shown
from bot.flows.why_late import LATE, Past, was_the_database, why_late
from bot.flows.work_above import with_work_above
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind
from bot.views.thread_lines import EventKind

LOOK_AGAIN = timedelta(seconds=1)
"""How soon to look whether Kueue's controller has seen a change."""
UNSAID = timedelta(days=60)
"""How far back a new leader looks for ends that were not told, by the start of the loan."""
PATIENCE = timedelta(seconds=20)
"""How long an approved loan may take before its requester hears that it waits."""
_CANNOT_RETURN = frozenset(
    {Blocker.IN_QUESTION, Blocker.AUTOMATED, Blocker.NO_RIGHT, Blocker.REFUSED, Blocker.PROPOSED}
)
_HARD = frozenset(Blocker) - {Blocker.IN_QUESTION, Blocker.SUSPENDED, Blocker.SHORT, Blocker.WAITS}


@dataclass(frozen=True, slots=True)
class _Story:
    """One loan with what is known of it now."""

    request: QuotaRequest
    loan: Loan
    standing: LoanStanding
    policy: Policy
    now: datetime
    seen: bool
    """Kueue's controller has seen the numbers of its queues."""
    stood: Blocker | None = None
    """What kept it when its people were told last."""
    past: Sequence[Past] = ()


@dataclass(slots=True)
class Told:
    """How each loan in force stood when it was told last, so that a look at which nothing is new asks the database for
    nothing more. Another epoch begins anew: somebody else may have led, and told, meanwhile."""

    epoch: int = 0
    standings: dict[int, LoanStanding] = field(default_factory=dict)
    closed: set[int] = field(default_factory=set)
    """Loans that convergence closed and whose end nobody has heard of yet."""

    def note_closed(self, plan: Plan) -> None:
        """A plan was stored. The look that tells may come later, when other queues have nothing to be written."""
        self.closed |= {loan.id for loan in plan.loans if loan.state is LoanState.CLOSED}

    def is_new(self, epoch: int) -> bool:
        """Whether this is the first look under an epoch."""
        if epoch == self.epoch:
            return False
        self.epoch, self.standings = epoch, {}
        return True

    def is_news(self, loan: Loan, standing: LoanStanding) -> bool:
        """Of a loan in force only its standing can be news; any other may have to be told because time has passed."""
        in_force = loan.state is LoanState.RUNNING and loan.in_force_at is not None
        return not in_force or self.standings.get(loan.id) != _stable(standing)


def tell_loans(world: World, epoch: int, plan: Plan, live: Live, told: Told) -> timedelta | None:
    """How soon to look again, None if nothing is expected to change by itself."""
    again = None
    if told.is_new(epoch):
        told.closed |= _left_unsaid(world)
    for loan in _loans(world, plan, live.picture.cluster, told.closed):
        figures = plan.figures.get(loan.id)
        standing = standing_of(loan, figures, live)
        seen = is_seen(loan, figures, live.picture)
        if loan.state is LoanState.RUNNING and standing.raised == loan.amount and not seen:
            again = LOOK_AGAIN
        if loan.state is LoanState.CLOSED:
            standing = with_work_above(world, loan, standing)
        if told.is_news(loan, standing) and _tell(world, epoch, loan.id, standing, seen, live.past):
            told.standings[loan.id] = _stable(standing)
            told.closed.discard(loan.id)
    return again


def tell_blocked(world: World, epoch: int, cluster: str, trouble: Trouble, told: Told) -> None:
    """The cluster cannot be asked or written: what waits for it says so, from what was known before.

    Also what should have started by now: nothing is planned, so nothing starts, while the cluster cannot be asked.
    """
    now = world.clock()
    with world.store.read() as uow:
        begun = uow.loans.find(states={LoanState.SCHEDULED, LoanState.RUNNING})
        loans = [one for one in begun if one.cluster == cluster and one.start <= now]
        known = {loan.id: shown(own_card(uow, loan.id)) for loan in loans}
    for loan in loans:
        before = known[loan.id]
        waiting = before is None or before.raised < loan.amount
        if waiting and loan.suspended is None:
            standing = before or LoanStanding(0, 0, Move(loan.borrower, None, None))
            told.standings.pop(loan.id, None)
            blocked = replace(standing, blocker=trouble.blocker, words=trouble.words, since=trouble.since)
            _tell(world, epoch, loan.id, blocked, seen=False)


def tell_after_start(world: World, epoch: int) -> None:
    """Nobody led for a while: the platform channel hears it once."""
    now = world.clock()
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        gap = uow.leadership.gap()
        if gap is None or gap[1] - gap[0] < LATE or was_the_database(uow, gap):
            return
        facts = {"since": gap[0].isoformat(), "until": gap[1].isoformat()}
        to = world.policies.policy.approvals.platform_channel
        uow.notices.owe_once(NoticeDraft(f"bot_was_down:{gap[1].isoformat()}", NoticeKind.BOT_WAS_DOWN, to, facts), now)
        uow.commit()


def _left_unsaid(world: World) -> set[int]:
    """Loans that the last leader closed and did not come to tell of."""
    with world.store.read() as uow:
        closed = uow.loans.find(states={LoanState.CLOSED}, since=world.clock() - UNSAID)
        return {loan.id for loan in closed if (card := own_card(uow, loan.id)) and not card.draft.facts.get("over")}


def _loans(world: World, plan: Plan, cluster: str, closed: Collection[int]) -> list[Loan]:
    """Open loans as they are stored now, and those that were closed since they were told of."""
    with world.store.read() as uow:
        begun = uow.loans.find(states={LoanState.SCHEDULED, LoanState.RUNNING, LoanState.RETURNING})
        ended = [loan for number in closed if (loan := uow.loans.get(number)) is not None]
    figures = plan.figures
    here = [loan for loan in begun if loan.cluster == cluster]
    over = [loan for loan in ended if loan.cluster == cluster]
    return [loan for loan in here if loan.id in figures or loan.state is LoanState.SCHEDULED] + over


def _tell(world: World, epoch: int, number: int, standing: LoanStanding, seen: bool, past: Sequence[Past] = ()) -> bool:
    """One loan, in one transaction; whether its people know now. Nothing is written when nothing is new."""
    with world.store.read() as uow:
        request, loan, card = uow.requests.get(number), uow.loans.get(number), own_card(uow, number)
    if request is None or loan is None:
        return False  # rebuilt from annotations: nobody is known to have asked for it
    if request.series is not None and loan.state is LoanState.SCHEDULED and loan.start > world.clock():
        return True  # its turn comes
    stood = before.blocker if (before := shown(card)) else None
    story = _Story(request, loan, standing, world.policies.policy, world.clock(), seen, stood, past)
    facts = _new_facts(story, card)
    if facts is None and not _is_news(story):
        return True
    try:
        with world.store.begin() as uow:
            uow.leadership.check(epoch)
            _owe(uow, story)
            if facts is not None:
                refresh_cards(uow, number, story.now, facts)
            uow.commit()
    except Stale:
        return False  # the loan changed since: the next look tells
    world.wake_delivery()
    return True


def _new_facts(story: _Story, card: Notice | None) -> dict[str, Any] | None:
    """Facts for the cards if what people see would change, were it only that the loan is over. Ageing is no change."""
    before, over = shown(card), story.loan.state is LoanState.RETURNING
    known = not over or bool(card and card.draft.facts.get("returning"))
    if known and before is not None and _stable(before) == _stable(story.standing):
        return None
    return {"standing": to_json(story.standing), "tried": story.now.isoformat(), "returning": over}


def _stable(standing: LoanStanding) -> LoanStanding:
    return replace(standing, free=None, read_at=None, above=0, above_workloads=(), since=None)


def _is_news(story: _Story) -> bool:
    loan = story.loan
    in_force = loan.state is LoanState.RUNNING and story.seen and story.standing.raised == loan.amount
    return (in_force and loan.in_force_at is None) or loan.state is LoanState.CLOSED or _waits(story)


def _waits(story: _Story) -> bool:
    loan, decided = story.loan, story.request.decided_at or story.now
    if loan.in_force_at is not None:
        return False
    if loan.state is LoanState.SCHEDULED and loan.start > story.now:
        return loan.start > decided and story.request.series is None  # of a series the decision said when
    blocked = story.standing.blocker in _HARD or story.now - max(loan.start, decided) > PATIENCE
    return loan.state in {LoanState.SCHEDULED, LoanState.RUNNING} and story.standing.raised < loan.amount and blocked


def _owe(uow: UnitOfWork, story: _Story) -> None:
    loan, now = story.loan, story.now
    facts: dict[str, Any] = {"standing": to_json(story.standing)}
    if loan.state is LoanState.CLOSED:
        _owe_end(uow, story, facts)
    elif loan.state is LoanState.RUNNING and loan.in_force_at is not None:
        _owe_not_in_force(uow, story, facts)
    elif loan.state is LoanState.RUNNING and story.standing.raised == loan.amount and story.seen:
        uow.loans.update(replace(loan, in_force_at=now))
        _owe_in_force(uow, story, facts)
    elif loan.state is LoanState.RETURNING and story.standing.lowered and story.standing.blocker in _CANNOT_RETURN:
        tell_lender(uow, story.policy, story.request, NoticeKind.LENDER_WAITS, now, facts)
    elif _waits(story):
        tell_requester(uow, story.request, NoticeKind.LOAN_WAITS, now, **facts)


def _owe_in_force(uow: UnitOfWork, story: _Story, facts: dict[str, Any]) -> None:
    loan, now = story.loan, story.now
    waited = uow.notices.get(f"{NoticeKind.LOAN_WAITS.value}:{loan.id}:{story.request.ask.requester}") is not None
    kind = NoticeKind.LOAN_IN_FORCE_LATER if waited else NoticeKind.LOAN_IN_FORCE
    late = _late(uow, story, loan.start)
    tell_requester(uow, story.request, kind, now, **facts, late=late)
    tell_lender(uow, story.policy, story.request, NoticeKind.LENDER_LENT, now, facts)
    owe_line(uow, story.policy, loan.id, EventKind.IN_FORCE, now)
    if late:
        refresh_cards(uow, loan.id, now, {"late": late})


def _owe_not_in_force(uow: UnitOfWork, story: _Story, facts: dict[str, Any]) -> None:
    why, in_full = story.standing.blocker, story.standing.raised >= story.loan.amount
    if why is not Blocker.AUTOMATED and (why is not Blocker.IN_QUESTION or in_full):
        return
    since = (story.standing.since or story.now).isoformat() if why is Blocker.IN_QUESTION else str(why)
    draft = NoticeDraft(
        f"{NoticeKind.NOT_IN_FORCE.value}:{story.loan.id}:{since}",
        NoticeKind.NOT_IN_FORCE,
        story.request.ask.requester,
        {**facts, "request": story.loan.id},
    )
    if uow.notices.owe_once(draft, story.now):
        owe_line(uow, story.policy, story.loan.id, EventKind.NOT_IN_FORCE, story.now, since)


def _owe_end(uow: UnitOfWork, story: _Story, facts: dict[str, Any]) -> None:
    loan, now = story.loan, story.now
    begin_eviction(uow, story.policy, story.request, loan)
    late = _late(uow, story, loan.end) if loan.end_reason is LoanEnd.ENDED else None
    if loan.in_force_at is not None:
        tell_requester(uow, story.request, NoticeKind.LOAN_ENDED, now, **facts, late=late)
        tell_lender(uow, story.policy, story.request, NoticeKind.LENDER_BACK, now, facts)
    if loan.in_force_at is not None or story.request.series is None:
        owe_line(uow, story.policy, loan.id, EventKind.ENDED, now)
    card = own_card(uow, loan.id)
    if card is not None and not card.draft.facts.get("over"):
        refresh_cards(uow, loan.id, now, {**facts, "late": late, "over": True})
        uow.notices.refresh(f"{NoticeKind.LOAN_ENDED.value}:{loan.id}:", now)  # an admin's end was told at once


def _late(uow: UnitOfWork, story: _Story, due: datetime) -> dict[str, Any] | None:
    if story.now - due < LATE:
        return None
    why = why_late(uow, due, story.past, story.stood)
    return {"at": story.now.isoformat(), "by": (story.now - due).total_seconds(), "why": why}
