"""How much of each loan is used. Implements `bot.ports.store.LoanUses`."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import RowMapping, select

from bot.adapters.db.idle_tables import LOAN_USE
from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import REQUEST
from bot.core.batches import in_batches
from bot.core.loan_use import LoanUse, Unused
from bot.core.past_use import UsedLoan
from bot.core.requests import Ask

_MICROSECOND = timedelta(microseconds=1)
_AT_A_TIME = 500
"""Bound values in a statement are limited."""


class SqlLoanUses(Repository):
    """One transaction's view of them."""

    def put(self, uses: Sequence[LoanUse]) -> None:
        for some in in_batches(uses, _AT_A_TIME):
            insert = self._insert(LOAN_USE).values([_of_use(one) for one in some])
            new = {column.name: insert.excluded[column.name] for column in LOAN_USE.c if not column.primary_key}
            self._connection.execute(insert.on_conflict_do_update(index_elements=[LOAN_USE.c.loan], set_=new))

    def of(self, loans: Collection[int]) -> Sequence[LoanUse]:
        found: list[LoanUse] = []
        for some in in_batches(sorted(loans), _AT_A_TIME):
            query = select(LOAN_USE).where(LOAN_USE.c.loan.in_(some)).order_by(LOAN_USE.c.loan)
            found += [_to_use(row) for row in self._all(query)]
        return found

    def like(self, ask: Ask, since: datetime) -> Sequence[UsedLoan]:
        same = ("cluster", "team", "flavor", "resource")
        query = (
            select(LOAN_USE.c.loan, REQUEST.c.requester, REQUEST.c.amount, LOAN_USE.c.observed, LOAN_USE.c.used_time)
            .join(REQUEST, REQUEST.c.id == LOAN_USE.c.loan)
            .where(*(REQUEST.c[name] == getattr(ask, name) for name in same), LOAN_USE.c.seen_at >= since)
            .order_by(LOAN_USE.c.loan)
        )
        return [UsedLoan(*row) for row in self._connection.execute(query)]


def _of_use(use: LoanUse) -> dict[str, Any]:
    return {
        "loan": use.loan,
        "seen_at": use.seen_at,
        "amount": use.amount,
        "used": use.used,
        "observed": use.observed,
        "used_time": use.used_time,
        "unused": [[one.at_least, one.lasted // _MICROSECOND] for one in use.unused],
    }


def _to_use(row: RowMapping) -> LoanUse:
    return LoanUse(
        loan=row["loan"],
        seen_at=row["seen_at"],
        amount=row["amount"],
        used=row["used"],
        observed=row["observed"],
        used_time=row["used_time"],
        unused=tuple(Unused(devices, lasted * _MICROSECOND) for devices, lasted in row["unused"]),
    )
