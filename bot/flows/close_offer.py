"""Settle a request's open offer, in the transaction in which the request moves on: the offer's own message follows.

Called by every flow that decides, changes or ends a waiting request.
"""

from dataclasses import replace
from datetime import datetime

from bot.core.notices import NoticeDraft
from bot.core.offers import Offer, OfferState, described
from bot.core.requests import AuditEntry, QuotaRequest
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind


def open_offer(uow: UnitOfWork, number: int) -> Offer | None:
    """The offer of a request that waits for an answer."""
    return next((one for one in uow.offers.of(number) if one.state is OfferState.OPEN), None)


def close_offer(uow: UnitOfWork, number: int, state: OfferState, by: str, now: datetime) -> Offer | None:
    """The open offer of a request that moves on without it, as it is settled; None if none was open. Raises Stale.

    `by` is a user id or `bot`. What made an offer void or replaced it is in the audit.
    """
    found = open_offer(uow, number)
    request = uow.requests.get(number)
    if found is None or request is None:
        return None
    what = f"{described(request.ask.flavor, found.terms)}: {state.value}"
    uow.audit.add(AuditEntry(now, by, "close offer", f"Q-{number}", what))
    return settle_offer(uow, request, replace(found, state=state, settled_by=by, settled_at=now))


def settle_offer(uow: UnitOfWork, request: QuotaRequest, settled: Offer) -> Offer:
    """Store this very offer as settled. Raises Stale if it changed since it was read: nobody answers a void one."""
    stored = uow.offers.update(settled)
    key = f"{NoticeKind.COUNTER_OFFER.value}:{request.id}:{request.ask.requester}:{which(stored)}"
    assert settled.settled_at is not None
    uow.notices.refresh(key, settled.settled_at)
    return stored


def tell_offerer(uow: UnitOfWork, request: QuotaRequest, answered: Offer, now: datetime) -> None:
    """Who made the offer hears what came of it: what waits on may be theirs to decide."""
    kind = NoticeKind.OFFER_ANSWERED
    facts = {"request": request.id, "offer": answered.id}
    key = f"{kind.value}:{request.id}:{answered.who}:{which(answered)}"
    uow.notices.owe_once(NoticeDraft(key, kind, answered.who, facts), now)


def which(offer: Offer) -> str:
    """Tells the messages about several offers of a request apart; none is the beginning of another."""
    return f"{offer.id}."
