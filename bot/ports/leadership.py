"""Who leads, as the database has it. Part of ports/store; implemented by adapters/db."""

from datetime import datetime, timedelta
from typing import Protocol


class Leadership(Protocol):
    """The one row that says who leads. Times are the database's."""

    def acquire(self, holder: str, lease: timedelta) -> int | None:
        """Take the row if it is free, expired or one's own; the epoch, or None. A take-over raises the epoch
        by one; a renewal keeps it."""
        ...

    def release(self, holder: str) -> None: ...

    def gap(self) -> tuple[datetime, datetime] | None:
        """The latest stretch in which nobody led, from the last renewal to the take-over; None if there was none."""
        ...

    def check(self, epoch: int) -> None:
        """Raise NotLeader unless this is the current epoch; holds until the end of the transaction."""
        ...

    def raise_epoch(self, holder: str, epoch: int, at_least: int) -> int:
        """While leading: lift the epoch above the fences found on the queues; the new epoch. Raises NotLeader."""
        ...
