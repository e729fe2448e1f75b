"""What was asked of loans that lie idle. Implements `bot.ports.store.IdleOffers`."""

from typing import Any

from sqlalchemy import RowMapping, and_, select

from bot.adapters.db.idle_tables import IDLE_OFFER
from bot.adapters.db.sql import Repository
from bot.core.idle_loans import IdleOffer, IdleState


class SqlIdleOffers(Repository):
    """One transaction's view of them."""

    def add(self, draft: IdleOffer) -> IdleOffer:
        what = f"question {draft.nth} about Q-{draft.loan}"
        return _to_offer(self._add(IDLE_OFFER, _of_offer(draft) | {"version": 1}, what))

    def get(self, offer_id: int) -> IdleOffer | None:
        row = self._first(select(IDLE_OFFER).where(IDLE_OFFER.c.id == offer_id))
        return None if row is None else _to_offer(row)

    def latest(self, loan: int) -> IdleOffer | None:
        newest = select(IDLE_OFFER).where(IDLE_OFFER.c.loan == loan).order_by(IDLE_OFFER.c.nth.desc()).limit(1)
        row = self._first(newest)
        return None if row is None else _to_offer(row)

    def update(self, offer: IdleOffer) -> IdleOffer:
        key = and_(IDLE_OFFER.c.id == offer.id, IDLE_OFFER.c.state == IdleState.OPEN.value)
        return _to_offer(self._swap(IDLE_OFFER, key, offer.version, _of_offer(offer), f"idle offer {offer.id}"))


def _of_offer(offer: IdleOffer) -> dict[str, Any]:
    return {
        "loan": offer.loan,
        "nth": offer.nth,
        "amount": offer.amount,
        "of": offer.of,
        "unused_for": offer.unused_for,
        "at": offer.at,
        "state": offer.state.value,
        "settled_by": offer.settled_by,
        "settled_at": offer.settled_at,
        "left": offer.left,
    }


def _to_offer(row: RowMapping) -> IdleOffer:
    return IdleOffer(
        id=row["id"],
        loan=row["loan"],
        nth=row["nth"],
        amount=row["amount"],
        of=row["of"],
        unused_for=row["unused_for"],
        at=row["at"],
        state=IdleState(row["state"]),
        settled_by=row["settled_by"],
        settled_at=row["settled_at"],
        left=row["left"],
        version=row["version"],
    )
