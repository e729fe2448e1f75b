"""Whether quota changes are paused: one row. Implements `bot.ports.store.Pauses`."""

from sqlalchemy import select, update

from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import PAUSE
from bot.core.pause import Pause


class SqlPauses(Repository):
    """One transaction's view of the row that the migration put there."""

    def get(self) -> Pause | None:
        row = self._first(select(PAUSE))
        if row is None or row["since"] is None:
            return None
        return Pause(row["who"] or "", row["name"] or "", row["since"], row["reason"] or "")

    def begin(self, pause: Pause) -> bool:
        values = {"who": pause.who, "name": pause.name, "since": pause.since, "reason": pause.reason}
        return self._count(update(PAUSE).where(PAUSE.c.since.is_(None)).values(values)) == 1

    def end(self) -> Pause | None:
        before = self.get()
        empty = dict.fromkeys(("who", "name", "since", "reason"))
        ended = self._count(update(PAUSE).where(PAUSE.c.since.is_not(None)).values(empty)) == 1
        return before if ended else None
