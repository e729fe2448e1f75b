"""Return and Keep under the message about an idle loan. Called by chat/idle.

Return is judged by what is unused at the press: it gives back what its button says, or nothing and asks again with the
number of now. The return and the answered question are one transaction.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from bot.core.errors import Refused, Stale
from bot.core.idle_loans import IdleOffer, IdleState, lowered
from bot.core.loans import Loan, LoanState
from bot.core.requests import AuditEntry
from bot.flows.audited import refusals_audited
from bot.flows.gather import check_theirs, person_of, request_of
from bot.flows.live_use import live_use
from bot.flows.offer_idle import idle_prefix
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.return_loan import return_loan
from bot.flows.world import World
from bot.ports.store import UnitOfWork


@dataclass(frozen=True, slots=True)
class IdlePress:
    """One press. `revision` is that of the message pressed, -1 if it had none."""

    offer: int
    revision: int
    user: str
    origin: str
    """Inbox key."""


def return_idle(world: World, press: IdlePress) -> tuple[Loan, int]:
    """As flows/return_loan. Raises Refused, also where less is unused by now; all are in the audit."""
    offer, loan = _offer(world, press.offer)
    with refusals_audited(world, press.user, "return", f"Q-{loan.id}"):
        check_theirs(world, person_of(world, press.user), request_of(world, loan.id))
        _check_open(offer, loan, press)
        unused = _unused_now(world, offer, loan)
        if unused < offer.amount:
            _ask_again(world, press, offer, loan, unused)

    def settle(uow: UnitOfWork, now: datetime) -> None:
        if uow.loans.get(loan.id) != loan:
            raise Stale(f"loan {loan.id}")
        _settle(uow, _answered(offer, IdleState.RETURNED, loan.amount - offer.amount, press.user, now), now)

    amount = None if offer.amount == loan.amount else offer.amount
    return return_loan(world, loan.id, amount, press.user, press.origin, settle)


def keep_idle(world: World, press: IdlePress) -> Loan:
    """Nothing goes back. Raises Refused; both are in the audit."""
    offer, loan = _offer(world, press.offer)
    with refusals_audited(world, press.user, "keep idle", f"Q-{loan.id}"):
        check_theirs(world, person_of(world, press.user), request_of(world, loan.id))
        _check_open(offer, loan, press)
        now = world.clock()
        with world.store.begin() as uow:
            uow.inbox.done(press.origin)
            _settle(uow, _answered(offer, IdleState.KEPT, loan.amount, press.user, now), now)
            uow.audit.add(AuditEntry(now, press.user, "keep idle", f"Q-{loan.id}", "ok"))
            uow.commit()
    world.wake_delivery()
    return loan


def _offer(world: World, number: int) -> tuple[IdleOffer, Loan]:
    with world.store.read() as uow:
        offer = uow.idle_offers.get(number)
        loan = uow.loans.get(offer.loan) if offer else None
    if offer is None or loan is None:
        raise Refused("This button is not one of the bot's.")
    return offer, loan


def _check_open(offer: IdleOffer, loan: Loan, press: IdlePress) -> None:
    if loan.state is not LoanState.RUNNING:
        raise Refused(f"Q-{loan.id} is over already.")
    if offer.state is not IdleState.OPEN:
        raise Refused(f"{_ANSWERED[offer.state]} To return more: /gpu-quota return Q-{loan.id}")
    if press.revision != offer.version:
        raise Refused("This message was out of date: look and press again.")


_ANSWERED = {
    IdleState.RETURNED: "This was answered already: it was returned.",
    IdleState.KEPT: "This was answered already: it was kept.",
    IdleState.USED: "This was answered already: nothing was unused.",
}


def _unused_now(world: World, offer: IdleOffer, loan: Loan) -> int:
    """Raises Refused, with what works without a look."""
    picture = read_queues(world, loan.cluster)
    used = None if isinstance(picture, NotRead) else live_use(world, loan, picture)
    if used is not None:
        return loan.amount - used
    why = picture.opening if isinstance(picture, NotRead) else f"Q-{loan.id} is not in force as a whole now"
    typed = f"/gpu-quota return Q-{loan.id} {min(offer.amount, loan.amount)}"
    raise Refused(f"{why}, so nobody knows what is unused. Nothing was returned. To return it all the same: {typed}")


def _ask_again(world: World, press: IdlePress, offer: IdleOffer, loan: Loan, unused: int) -> None:
    """The message shows the number of now. Raises Refused, always."""
    now = world.clock()
    with world.store.begin() as uow:
        _settle(uow, lowered(offer, loan, unused, press.user, now), now)
        uow.commit()
    world.wake_delivery()
    said = f"{unused} of {loan.amount} {loan.flavor} are unused now, not {offer.amount}. Nothing was returned."
    raise Refused(f"{said} Look at the message and press again." if unused else f"{said} Nothing is left to do.")


def _answered(offer: IdleOffer, state: IdleState, left: int, user: str, now: datetime) -> IdleOffer:
    return replace(offer, state=state, settled_by=user, settled_at=now, left=left)


def _settle(uow: UnitOfWork, offer: IdleOffer, now: datetime) -> None:
    """Raises Stale if somebody else answered first."""
    uow.idle_offers.update(offer)
    uow.notices.refresh(idle_prefix(offer.id), now)
