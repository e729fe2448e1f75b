"""Home tabs in memory. Used by tests/support/fakes/store."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.core.home_tab import HomeTab
from bot.core.loans import LoanState
from bot.core.requests import QuotaRequest, RequestState


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

    def waiting_for(self, names: Collection[str]) -> Sequence[QuotaRequest]:
        escalated = {one.request for one in self._tables.escalations if one.to in names}
        return [
            one
            for one in sorted(self._requests(), key=lambda one: (one.created_at, one.id))
            if one.state is RequestState.WAITING
            and (one.id in escalated or any(step.who in names for step in one.steps))
        ]

    def on_loan(self, requester: str | None = None, teams: Collection[str] = ()) -> Sequence[QuotaRequest]:
        rows: dict[int, QuotaRequest] = self._tables.requests
        open_ones = {one.id for one in self._tables.loans.values() if one.state is not LoanState.CLOSED}
        held = {one.series or one.id for one in rows.values() if one.id in open_ones}
        return [
            one
            for one in sorted(self._requests(), key=lambda one: (one.created_at, one.id), reverse=True)
            if one.id in held and (one.ask.requester == requester or one.ask.team in teams)
        ]

    def _requests(self) -> list[QuotaRequest]:
        """Without those that stand for one time of a series."""
        return [one for one in self._tables.requests.values() if one.series is None]
