"""Transactions. `SqlStore` implements `bot.ports.store.Store` on either database.

READ COMMITTED is enough for `begin` on PostgreSQL: every write that depends on what was read is a compare-and-set, a
unique key or under a row lock. `read` is REPEATABLE READ, so that several queries see one moment. On SQLite both are
serializable; the writers of the process queue for a lock of ours, which is fair and wakes the next one at once, where
SQLite's own polls.
"""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from sqlalchemy import Connection, Engine, text

from bot.adapters.db.audit import SqlAudit
from bot.adapters.db.engine import LONGEST_WAIT, READ_ONLY, sqlite_file
from bot.adapters.db.evictions import SqlEvictions
from bot.adapters.db.failures import translated
from bot.adapters.db.fields import SqlFields
from bot.adapters.db.home_tabs import SqlHomeTabs
from bot.adapters.db.idle_offers import SqlIdleOffers
from bot.adapters.db.inbox import SqlInbox
from bot.adapters.db.incidents import SqlIncidents, SqlMemory, SqlStorms
from bot.adapters.db.leadership import SqlLeadership
from bot.adapters.db.loan_uses import SqlLoanUses
from bot.adapters.db.loans import SqlLoans
from bot.adapters.db.lost_names import SqlLostNames
from bot.adapters.db.notices import SqlNotices
from bot.adapters.db.offers import SqlOffers
from bot.adapters.db.pauses import SqlPauses
from bot.adapters.db.positions import SqlPositions
from bot.adapters.db.proposals import SqlProposals
from bot.adapters.db.requests import SqlRequests
from bot.adapters.db.unanswered import SqlAskBacks, SqlEscalations
from bot.core.errors import Unavailable


class SqlUnitOfWork:
    """One transaction; nothing can be done with it after `commit`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.requests = SqlRequests(connection)
        self.offers = SqlOffers(connection)
        self.loans = SqlLoans(connection)
        self.fields = SqlFields(connection)
        self.inbox = SqlInbox(connection)
        self.notices = SqlNotices(connection)
        self.audit = SqlAudit(connection)
        self.leadership = SqlLeadership(connection)
        self.pauses = SqlPauses(connection)
        self.uses = SqlLoanUses(connection)
        self.idle_offers = SqlIdleOffers(connection)
        self.evictions = SqlEvictions(connection)
        self.ask_backs = SqlAskBacks(connection)
        self.escalations = SqlEscalations(connection)
        self.home_tabs = SqlHomeTabs(connection)
        self.proposals = SqlProposals(connection)
        self.memory = SqlMemory(connection)
        self.incidents = SqlIncidents(connection)
        self.storms = SqlStorms(connection)
        self.positions = SqlPositions(connection)
        self.lost_names = SqlLostNames(connection)

    def alone(self, what: str) -> None:
        """On SQLite every transaction that may write is alone anyway."""
        if self._connection.dialect.name == "postgresql":
            self._connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:what, 0))"), {"what": what})

    def commit(self) -> None:
        self._connection.commit()
        self._connection.close()


class SqlStore:
    """The database. Every method raises Unavailable when it does not answer; for any thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        is_sqlite = engine.dialect.name == "sqlite"
        self._writing: AbstractContextManager[None] = _Turns() if is_sqlite else nullcontext()
        in_memory = is_sqlite and sqlite_file(engine.url) is None
        self._reading = self._writing if in_memory else nullcontext()  # in memory there is one connection for all

    def begin(self) -> AbstractContextManager[SqlUnitOfWork]:
        """A transaction that may write."""
        return self._transaction(self._writing, {})

    def read(self) -> AbstractContextManager[SqlUnitOfWork]:
        """A consistent read; the database refuses to write in it."""
        options: dict[str, Any] = {READ_ONLY: True}
        if self._engine.dialect.name == "postgresql":
            options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        return self._transaction(self._reading, options)

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, turn: AbstractContextManager[None], options: dict[str, Any]) -> Iterator[SqlUnitOfWork]:
        with translated(self._engine.url), turn, self._engine.connect() as connection:
            connection.execution_options(**options)
            connection.begin()
            yield SqlUnitOfWork(connection)


class _Turns:
    """One at a time, first come first served as far as the lock is; not for a transaction inside another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(timeout=LONGEST_WAIT):
            raise Unavailable("database", f"another transaction has been writing for {LONGEST_WAIT} s")

    def __exit__(self, *_: object) -> None:
        self._lock.release()
