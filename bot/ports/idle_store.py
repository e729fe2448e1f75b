"""The database's part for loans that lie idle. In a unit of work (ports/store); implemented by adapters/db."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from bot.core.idle_loans import IdleOffer
from bot.core.loan_use import LoanUse
from bot.core.past_use import UsedLoan
from bot.core.requests import Ask


class LoanUses(Protocol):
    """How much of each loan is used; a row a loan, written by the leader alone."""

    def put(self, uses: Sequence[LoanUse]) -> None: ...

    def of(self, loans: Collection[int]) -> Sequence[LoanUse]: ...

    def like(self, ask: Ask, since: datetime) -> Sequence[UsedLoan]:
        """Loans of the ask's cluster, team, flavor and resource that were looked at since then, oldest first."""
        ...


class IdleOffers(Protocol):
    """What was asked of loans that lie idle, never deleted."""

    def add(self, draft: IdleOffer) -> IdleOffer:
        """Its id is assigned. Stale if its loan has an `nth` one."""
        ...

    def get(self, offer_id: int) -> IdleOffer | None: ...

    def latest(self, loan: int) -> IdleOffer | None: ...

    def update(self, offer: IdleOffer) -> IdleOffer:
        """Change an open one, by compare-and-set on `offer.version`. Raises Stale, also for one that is settled."""
        ...
