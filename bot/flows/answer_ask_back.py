"""What comes of a loan that was asked back: it is kept, returned, over, or nobody answers. The one who asked hears it.

`keep_loan` is called by chat, `settle_returned` by flows/return_loan in its transaction, `close_ask_backs` by the
leader's timetable. None of them changes the loan.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.core.ask_backs import ANSWER_WITHIN, AskBack, AskBackState
from bot.core.errors import Refused, Stale
from bot.core.loans import Loan
from bot.core.notices import NoticeDraft
from bot.core.requests import AuditEntry
from bot.flows.ask_back import message_prefix
from bot.flows.audited import refusals_audited
from bot.flows.cards import owe_line
from bot.flows.gather import check_theirs, person_of, request_of
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind
from bot.views.thread_lines import EventKind

_SETTLED = {
    AskBackState.KEPT: "That was answered already: it is kept.",
    AskBackState.RETURNED: "That was answered already: quota was returned.",
    AskBackState.UNANSWERED: "The time to answer is over. The loan stays until its end anyway.",
    AskBackState.OVER: "The loan is over already.",
}


def keep_loan(world: World, ask_id: int, user: str, arrival: str) -> Loan:
    """The borrower keeps it; the loan. Raises Refused; both are in the audit."""
    with world.store.read() as uow:
        ask = uow.ask_backs.get(ask_id)
    if ask is None:
        raise Refused("Nobody asked for that.")
    with refusals_audited(world, user, "keep loan", f"Q-{ask.loan}"):
        return _keep(world, ask, user, arrival)


def _keep(world: World, ask: AskBack, user: str, arrival: str) -> Loan:
    check_theirs(world, person_of(world, user), request_of(world, ask.loan))
    if user == ask.who:
        raise Refused("You asked for it: somebody else answers.")
    now = world.clock()
    with world.store.begin() as uow:
        ask, loan = uow.ask_backs.get(ask.id) or ask, uow.loans.get(ask.loan)
        assert loan is not None, "what is asked back is a loan"
        if ask.state is not AskBackState.OPEN:
            raise Refused(_SETTLED[ask.state])
        if loan.ended_at is not None:
            raise Refused(_SETTLED[AskBackState.OVER])
        uow.inbox.done(arrival)
        _settle(uow, replace(ask, state=AskBackState.KEPT, settled_by=user, settled_at=now))
        uow.audit.add(AuditEntry(now, user, "keep loan", f"Q-{loan.id}", "ok"))
        owe_line(uow, world.policies.policy, loan.id, EventKind.KEPT_LOAN, now, str(ask.id), who=user)
        uow.commit()
    world.wake_delivery()
    return loan


def settle_returned(uow: UnitOfWork, loan: int, given: int, by: str, now: datetime) -> None:
    """Quota went back, all of it or a part: that is an answer. Raises Stale."""
    for ask in uow.ask_backs.of(loan):
        if ask.state is AskBackState.OPEN:
            state = AskBackState.RETURNED
            _settle(uow, replace(ask, state=state, settled_by=by, settled_at=now, given=given))


def close_ask_backs(world: World, epoch: int) -> timedelta | None:
    """Those whose loan is over, and those that nobody answered in time. Raises NotLeader, Unavailable (database)."""
    now = world.clock()
    with world.store.read() as uow:
        waiting = [(ask, uow.loans.get(ask.loan)) for ask in uow.ask_backs.waiting()]
    for ask, loan in waiting:
        over = loan is None or loan.ended_at is not None
        if over or ask.at + ANSWER_WITHIN <= now:
            _close(world, epoch, replace(ask, state=AskBackState.OVER if over else AskBackState.UNANSWERED))
    return None


def _close(world: World, epoch: int, ask: AskBack) -> None:
    now = world.clock()
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        try:
            _settle(uow, replace(ask, settled_at=now))
        except Stale:
            return  # somebody answered meanwhile
        uow.audit.add(AuditEntry(now, "bot", "close ask-back", f"Q-{ask.loan}", ask.state.value))
        uow.commit()
    world.wake_delivery()


def _settle(uow: UnitOfWork, settled: AskBack) -> None:
    """Store it; the borrower's messages follow, and the one who asked hears it. The end of a loan they hear anyway."""
    ask = uow.ask_backs.update(settled)
    assert ask.settled_at is not None
    uow.notices.refresh(message_prefix(ask), ask.settled_at)
    if ask.state is not AskBackState.OVER:
        kind = NoticeKind.ASK_BACK_ANSWERED
        key = f"{kind.value}:{ask.loan}:{ask.id}.:{ask.who}"
        uow.notices.owe_once(NoticeDraft(key, kind, ask.who, {"ask_back": ask.id}), ask.settled_at)
