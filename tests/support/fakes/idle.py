"""Use of loans and what is asked of idle ones, in memory. Part of tests/support/fakes/store."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from bot.core.errors import Stale
from bot.core.idle_loans import IdleOffer, IdleState
from bot.core.loan_use import LoanUse
from bot.core.past_use import UsedLoan
from bot.core.requests import Ask, QuotaRequest


class Rows(Protocol):
    """The tables that are needed here."""

    requests: dict[int, QuotaRequest]
    uses: dict[int, LoanUse]
    idle_offers: dict[int, IdleOffer]


class FakeLoanUses:
    """Implements ports.store.LoanUses."""

    def __init__(self, tables: Rows) -> None:
        self._tables = tables

    def put(self, uses: Sequence[LoanUse]) -> None:
        self._tables.uses.update({use.loan: use for use in uses})

    def of(self, loans: Collection[int]) -> Sequence[LoanUse]:
        return [use for number, use in sorted(self._tables.uses.items()) if number in loans]

    def like(self, ask: Ask, since: datetime) -> Sequence[UsedLoan]:
        found = []
        for number, use in sorted(self._tables.uses.items()):
            request = self._tables.requests.get(number)
            if request is None or use.seen_at < since:
                continue
            one = request.ask
            if (one.cluster, one.team, one.flavor, one.resource) == (ask.cluster, ask.team, ask.flavor, ask.resource):
                found.append(UsedLoan(number, one.requester, one.amount, use.observed, use.used_time))
        return found


class FakeIdleOffers:
    """Implements ports.store.IdleOffers."""

    def __init__(self, tables: Rows) -> None:
        self._tables = tables

    def add(self, draft: IdleOffer) -> IdleOffer:
        if any((one.loan, one.nth) == (draft.loan, draft.nth) for one in self._tables.idle_offers.values()):
            raise Stale(f"question {draft.nth} about Q-{draft.loan} is there already")
        stored = replace(draft, id=1 + max(self._tables.idle_offers, default=0), version=1)
        self._tables.idle_offers[stored.id] = stored
        return stored

    def get(self, offer_id: int) -> IdleOffer | None:
        return self._tables.idle_offers.get(offer_id)

    def latest(self, loan: int) -> IdleOffer | None:
        asked = [one for one in self._tables.idle_offers.values() if one.loan == loan]
        return max(asked, key=lambda one: one.nth, default=None)

    def update(self, offer: IdleOffer) -> IdleOffer:
        known = self._tables.idle_offers.get(offer.id)
        if known is None or known.version != offer.version or known.state is not IdleState.OPEN:
            raise Stale(f"idle offer {offer.id}")
        stored = replace(offer, version=offer.version + 1)
        self._tables.idle_offers[offer.id] = stored
        return stored
