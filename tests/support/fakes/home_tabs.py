"""Home tabs in memory. Used by tests/support/fakes/store."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.core.home_tab import HomeTab


class FakeHomeTabs:
    """Implements ports.home_tabs.HomeTabs."""

    def __init__(self, tables: Any) -> None:
        self._tables = tables

    def opened(self, user: str, at: datetime) -> None:
        known = self._tables.home_tabs.get(user) or HomeTab(user, at)
        self._tables.home_tabs[user] = replace(known, opened_at=at, failure=None)

    def get(self, user: str) -> HomeTab | None:
        found: HomeTab | None = self._tables.home_tabs.get(user)
        return found

    def watched(self, since: datetime, limit: int) -> Sequence[HomeTab]:
        rows: list[HomeTab] = [one for _, one in sorted(self._tables.home_tabs.items())]
        lately = [one for one in rows if one.opened_at > since and one.failure is None]
        return sorted(lately, key=lambda one: one.opened_at, reverse=True)[:limit]

    def shown(self, tab: HomeTab) -> None:
        known = self._tables.home_tabs.get(tab.user)
        if known is not None:
            self._tables.home_tabs[tab.user] = replace(tab, opened_at=known.opened_at)
