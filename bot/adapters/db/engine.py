"""From a DATABASE_URL to an engine that behaves. Called by app/parts, the command line and the migrations.

SQLite: write-ahead log with synchronous=NORMAL. What is committed survives the death of the process; a power cut may
take the last commits with it, and never damages the file. PostgreSQL: READ COMMITTED, and no wait without an end.
"""

from pathlib import Path
from sqlite3 import Connection as SqliteConnection
from typing import Any

from sqlalchemy import URL, Connection, Engine, StaticPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from bot.core.errors import Refused

READ_ONLY = "sqlite_read_only"
"""Execution option of a connection whose transactions only read. Without it they take SQLite's write lock at once."""

LONGEST_WAIT = 5
"""Seconds to wait for a lock, a connection or a server."""

_LONGEST_STATEMENT = 15  # seconds
_LONGEST_PAUSE = 60  # seconds that a transaction may do nothing before the server ends it
_CONNECTIONS = 10


def parse_url(text: str) -> URL:
    """The URL with the driver the bot uses. Raises Refused, without repeating a password."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # the latter for a port that is no number
        raise Refused(
            "DATABASE_URL is not a URL; examples: sqlite:///gpu-quota-bot.db, postgresql+psycopg://user@host/name"
        ) from None
    if url.drivername in {"postgres", "postgresql", "postgresql+psycopg"}:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in {"sqlite", "sqlite+pysqlite"}:
        raise Refused(f"DATABASE_URL begins with {url.drivername}; it must be sqlite:/// or postgresql+psycopg://")
    if url.query or (url.database or "").startswith("file:"):
        raise Refused("DATABASE_URL for SQLite is sqlite:/// and a path, with nothing after it")
    return url


def sqlite_file(url: URL) -> Path | None:
    """The database's file; None for PostgreSQL and for a database in memory."""
    if url.get_backend_name() != "sqlite" or url.database in {None, "", ":memory:"}:
        return None
    return Path(str(url.database)).absolute()


def is_for_one_process(database_url: str) -> bool:
    """Whether whoever uses this database may be sure that no other process does (see lock.hold)."""
    return parse_url(database_url).get_backend_name() == "sqlite"


def create(database_url: str) -> Engine:
    """An engine; it connects when it is first used. Raises Refused for a URL that cannot be used."""
    url = parse_url(database_url)
    return _postgresql(url) if url.get_backend_name() == "postgresql" else _sqlite(url)


def _postgresql(url: URL) -> Engine:
    options = {
        "timezone": "UTC",
        "statement_timeout": _LONGEST_STATEMENT * 1000,
        "lock_timeout": LONGEST_WAIT * 1000,
        "idle_in_transaction_session_timeout": _LONGEST_PAUSE * 1000,
    }
    return create_engine(
        url,
        isolation_level="READ COMMITTED",
        pool_size=_CONNECTIONS,
        max_overflow=_CONNECTIONS,
        pool_timeout=LONGEST_WAIT,
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={
            "application_name": "gpu-quota-bot",
            "connect_timeout": LONGEST_WAIT,
            "tcp_user_timeout": _LONGEST_STATEMENT * 1000,
            "options": " ".join(f"-c {name}={value}" for name, value in options.items()),
        },
    )


def _sqlite(url: URL) -> Engine:
    arguments: dict[str, Any] = {"connect_args": {"timeout": LONGEST_WAIT, "check_same_thread": False}}
    if sqlite_file(url) is None:
        arguments["poolclass"] = StaticPool  # one connection: a second one would see another, empty database
    else:
        arguments |= {"pool_size": _CONNECTIONS, "max_overflow": _CONNECTIONS, "pool_timeout": LONGEST_WAIT}
    engine = create_engine(url, hide_parameters=True, **arguments)
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _set_up(connection: SqliteConnection, _record: object) -> None:
    connection.isolation_level = None  # Python's module must not begin transactions behind our back
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    """Take the write lock at once: a transaction that reads first and writes later could only fail, not wait."""
    read_only = connection.get_execution_options().get(READ_ONLY, False)
    connection.exec_driver_sql(f"PRAGMA query_only = {int(read_only)}")
    connection.exec_driver_sql("BEGIN DEFERRED" if read_only else "BEGIN IMMEDIATE")
