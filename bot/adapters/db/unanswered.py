"""Who was asked and has not answered. Implements `bot.ports.unanswered`."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, and_, select

from bot.adapters.db.sql import Repository
from bot.adapters.db.unanswered_tables import ASK_BACK, ASK_BACK_OPEN, ESCALATION
from bot.core.ask_backs import AskBack, AskBackState
from bot.core.escalations import Escalation

_ASK_BACK = ("loan", "who", "at", "words", "settled_by", "settled_at", "given")
_ESCALATION = ("request", "terms", "step", "asked", "to", "at", "why")


class SqlAskBacks(Repository):
    """One transaction's view of them."""

    def add(self, draft: AskBack) -> AskBack:
        return _to_ask(self._add(ASK_BACK, _of_ask(draft) | {"version": 1}, f"an open ask for Q-{draft.loan}"))

    def get(self, ask_id: int) -> AskBack | None:
        row = self._first(select(ASK_BACK).where(ASK_BACK.c.id == ask_id))
        return None if row is None else _to_ask(row)

    def of(self, loan: int) -> Sequence[AskBack]:
        return [_to_ask(row) for row in self._all(select(ASK_BACK).where(ASK_BACK.c.loan == loan).order_by("id"))]

    def waiting(self) -> Sequence[AskBack]:
        return [_to_ask(row) for row in self._all(select(ASK_BACK).where(ASK_BACK_OPEN).order_by("id"))]

    def update(self, ask: AskBack) -> AskBack:
        key = and_(ASK_BACK.c.id == ask.id, ASK_BACK.c.state == AskBackState.OPEN.value)
        return _to_ask(self._swap(ASK_BACK, key, ask.version, _of_ask(ask), f"ask-back {ask.id}"))


class SqlEscalations(Repository):
    """One transaction's view of them."""

    def add(self, escalation: Escalation) -> bool:
        columns = {name: getattr(escalation, name) for name in _ESCALATION}
        statement = self._insert(ESCALATION).values(columns).on_conflict_do_nothing().returning(ESCALATION.c.id)
        return self._first(statement) is not None

    def of(self, number: int) -> Sequence[Escalation]:
        rows = self._all(select(ESCALATION).where(ESCALATION.c.request == number).order_by("id"))
        return [Escalation(**{name: row[name] for name in _ESCALATION}) for row in rows]


def _of_ask(ask: AskBack) -> dict[str, Any]:
    return {name: getattr(ask, name) for name in _ASK_BACK} | {"state": ask.state.value}


def _to_ask(row: RowMapping) -> AskBack:
    same = {name: row[name] for name in (*_ASK_BACK, "id", "version")}
    return AskBack(**same, state=AskBackState(row["state"]))
