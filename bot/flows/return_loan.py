"""Quota is given back before its end, all of it or a part. Called by chat; only changes the loan in the database."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from bot.core.errors import Refused, Stale
from bot.core.loans import Loan, LoanEnd, LoanState
from bot.core.requests import AuditEntry, QuotaRequest, RequestState
from bot.flows.answer_ask_back import settle_returned
from bot.flows.audited import refusals_audited
from bot.flows.cards import owe_line, refresh_cards, tell_requester
from bot.flows.gather import check_theirs, person_of, request_of
from bot.flows.refused_with import RefusedWith
from bot.flows.series import loan_meant
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind
from bot.views.refusals import being_changed
from bot.views.thread_lines import EventKind

Also = Callable[[UnitOfWork, datetime], None]
"""What is stored in the transaction of the return, before it. Raises Stale if somebody else was first."""


def return_loan(
    world: World, number: int, amount: int | None, user: str, arrival: str, also: Also = lambda _uow, _now: None
) -> tuple[Loan, int]:
    """`amount` None is all of it; of a series what runs or comes next. The loan as it is now, and how much goes back.
    Raises Refused; both are audited."""
    with refusals_audited(world, user, "return", f"Q-{number}"):
        return _return(world, loan_meant(world, number), amount, user, arrival, also)


def _return(world: World, number: int, amount: int | None, user: str, arrival: str, also: Also) -> tuple[Loan, int]:
    check_theirs(world, person_of(world, user), request_of(world, number))
    now = world.clock()
    with world.store.begin() as uow:
        request, loan = uow.requests.get(number), uow.loans.get(number)
        if request is None or loan is None:
            raise Refused(f"There is no loan Q-{number}.")
        returned = _returned(loan, amount, now)
        given = loan.amount if returned.state is LoanState.RETURNING else loan.amount - returned.amount
        try:
            also(uow, now)
            uow.loans.update(returned)
        except Stale:
            raise RefusedWith(being_changed(number, None)) from None
        uow.inbox.done(arrival)
        uow.audit.add(AuditEntry(now, user, "return", f"Q-{number}", str(given)))
        settle_returned(uow, number, given, user, now)
        refresh_cards(uow, number, now)
        for extension in uow.requests.find(states={RequestState.WAITING}, extends=number):
            refresh_cards(uow, extension.id, now)
        note = f"{given} of {loan.amount}" if given < loan.amount else ""
        owe_line(uow, world.policies.policy, number, EventKind.RETURNED, now, f"{loan.version}", who=user, note=note)
        if user != request.ask.requester:
            _tell_requester(uow, request, loan, returned, now)
        uow.commit()
    world.wake_delivery()
    world.wake_convergence()
    return returned, given


def _tell_requester(uow: UnitOfWork, request: QuotaRequest, before: Loan, after: Loan, now: datetime) -> None:
    """Each part by itself. The whole of a loan that was in force is told when its quota is lowered."""
    if after.state is not LoanState.RETURNING:
        tell_requester(uow, request, NoticeKind.LOAN_RETURNED, now, f"{before.version}", returned_at=now.isoformat())
    elif before.in_force_at is None:
        tell_requester(uow, request, NoticeKind.WITHDRAWN, now)


def _returned(loan: Loan, amount: int | None, now: datetime) -> Loan:
    if loan.state in {LoanState.RETURNING, LoanState.CLOSED}:
        raise Refused(f"Q-{loan.id} is over already.")
    if amount is not None and not 1 <= amount <= loan.amount:
        raise Refused(f"Q-{loan.id} has {loan.amount} on loan: return 1 to {loan.amount}.")
    if amount is None or amount == loan.amount:
        return replace(loan, state=LoanState.RETURNING, end_reason=LoanEnd.RETURNED, ended_at=now)
    return replace(loan, amount=loan.amount - amount)
