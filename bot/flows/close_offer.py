"""Settle a request's open offer, in the transaction in which the request moves on: the offer's own message follows.

Called by every flow that decides, changes or ends a waiting request.
"""

from dataclasses import replace
from datetime import datetime

from bot.core.offers import Offer, OfferState, described
from bot.core.requests import AuditEntry
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind


def open_offer(uow: UnitOfWork, number: int) -> Offer | None:
    """The offer of a request that waits for an answer."""
    return next((one for one in uow.offers.of(number) if one.state is OfferState.OPEN), None)


def close_offer(uow: UnitOfWork, number: int, state: OfferState, by: str, now: datetime) -> Offer | None:
    """The offer as it is settled, None if none was open. `by` is a user id or `bot`. Raises Stale.

    An answer is in the audit as what its person did; what made an offer void or replaced it is noted here.
    """
    found = open_offer(uow, number)
    if found is None:
        return None
    request = uow.requests.get(number)
    assert request is not None, "an offer has a request"
    closed = uow.offers.update(replace(found, state=state, settled_by=by, settled_at=now))
    if state in {OfferState.REPLACED, OfferState.VOID}:
        what = f"{described(request.ask.flavor, found.terms)}: {state.value}"
        uow.audit.add(AuditEntry(now, by, "close offer", f"Q-{number}", what))
    uow.notices.refresh(f"{NoticeKind.COUNTER_OFFER.value}:{number}:{request.ask.requester}:{which(found)}", now)
    return closed


def which(offer: Offer) -> str:
    """Tells the messages about several offers of a request apart; none is the beginning of another."""
    return f"{offer.id}."
