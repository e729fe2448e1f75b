"""Column types that mean the same on SQLite and PostgreSQL, and the database's own clock. Used by tables.py."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Connection, DateTime, Dialect, Integer, Text, TypeDecorator, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MICROSECOND = timedelta(microseconds=1)


def storable(text: str) -> str:
    """`text` as it can be stored: PostgreSQL has no NUL, and a lone surrogate has no UTF-8. Both become U+FFFD.

    Refusing them instead would let one hostile message fail the batch that it is stored in.
    """
    return _UNSTORABLE.sub("\ufffd", text)


class PlainText(TypeDecorator[str]):
    """Text of other people, of any length."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, _dialect: Dialect) -> str | None:
        return None if value is None else storable(value)


class KeyText(PlainText):
    """Text that identifies: compared and ordered by its bytes on both databases."""

    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return Text(collation="C") if dialect.name == "postgresql" else Text()


class Instant(TypeDecorator[datetime]):
    """An aware datetime, UTC, to the microsecond. SQLite has it as text that sorts by time."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"a time without a zone cannot be stored: {value}")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, _dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Duration(TypeDecorator[timedelta]):
    """A timedelta as whole microseconds."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: timedelta | None, _dialect: Dialect) -> int | None:
        return None if value is None else value // _MICROSECOND

    def process_result_value(self, value: int | None, _dialect: Dialect) -> timedelta | None:
        return None if value is None else timedelta(microseconds=value)


class CanonicalJson(TypeDecorator[Any]):
    """JSON as ASCII text with sorted keys: equal values are equal bytes, and any string survives on both databases
    (PostgreSQL's own jsonb refuses the escape for NUL). Not NULL: None is the JSON null."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, _dialect: Dialect) -> str:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


BigId = BigInteger().with_variant(Integer, "sqlite")
"""A number the database assigns. (SQLite assigns only to a column that is called INTEGER.)"""


class DatabaseNow(FunctionElement[datetime]):
    """The database's clock at this very moment, not at the start of the transaction."""

    type = Instant()
    inherit_cache = True


@compiles(DatabaseNow, "sqlite")
def _sqlite_now(_element: DatabaseNow, _compiler: SQLCompiler, **_: Any) -> str:
    return "strftime('%Y-%m-%d %H:%M:%f000', 'now')"


@compiles(DatabaseNow, "postgresql")
def _postgresql_now(_element: DatabaseNow, _compiler: SQLCompiler, **_: Any) -> str:
    return "clock_timestamp()"


def database_now(connection: Connection) -> datetime:
    """What time it is on the one clock that all replicas share."""
    return connection.execute(select(DatabaseNow())).scalar_one()
