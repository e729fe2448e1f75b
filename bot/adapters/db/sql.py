"""What the repositories have in common: the connection of the transaction, and an INSERT that may find its row there.

Inserts use ON CONFLICT rather than catching IntegrityError, because on PostgreSQL an error ends the transaction.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Executable, RowMapping, Table, update
from sqlalchemy.dialects import postgresql, sqlite

from bot.core.errors import Stale


class Repository:
    """One kind of thing, inside one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _first(self, statement: Executable) -> RowMapping | None:
        return self._connection.execute(statement).mappings().first()

    def _all(self, statement: Executable) -> Sequence[RowMapping]:
        return self._connection.execute(statement).mappings().all()

    def _count(self, statement: Executable) -> int:
        return self._connection.execute(statement).rowcount

    def _insert(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """INSERT with ON CONFLICT, which the two databases spell alike."""
        return postgresql.insert(table) if self._connection.dialect.name == "postgresql" else sqlite.insert(table)

    def _add(self, table: Table, columns: dict[str, Any], what: str) -> RowMapping:
        """The row as it was stored. Raises Stale if one with its unique key is there already."""
        row = self._first(self._insert(table).values(columns).on_conflict_do_nothing().returning(table))
        if row is None:
            raise Stale(f"{what} is there already")
        return row

    def _swap(
        self, table: Table, key: ColumnElement[bool], version: int, columns: dict[str, Any], what: str
    ) -> RowMapping:
        """Compare-and-set on `version`; the row as it is now. Raises Stale.

        Under READ COMMITTED the database waits for a writer of the same row and then looks at `version` again.
        """
        row = self._first(
            update(table).where(key, table.c.version == version).values(**columns, version=version + 1).returning(table)
        )
        if row is None:
            raise Stale(f"{what} is not at version {version} any more")
        return row
