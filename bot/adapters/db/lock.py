"""One process per SQLite file: an exclusive lock on a file beside it. Taken by `run`, and by the migrations.

The kernel drops the lock when its process ends, however it ends, so a lock file that is left behind means nothing.
"""

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.adapters.db.engine import parse_url, sqlite_file
from bot.core.errors import Refused


@contextmanager
def hold(database_url: str) -> Iterator[None]:
    """Be the only process on this database. Raises Refused, naming the other one.

    Does nothing for PostgreSQL, which serves many, and for a database in memory, which nobody else can see.
    """
    database = sqlite_file(parse_url(database_url))
    if database is None:
        yield
        return
    path = database.resolve().with_name(database.resolve().name + ".lock")
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Refused(f"The lock file {path} of the database cannot be opened: {error.strerror}.") from error
    try:
        _lock(descriptor, path, database)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path, database: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 200, 0).decode(errors="replace").strip() or "another process"
        raise Refused(
            f"The database {database} is in use by {holder}. SQLite serves one process: stop that one first, or use "
            "PostgreSQL for several."
        ) from None
    except OSError as error:
        raise Refused(f"The lock file {path} of the database cannot be locked: {error.strerror}.") from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
