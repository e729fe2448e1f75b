"""The requester, or a lead of the team, takes a request back before it is in force. Called by chat."""

from dataclasses import replace
from datetime import datetime

from bot.core.errors import Refused, Stale
from bot.core.loans import Loan, LoanEnd, LoanState
from bot.core.offers import OfferState
from bot.core.requests import AuditEntry, QuotaRequest, RequestState
from bot.flows.audited import refusals_audited
from bot.flows.cards import owe_line, refresh_copies, tell_requester
from bot.flows.close_offer import close_offer
from bot.flows.gather import check_theirs, person_of, request_of
from bot.flows.refused_with import RefusedWith
from bot.flows.stop_series import call_off
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind
from bot.views.refusals import being_changed, in_force_already
from bot.views.thread_lines import EventKind


def withdraw_request(world: World, number: int, user: str, arrival: str) -> QuotaRequest:
    """The request as it is now, of exactly this number: what a button says. Raises Refused; both are in the audit."""
    request = request_of(world, number)
    with refusals_audited(world, user, request.verb("withdraw"), request.subject):
        # Whose loan it is may take back what others want to add to it.
        theirs = [request] if request.extends is None else [request_of(world, request.extends), request]
        check_theirs(world, person_of(world, user), *theirs)
        return _take_back(world, number, user, arrival)


def meant_to_withdraw(world: World, number: int) -> int:
    """What somebody means who types this number: of a loan in force, the extension of it that waits, if there is one.

    Not so for a button. One that was drawn before the loan came into force must not take back what was asked since.
    """
    with world.store.read() as uow:
        loan = uow.loans.get(number)
        waiting = uow.requests.find(states={RequestState.WAITING}, extends=number)
    return waiting[0].id if waiting and loan is not None and loan.in_force_at is not None else number


def _take_back(world: World, number: int, user: str, arrival: str) -> QuotaRequest:
    now = world.clock()
    with world.store.begin() as uow:
        request = uow.requests.get(number)
        assert request is not None, "a request is never deleted"
        try:
            withdrawn = _withdraw(uow, request, user, now)
        except Stale:
            raise RefusedWith(being_changed(request.number, None)) from None
        uow.inbox.done(arrival)
        uow.audit.add(AuditEntry(now, user, request.verb("withdraw"), request.subject, "ok"))
        refresh_copies(uow, request, now, {"worse": None})
        stops = _is_running(request)
        owe_line(uow, world.policies.policy, number, EventKind.STOPPED if stops else EventKind.WITHDRAWN, now, who=user)
        if user != request.ask.requester:
            tell_requester(uow, withdrawn, NoticeKind.SERIES_STOPPED if stops else NoticeKind.WITHDRAWN, now)
        uow.commit()
    world.wake_delivery()
    world.wake_convergence()
    return withdrawn


def _withdraw(uow: UnitOfWork, request: QuotaRequest, user: str, now: datetime) -> QuotaRequest:
    if request.state is RequestState.WAITING:
        withdrawn = replace(
            request,
            state=RequestState.WITHDRAWN,
            decided_by=user,
            decided_at=now,
            revision=request.revision + 1,
        )
        stored = uow.requests.update(withdrawn)
        close_offer(uow, request.id, OfferState.VOID, user, now)
        return stored
    if _is_running(request):
        call_off(uow, request, LoanEnd.RETURNED, now)
        return request
    loan = uow.loans.get(request.id)
    if request.state is not RequestState.APPROVED or loan is None:
        raise Refused(f"{request.name} is {request.state.value} already.")
    _cancel(uow, loan, now)
    return request


def _is_running(request: QuotaRequest) -> bool:
    """Whether it is a series that was approved: what has not begun of it can be called off."""
    return request.ask.series is not None and request.state is RequestState.APPROVED


def _cancel(uow: UnitOfWork, loan: Loan, now: datetime) -> None:
    if loan.state in {LoanState.RETURNING, LoanState.CLOSED}:
        raise Refused(f"Q-{loan.id} is over already.")
    if loan.in_force_at is not None:
        raise RefusedWith(in_force_already(loan))
    uow.loans.update(replace(loan, state=LoanState.RETURNING, end_reason=LoanEnd.RETURNED, ended_at=now))
