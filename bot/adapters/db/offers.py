"""Counter-offers. Implements `bot.ports.store.Offers`; terms are kept as JSON, as they were offered.

Of two offers made at the same moment one finds the other open: the partial unique index lets in only one.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import RowMapping, and_, select

from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import OFFER
from bot.core.loans import LoanKind
from bot.core.offers import Offer, OfferState, Terms

Columns = dict[str, Any]
_MICROSECOND = timedelta(microseconds=1)


class SqlOffers(Repository):
    """One transaction's view of the offers."""

    def add(self, draft: Offer) -> Offer:
        return _to_offer(self._add(OFFER, _of_offer(draft) | {"version": 1}, f"an open offer of Q-{draft.request}"))

    def get(self, offer_id: int) -> Offer | None:
        row = self._first(select(OFFER).where(OFFER.c.id == offer_id))
        return None if row is None else _to_offer(row)

    def of(self, number: int) -> Sequence[Offer]:
        return [
            _to_offer(row) for row in self._all(select(OFFER).where(OFFER.c.request == number).order_by(OFFER.c.id))
        ]

    def update(self, offer: Offer) -> Offer:
        key = and_(OFFER.c.id == offer.id, OFFER.c.state == OfferState.OPEN.value)
        return _to_offer(self._swap(OFFER, key, offer.version, _of_offer(offer), f"offer {offer.id}"))


def _of_offer(offer: Offer) -> Columns:
    return {
        "request": offer.request,
        "terms": _of_terms(offer.terms),
        "instead": _of_terms(offer.instead),
        "who": offer.who,
        "at": offer.at,
        "words": offer.words,
        "picture": offer.picture,
        "notes": list(offer.notes),
        "state": offer.state.value,
        "settled_by": offer.settled_by,
        "settled_at": offer.settled_at,
    }


def _to_offer(row: RowMapping) -> Offer:
    return Offer(
        id=row["id"],
        request=row["request"],
        terms=_to_terms(row["terms"]),
        instead=_to_terms(row["instead"]),
        who=row["who"],
        at=row["at"],
        words=row["words"],
        picture=row["picture"],
        notes=tuple(row["notes"]),
        state=OfferState(row["state"]),
        settled_by=row["settled_by"],
        settled_at=row["settled_at"],
        version=row["version"],
    )


def _of_terms(terms: Terms) -> Columns:
    return {
        "amount": terms.amount,
        "kind": terms.kind.value,
        "lender": terms.lender,
        "start": terms.start and terms.start.astimezone(UTC).isoformat(),
        "duration": None if terms.duration is None else terms.duration // _MICROSECOND,
        "until": terms.until and terms.until.astimezone(UTC).isoformat(),
    }


def _to_terms(stored: Columns) -> Terms:
    length = stored["duration"]
    return Terms(
        amount=stored["amount"],
        kind=LoanKind(stored["kind"]),
        lender=stored["lender"],
        start=_instant(stored["start"]),
        duration=None if length is None else timedelta(microseconds=length),
        until=_instant(stored["until"]),
    )


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
