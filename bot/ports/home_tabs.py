"""Home tabs that people opened: part of bot.ports.store's unit of work. Implemented by adapters/db/home_tabs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from bot.core.home_tab import HomeTab


class HomeTabs(Protocol):
    """One row a person, written over."""

    def opened(self, user: str, at: datetime) -> None:
        """It is in front of somebody, and may be shown again whatever Slack refused before."""
        ...

    def get(self, user: str) -> HomeTab | None:
        """None if it was never opened."""
        ...

    def watched(self, since: datetime, limit: int) -> Sequence[HomeTab]:
        """Those opened since then that Slack did not refuse, the latest first."""
        ...

    def shown(self, tab: HomeTab) -> None:
        """Store what came of showing it: all but `opened_at`, which may be later by now."""
        ...
