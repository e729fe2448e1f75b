"""Whether quota changes are paused: a row, or none. Implements `bot.ports.store.Pauses`."""

from sqlalchemy import RowMapping, delete, select

from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import PAUSE
from bot.core.pause import Pause


class SqlPauses(Repository):
    """One transaction's view of it."""

    def get(self) -> Pause | None:
        return _to_pause(self._first(select(PAUSE)))

    def begin(self, pause: Pause) -> bool:
        columns = {"id": 1, "who": pause.who, "name": pause.name, "since": pause.since, "reason": pause.reason}
        new = self._insert(PAUSE).values(columns).on_conflict_do_nothing().returning(PAUSE.c.id)
        return self._first(new) is not None

    def end(self) -> Pause | None:
        return _to_pause(self._first(delete(PAUSE).returning(PAUSE)))


def _to_pause(row: RowMapping | None) -> Pause | None:
    return None if row is None else Pause(row["who"], row["name"], row["since"], row["reason"])
