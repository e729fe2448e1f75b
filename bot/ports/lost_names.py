"""Names that the policy has no more: part of bot.ports.store's unit of work. Implemented by adapters/db/lost_names."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from bot.core.lost_names import LostName


class LostNames(Protocol):
    """Disappearances, never deleted."""

    def open(self) -> Sequence[LostName]:
        """Those that are not over, in order."""
        ...

    def begin(self, name: str, since: datetime) -> LostName:
        """Store a new one. Raises Stale if this name is missing already."""
        ...

    def end(self, lost_id: int, at: datetime) -> None:
        """Harmless when it is over already."""
        ...
