"""Let a loan end later: the sibling of grant_loan for requests that extend a loan.

Called by flows/record_decision and flows/submit_request in their transactions. Nothing but the loan's end changes;
convergence brings it into the annotation.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from bot.core.durations import compact_duration, format_duration
from bot.core.errors import Refused, Stale
from bot.core.loans import Loan, LoanState
from bot.core.notices import NoticeDraft
from bot.core.policy import Policy
from bot.core.requests import Ask, QuotaRequest, RequestState
from bot.flows.cards import owe_line, refresh_cards
from bot.flows.grant_loan import grant_loan
from bot.flows.refused_with import RefusedWith
from bot.flows.series import following
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind
from bot.views.refusals import extension_waits
from bot.views.thread_lines import EventKind


def grant(uow: UnitOfWork, policy: Policy, request: QuotaRequest, by: str, now: datetime) -> QuotaRequest:
    """Give what a waiting request asks for: a loan, or more time with one. Raises Stale, Refused."""
    if request.extends is None:
        return grant_loan(uow, request, by, now)
    loan = live_loan(uow, request.extends, now)
    until = request.ask.until
    if until is None or loan.end != request.ask.start:
        raise Refused(f"The end of {request.subject} has changed since this was asked. Ask again.")
    _check_next(uow, loan, until)
    stored = uow.requests.update(
        replace(request, state=RequestState.APPROVED, decided_by=by, decided_at=now, revision=request.revision + 1)
    )
    uow.loans.update(replace(loan, end=until))
    _tell(uow, policy, stored, until - loan.end, now)
    return stored


def extendable(uow: UnitOfWork, number: int, now: datetime) -> Loan:
    """A loan whose end can still be moved, and of which no extension waits. Raises Refused."""
    loan = live_loan(uow, number, now)
    waiting = uow.requests.find(states={RequestState.WAITING}, extends=number)
    if waiting:
        raise RefusedWith(extension_waits(waiting[0]))
    return loan


def live_loan(uow: UnitOfWork, number: int, now: datetime) -> Loan:
    """A loan whose end can still be moved. Raises Refused."""
    loan = uow.loans.get(number)
    if loan is None:
        raise Refused(f"There is no loan Q-{number}.")
    if loan.state in {LoanState.RETURNING, LoanState.CLOSED} or loan.end <= now:
        raise Refused(f"Q-{number} is over already. To get it again make a new request.")
    if loan.suspended is not None:
        raise Refused(f"Q-{number} is suspended, so there is nothing to extend: {loan.suspended}. Make a new request.")
    return loan


def check_extension(uow: UnitOfWork, ask: Ask, number: int, now: datetime) -> None:
    """In the transaction that stores it: the loan is still as it was looked at. Raises Refused, Stale."""
    loan = extendable(uow, number, now)
    if loan.end != ask.start:
        raise Stale(f"loan {number} ends at another time now")
    if ask.until is not None:
        _check_next(uow, loan, ask.until)


def _check_next(uow: UnitOfWork, loan: Loan, until: datetime) -> None:
    """One time of a series may not run into the next, which brings the same quota. Raises Refused."""
    after = following(uow, loan)
    if after is None or until <= after.start:
        return
    room = after.start - loan.end
    if room < timedelta(minutes=1):
        raise Refused(
            f"Q-{after.id}, the next of its series, begins when Q-{loan.id} ends: there is nothing to extend."
        )
    most = f"extend Q-{loan.id} by {compact_duration(room)}"
    raise Refused(f"That runs into Q-{after.id}, the next of its series. Say at most {most}.")


def _tell(uow: UnitOfWork, policy: Policy, request: QuotaRequest, by_how_much: timedelta, now: datetime) -> None:
    """Whoever asked and whose loan it is; and every message that says until when it lasts."""
    first = uow.requests.get(request.number)
    for to in dict.fromkeys((request.ask.requester, *((first.ask.requester,) if first else ()))):
        key = f"{NoticeKind.LOAN_EXTENDED.value}:{request.id}:{to}"
        uow.notices.owe_once(NoticeDraft(key, NoticeKind.LOAN_EXTENDED, to, {"request": request.id}), now)
    refresh_cards(uow, request.number, now)
    uow.notices.refresh(f"{NoticeKind.LENDER_LENT.value}:{request.number}:", now)
    note = f"by {format_duration(by_how_much)}"
    owe_line(uow, policy, request.number, EventKind.EXTENDED, now, f"{request.id}", note=note)
