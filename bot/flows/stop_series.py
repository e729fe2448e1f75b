"""A series is stopped: what has not begun is called off. By its requester or a lead what runs goes on until its end; an
admin's end is for all of it.

`call_off` is for flows/withdraw_request in its transaction; chat calls `end_series` for an admin.
"""

from dataclasses import replace
from datetime import datetime

from bot.core.errors import Refused, Stale
from bot.core.loans import Loan, LoanEnd, LoanState
from bot.core.requests import AuditEntry, QuotaRequest, RequestState
from bot.core.series import times
from bot.flows.audited import refusals_audited
from bot.flows.cards import owe_line, refresh_cards, tell_requester
from bot.flows.end_loan import may_end
from bot.flows.refused_with import RefusedWith
from bot.flows.series import times_of
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind
from bot.views.refusals import being_changed, in_force_already
from bot.views.thread_lines import EventKind


def call_off(uow: UnitOfWork, request: QuotaRequest, why: LoanEnd, now: datetime) -> int:
    """How many times are called off: those that were never in force. Raises Refused if there are none, Stale."""
    left = times_of(uow, request).left
    to_come = [loan for loan in left if loan.in_force_at is None]
    if left and not to_come:
        raise RefusedWith(in_force_already(left[0]))
    if not to_come:
        raise Refused(f"{request.name} is over already.")
    for loan in to_come:
        uow.loans.update(_over(loan, why, now))
    return len(to_come)


def repeats(world: World, number: int) -> bool:
    """Whether a number is that of a series."""
    with world.store.read() as uow:
        request = uow.requests.get(number)
    return request is not None and request.ask.series is not None and request.state is RequestState.APPROVED


def end_series(world: World, number: int, words: str, user: str, arrival: str) -> str:
    """An admin ends what runs of it and calls off the rest; what to tell them. Raises Refused."""
    with refusals_audited(world, user, "refused end", f"Q-{number}"):
        may_end(world, user)
        try:
            return _end(world, number, words, user, arrival)
        except Stale:
            raise RefusedWith(being_changed(number, None)) from None


def _end(world: World, number: int, words: str, user: str, arrival: str) -> str:
    now, policy = world.clock(), world.policies.policy
    with world.store.begin() as uow:
        request = uow.requests.get(number)
        left = times_of(uow, request).left if request is not None else ()
        if request is None or not left:
            raise Refused(f"Q-{number} is over already.")
        held = [_ended(uow, request, loan, words, user, now) for loan in left if loan.in_force_at is not None]
        to_come = [uow.loans.update(_over(loan, LoanEnd.ENDED_BY_ADMIN, now)) for loan in left if not loan.in_force_at]
        uow.inbox.done(arrival)
        uow.audit.add(AuditEntry(now, user, "end", f"Q-{number}", words or "ok"))
        refresh_cards(uow, number, now)
        owe_line(uow, policy, number, EventKind.STOPPED, now, who=user, note=f"{times(len(to_come))} called off")
        if to_come:
            tell_requester(uow, request, NoticeKind.SERIES_STOPPED, now)
        uow.commit()
    world.wake_delivery()
    world.wake_convergence()
    runs = " What was in force goes back. Work that runs is not stopped." if held else ""
    return f"Q-{number} is ended: {times(len(to_come))} called off.{runs}"


def _ended(uow: UnitOfWork, request: QuotaRequest, loan: Loan, words: str, user: str, now: datetime) -> Loan:
    """What runs, as with the end of any loan."""
    ended = uow.loans.update(_over(loan, LoanEnd.ENDED_BY_ADMIN, now))
    uow.audit.add(AuditEntry(now, user, "end", f"Q-{loan.id}", words or "ok"))
    own = uow.requests.get(loan.id)
    tell_requester(uow, own or request, NoticeKind.LOAN_ENDED, now)
    return ended


def _over(loan: Loan, why: LoanEnd, now: datetime) -> Loan:
    return replace(loan, state=LoanState.RETURNING, end_reason=why, ended_at=now)
