"""Names that the policy has no more. Implements `bot.ports.lost_names.LostNames`."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import RowMapping, select, update

from bot.adapters.db.lost_name_table import LOST_NAME, MISSING
from bot.adapters.db.sql import Repository
from bot.core.lost_names import LostName


class SqlLostNames(Repository):
    """One transaction's view of them."""

    def open(self) -> Sequence[LostName]:
        return [_to_lost(row) for row in self._all(select(LOST_NAME).where(MISSING).order_by(LOST_NAME.c.id))]

    def begin(self, name: str, since: datetime) -> LostName:
        return _to_lost(self._add(LOST_NAME, {"name": name, "since": since, "ended_at": None}, f"missing {name}"))

    def end(self, lost_id: int, at: datetime) -> None:
        over = update(LOST_NAME).where(LOST_NAME.c.id == lost_id, MISSING).values(ended_at=at)
        self._connection.execute(over)


def _to_lost(row: RowMapping) -> LostName:
    return LostName(row["id"], row["name"], row["since"], row["ended_at"])
