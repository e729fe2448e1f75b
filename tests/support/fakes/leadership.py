"""The leader row of the database in memory. Used by tests/support/fakes/store."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.errors import NotLeader

DatabaseClock = Callable[[], datetime]


@dataclass(slots=True)
class LeaderRow:
    """The one row that says who leads."""

    holder: str | None = None
    epoch: int = 0
    renewed_at: datetime | None = None
    expires_at: datetime | None = None
    gap: tuple[datetime, datetime] | None = None

    def copy(self) -> "LeaderRow":
        """The row as another transaction has it."""
        return LeaderRow(self.holder, self.epoch, self.renewed_at, self.expires_at, self.gap)


class FakeLeadership:
    """Implements ports.store.Leadership."""

    def __init__(self, row: LeaderRow, clock: DatabaseClock) -> None:
        self._row = row
        self._clock = clock

    def acquire(self, holder: str, lease: timedelta) -> int | None:
        row, now = self._row, self._clock()
        if row.holder is not None and row.expires_at is not None and row.expires_at > now:
            if row.holder != holder:
                return None
            row.renewed_at, row.expires_at = now, now + lease
            return row.epoch
        if row.renewed_at is not None:
            row.gap = (row.renewed_at, now)
        row.holder, row.epoch = holder, 1 + row.epoch
        row.renewed_at, row.expires_at = now, now + lease
        return row.epoch

    def release(self, holder: str) -> None:
        row, now = self._row, self._clock()
        if row.holder == holder and row.expires_at is not None:
            row.holder, row.renewed_at, row.expires_at = None, min(now, row.expires_at), None

    def gap(self) -> tuple[datetime, datetime] | None:
        return self._row.gap

    def check(self, epoch: int) -> None:
        if self._row.epoch != epoch or self._row.holder is None:
            raise NotLeader(f"epoch {epoch} is over: {self._row.epoch} is the current one")

    def raise_epoch(self, holder: str, epoch: int, at_least: int) -> int:
        if self._row.holder != holder or self._row.epoch != epoch:
            raise NotLeader(f"epoch {epoch} of {holder} is over")
        self._row.epoch = max(epoch, at_least + 1)
        return self._row.epoch
