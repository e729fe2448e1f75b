"""The database's part for work evicted at a loan's end. In a unit of work (ports/store); implemented by adapters/db."""

from collections.abc import Sequence
from typing import Protocol

from bot.core.evictions import Eviction


class Evictions(Protocol):
    """Work that is evicted at a loan's end, one row per loan, never deleted."""

    def add(self, draft: Eviction) -> bool:
        """Whether it was new: another one of the same loan changes nothing."""
        ...

    def get(self, loan: int) -> Eviction | None: ...

    def open(self) -> Sequence[Eviction]:
        """Those that are not closed, by loan."""
        ...

    def update(self, eviction: Eviction) -> Eviction:
        """Compare-and-set on `eviction.version`; returns it with the new version. Raises Stale."""
        ...
