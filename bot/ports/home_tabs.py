"""Home tabs that people opened, and what their rows are looked up by: part of bot.ports.store's unit of work.

Implemented by adapters/db/home_tabs.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from bot.core.home_tab import HomeTab
from bot.core.requests import QuotaRequest


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

    def waiting_for(self, names: Collection[str]) -> Sequence[QuotaRequest]:
        """Requests that wait and have a step that asks one of these, or was escalated to one; the oldest first.
        `names` are those of steps: `group:NAME`, `leads:TEAM`."""
        ...

    def on_loan(self, requester: str | None = None, teams: Collection[str] = ()) -> Sequence[QuotaRequest]:
        """Requests of this person or of these teams with a loan that is not over, the newest first. Of a loan that
        repeats the request that all its times come from."""
        ...
