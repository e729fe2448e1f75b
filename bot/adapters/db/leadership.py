"""The one row that says who leads. Implements `bot.ports.store.Leadership`; `check_epoch` is for claims of work.

A change locks the row first and asks the database's clock after that, so that the time is not older than the wait for
the lock. Taking the row away from its holder needs the same lock, which a check keeps (shared) until its transaction
ends: whoever was leader when it checked is leader when it commits.
"""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, select, update

from bot.adapters.db.columns import database_now
from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import LEADER
from bot.core.errors import NotLeader


def check_epoch(connection: Connection, epoch: int) -> None:
    """Raise NotLeader unless `epoch` is the current one and not released; holds until the transaction ends."""
    row = connection.execute(select(LEADER.c.epoch, LEADER.c.holder).with_for_update(read=True)).one()
    if row.epoch != epoch or row.holder is None:
        raise NotLeader(f"epoch {epoch} is over: {row.epoch} is the current one")


class SqlLeadership(Repository):
    """One transaction's view of who leads. A holder's name must be of one process, never reused by its successor."""

    def acquire(self, holder: str, lease: timedelta) -> int | None:
        row, now = self._locked()
        if row["holder"] is not None and row["expires_at"] > now:
            if row["holder"] != holder:
                return None
            self._set(renewed_at=now, expires_at=now + lease)
            return int(row["epoch"])
        epoch = 1 + int(row["epoch"])
        gap = {} if row["renewed_at"] is None else {"gap_from": row["renewed_at"], "gap_to": now}
        self._set(holder=holder, epoch=epoch, renewed_at=now, expires_at=now + lease, **gap)
        return epoch

    def release(self, holder: str) -> None:
        """Harmless when somebody else leads."""
        row, now = self._locked()
        if row["holder"] == holder:
            self._set(holder=None, renewed_at=min(now, row["expires_at"]), expires_at=None)

    def gap(self) -> tuple[datetime, datetime] | None:
        row = self._connection.execute(select(LEADER.c.gap_from, LEADER.c.gap_to)).one()
        return None if row.gap_from is None else (row.gap_from, row.gap_to)

    def check(self, epoch: int) -> None:
        check_epoch(self._connection, epoch)

    def raise_epoch(self, holder: str, epoch: int, at_least: int) -> int:
        """`epoch` itself if it is above `at_least` already."""
        row, _ = self._locked()
        if row["holder"] != holder or row["epoch"] != epoch:
            raise NotLeader(f"epoch {epoch} of {holder} is over")
        raised = max(epoch, at_least + 1)
        if raised != epoch:
            self._set(epoch=raised)
        return raised

    def _locked(self) -> tuple[RowMapping, datetime]:
        row = self._connection.execute(select(LEADER).with_for_update()).mappings().one()
        return row, database_now(self._connection)

    def _set(self, **columns: Any) -> None:
        self._connection.execute(update(LEADER).values(columns))
