"""Loans that were asked back and steps that were escalated, in memory. Used by tests/support/fakes/store."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.core.ask_backs import AskBack, AskBackState
from bot.core.errors import Stale
from bot.core.escalations import Escalation


class FakeAskBacks:
    """Implements ports.unanswered.AskBacks."""

    def __init__(self, tables: Any) -> None:
        self._tables = tables

    def add(self, draft: AskBack) -> AskBack:
        if any(one.state is draft.state is AskBackState.OPEN for one in self.of(draft.loan)):
            raise Stale(f"an open ask for Q-{draft.loan} is there already")
        stored = replace(draft, id=1 + max(self._tables.ask_backs, default=0), version=1)
        self._tables.ask_backs[stored.id] = stored
        return stored

    def get(self, ask_id: int) -> AskBack | None:
        found: AskBack | None = self._tables.ask_backs.get(ask_id)
        return found

    def of(self, loan: int) -> Sequence[AskBack]:
        return [one for _, one in sorted(self._tables.ask_backs.items()) if one.loan == loan]

    def waiting(self) -> Sequence[AskBack]:
        return [one for _, one in sorted(self._tables.ask_backs.items()) if one.state is AskBackState.OPEN]

    def update(self, ask: AskBack) -> AskBack:
        known = self._tables.ask_backs.get(ask.id)
        if known is None or known.version != ask.version or known.state is not AskBackState.OPEN:
            raise Stale(f"ask-back {ask.id}")
        stored = replace(ask, version=ask.version + 1)
        self._tables.ask_backs[ask.id] = stored
        return stored


class FakeEscalations:
    """Implements ports.unanswered.Escalations."""

    def __init__(self, tables: Any) -> None:
        self._tables = tables

    def add(self, escalation: Escalation) -> bool:
        key = _key(escalation)
        if any(_key(one) == key for one in self._tables.escalations):
            return False
        self._tables.escalations += (escalation,)
        return True

    def of(self, number: int) -> Sequence[Escalation]:
        return [one for one in self._tables.escalations if one.request == number]


def _key(one: Escalation) -> tuple[int, int, int, str, str]:
    return (one.request, one.terms, one.step, one.asked, one.to)
