"""A clock that only hands move, and ids that are the same in every run."""

from datetime import UTC, datetime, timedelta
from itertools import count

START = datetime(2026, 12, 2, 9, 0, tzinfo=UTC)


class HandClock:
    """Implements ports.clock.Clock."""

    def __init__(self, now: datetime = START, tick: timedelta = timedelta(0)) -> None:
        """`tick` passes with each look at the clock, so that no two instants are the same."""
        self.now = now
        self._tick = tick

    def __call__(self) -> datetime:
        self.now += self._tick
        return self.now

    def advance(self, by: timedelta) -> None:
        """Time passes."""
        self.now += by


class Ids:
    """Numbered ids, `PREFIX-1` and so on."""

    def __init__(self, prefix: str = "id") -> None:
        self._prefix = prefix
        self._numbers = count(1)

    def __call__(self) -> str:
        return f"{self._prefix}-{next(self._numbers)}"
