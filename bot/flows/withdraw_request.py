"""The requester, or a lead of the team, takes a request back before it is in force. Called by chat."""

from dataclasses import replace
from datetime import datetime

from bot.core.errors import Refused, Stale
from bot.core.loans import Loan, LoanEnd, LoanState
from bot.core.membership import may_handle
from bot.core.offers import OfferState
from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.requests import AuditEntry, QuotaRequest, RequestState
from bot.flows.audited import refusals_audited
from bot.flows.cards import owe_line, refresh_copies, tell_requester
from bot.flows.close_offer import close_offer
from bot.flows.gather import person_of, person_or_id, request_of, roles_of_person
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
    person = person_of(world, user)
    policy = world.policies.policy
    barred = _barred(world, policy, request_of(world, number), person)
    now = world.clock()
    with world.store.begin() as uow:
        request = uow.requests.get(number)
        if request is None:
            raise Refused(f"There is no Q-{number}.")
        if barred:
            raise Refused(barred)
        try:
            withdrawn = _withdraw(uow, request, user, now)
        except Stale:
            raise RefusedWith(being_changed(request.number, None)) from None
        uow.inbox.done(arrival)
        uow.audit.add(AuditEntry(now, user, request.verb("withdraw"), request.subject, "ok"))
        refresh_copies(uow, request, now, {"worse": None})
        stops = _is_running(request)
        owe_line(uow, policy, number, EventKind.STOPPED if stops else EventKind.WITHDRAWN, now, who=user)
        if user != request.ask.requester:
            tell_requester(uow, withdrawn, NoticeKind.SERIES_STOPPED if stops else NoticeKind.WITHDRAWN, now)
        uow.commit()
    world.wake_delivery()
    world.wake_convergence()
    return withdrawn


def _barred(world: World, policy: Policy, request: QuotaRequest, person: Person) -> str | None:
    """Why they may not; None if they may. Whose loan it is may take back what others want to add to it."""
    roles = roles_of_person(world, policy, person)
    theirs = [request] if request.extends is None else [request_of(world, request.extends), request]
    barred = [may_handle(roles, person, one, person_or_id(world, one.ask.requester).name) for one in theirs]
    return barred[-1] if all(barred) else None


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
