"""The vendors' exceptions become ours, without the password. Wrapped around every transaction by unit_of_work.py."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from psycopg import errors as postgres
from sqlalchemy import URL, exc

from bot.core.errors import Stale, Unavailable

_LONGEST = 300
_LOST_A_RACE = (postgres.SerializationFailure, postgres.DeadlockDetected)
_BROKEN = (exc.OperationalError, exc.InterfaceError, exc.InternalError)


@contextmanager
def translated(url: URL) -> Iterator[None]:
    """Raise Unavailable for a database that does not answer, Stale for a transaction that lost to another.

    What is left (a wrong statement, a number out of range) is a mistake in the program and stays what it is.
    """
    try:
        yield
    except exc.IntegrityError as error:
        raise Stale(_reason(error, url)) from error
    except exc.DBAPIError as error:
        if isinstance(error.orig, _LOST_A_RACE):
            raise Stale(_reason(error, url)) from error
        if error.connection_invalidated or isinstance(error, _BROKEN) or _is_damaged(error.orig):
            raise Unavailable("database", _reason(error, url)) from error
        raise
    except exc.TimeoutError as error:
        raise Unavailable("database", "all connections are busy") from error


def _is_damaged(error: BaseException | None) -> bool:
    """SQLite says "file is not a database" and "disk image is malformed" with the plain base class."""
    return type(error) is sqlite3.DatabaseError


def _reason(error: exc.DBAPIError, url: URL) -> str:
    """The driver's own first line: SQLAlchemy's text has the statement in it."""
    lines = str(error.orig).strip().splitlines() or [type(error.orig).__name__]
    text = lines[0]
    if url.password:
        text = text.replace(str(url.password), "***")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
