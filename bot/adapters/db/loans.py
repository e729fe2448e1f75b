"""Loans. Implements `bot.ports.store.Loans`."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import or_, select

from bot.adapters.db.rows import of_loan, to_loan
from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import LOAN
from bot.core.loans import Loan, LoanState


class SqlLoans(Repository):
    """One transaction's view of the loans."""

    def add(self, loan: Loan) -> Loan:
        """Raises Stale if there is a loan of that number."""
        return to_loan(self._add(LOAN, of_loan(loan) | {"version": 1}, f"loan {loan.id}"))

    def get(self, number: int) -> Loan | None:
        row = self._first(select(LOAN).where(LOAN.c.id == number))
        return None if row is None else to_loan(row)

    def find(
        self,
        *,
        states: Collection[LoanState] | None = None,
        queues: Collection[str] | None = None,
        since: datetime | None = None,
    ) -> Sequence[Loan]:
        query = select(LOAN).order_by(LOAN.c.id)
        if states is not None:
            query = query.where(LOAN.c.state.in_([state.value for state in states]))
        if queues is not None:
            query = query.where(or_(LOAN.c.lender.in_(list(queues)), LOAN.c.borrower.in_(list(queues))))
        if since is not None:
            query = query.where(LOAN.c.start >= since)
        return [to_loan(row) for row in self._all(query)]

    def update(self, loan: Loan) -> Loan:
        return to_loan(self._swap(LOAN, LOAN.c.id == loan.id, loan.version, of_loan(loan), f"loan {loan.id}"))
