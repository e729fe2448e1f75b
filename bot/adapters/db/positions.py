"""How far each watch has come. Implements `bot.ports.watching.Positions`."""

from sqlalchemy import select

from bot.adapters.db.position_table import WATCH_POSITION
from bot.adapters.db.sql import Repository
from bot.core.incidents.facts import Kind
from bot.ports.watching import Position


class SqlPositions(Repository):
    """One transaction's view of the positions."""

    def get(self, cluster: str, kind: Kind) -> Position | None:
        where = (WATCH_POSITION.c.cluster == cluster, WATCH_POSITION.c.kind == kind.value)
        row = self._first(select(WATCH_POSITION).where(*where))
        return None if row is None else Position(cluster, kind, row["version"], row["heard_at"])

    def put(self, position: Position) -> None:
        key = {"cluster": position.cluster, "kind": position.kind.value}
        columns = {"version": position.version, "heard_at": position.heard_at}
        new = self._insert(WATCH_POSITION).values(key | columns)
        self._connection.execute(new.on_conflict_do_update(index_elements=list(key), set_=columns))
