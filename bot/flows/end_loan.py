"""An admin ends somebody's loan before its time. Called by chat; only changes the loan in the database."""

from dataclasses import replace
from datetime import datetime

from bot.core.errors import Refused, Stale
from bot.core.loans import Loan, LoanEnd, LoanState
from bot.core.membership import OUTSIDER, Roles, lookup_failed
from bot.core.people import Person
from bot.core.requests import AuditEntry
from bot.flows.audited import refusals_audited
from bot.flows.cards import refresh_cards, tell_requester
from bot.flows.gather import person_of, roles_of_person
from bot.flows.refused_with import RefusedWith
from bot.flows.world import World
from bot.views.kinds import NoticeKind
from bot.views.refusals import being_changed


def end_loan(world: World, number: int, words: str, user: str, arrival: str) -> Loan:
    """The loan as it is now. `words` go to the requester as they are. Raises Refused."""
    with refusals_audited(world, user, "refused end", f"Q-{number}"):  # "end" in the audit is one that counted
        return _end(world, number, words, user, arrival)


def _end(world: World, number: int, words: str, user: str, arrival: str) -> Loan:
    may_end(world, user)
    now = world.clock()
    with world.store.begin() as uow:
        request, loan = uow.requests.get(number), uow.loans.get(number)
        if loan is None:
            raise Refused(f"There is no loan Q-{number}.")
        try:
            ended = uow.loans.update(_ended(loan, now))
        except Stale:
            raise RefusedWith(being_changed(number, None)) from None
        uow.inbox.done(arrival)
        uow.audit.add(AuditEntry(now, user, "end", f"Q-{number}", words or "ok"))
        refresh_cards(uow, number, now)
        if request is not None:  # else rebuilt from annotations: nobody is known to have asked for it
            tell_requester(uow, request, NoticeKind.LOAN_ENDED, now)
        uow.commit()
    world.wake_delivery()
    world.wake_convergence()
    return ended


def may_end(world: World, user: str) -> None:
    """Raises Refused for whoever is no admin."""
    person, policy = person_of(world, user), world.policies.policy
    barred = _barred(roles_of_person(world, policy, person), person, policy.approvals.admins)
    if barred:
        raise Refused(barred)


def _barred(roles: Roles, person: Person, admins: str) -> str | None:
    if not person.full_member:
        return OUTSIDER
    if roles.admin:
        return None
    if roles.unknown:
        return lookup_failed(roles.unknown)
    return f"Only {admins} can end somebody's loan. Of your own loans you can return quota."


def _ended(loan: Loan, now: datetime) -> Loan:
    if loan.state in {LoanState.RETURNING, LoanState.CLOSED}:
        raise Refused(f"Q-{loan.id} is over already.")
    return replace(loan, state=LoanState.RETURNING, end_reason=LoanEnd.ENDED_BY_ADMIN, ended_at=now)
