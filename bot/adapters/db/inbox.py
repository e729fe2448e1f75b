"""Arrivals that were acknowledged. Implements `bot.ports.store.Inbox`.

A row waits, is claimed, and ends done or failed. A claim is lost by age alone: a worker that died and one that is slow
look the same, so `done` proves that nobody else finished the item in the meantime.
"""

from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum

from sqlalchemy import Update, and_, or_, select, update

from bot.adapters.db.columns import DatabaseNow, database_now
from bot.adapters.db.rows import of_inbox, to_inbox
from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import INBOX, INBOX_UNSETTLED
from bot.core.errors import AlreadyHandled
from bot.core.inbox import InboxItem


class _State(StrEnum):
    WAITING = "waiting"
    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"


class SqlInbox(Repository):
    """One transaction's view of the inbox."""

    def put(self, items: Sequence[InboxItem]) -> frozenset[str]:
        if not items:
            return frozenset()
        # in one order everywhere, so that two replicas that store the same redeliveries cannot wait for each other
        rows = [of_inbox(item) | {"state": _State.WAITING.value} for item in sorted(items, key=lambda item: item.key)]
        statement = self._insert(INBOX).on_conflict_do_nothing().returning(INBOX.c.key)
        return frozenset(self._connection.execute(statement, rows).scalars())

    def take(self, worker: str, limit: int, retry_after: timedelta) -> Sequence[InboxItem]:
        """`attempts` of what it returns counts this attempt."""
        lost = and_(
            INBOX.c.state == _State.CLAIMED.value, INBOX.c.claimed_at < database_now(self._connection) - retry_after
        )
        due = (
            select(INBOX.c.key)
            .where(or_(INBOX.c.state == _State.WAITING.value, lost), INBOX_UNSETTLED)
            .order_by(INBOX.c.received_at, INBOX.c.key)
            .limit(limit)
            .with_for_update(skip_locked=True)  # SQLite has no row locks and needs none: one writes at a time
            .cte("due")  # a sub-select with row locks could be run more than once, a CTE with them is run once
        )
        rows = self._all(self._claimed_by(worker).where(INBOX.c.key.in_(select(due.c.key))).returning(INBOX))
        return sorted((to_inbox(row) for row in rows), key=lambda item: (item.received_at, item.key))

    def claim(self, key: str, worker: str) -> bool:
        waits = (INBOX.c.key == key, INBOX.c.state == _State.WAITING.value)
        return self._count(self._claimed_by(worker).where(*waits)) == 1

    def done(self, key: str) -> None:
        """Raises AlreadyHandled if it is done or given up already: somebody else did the work of this transaction."""
        ended = update(INBOX).where(INBOX.c.key == key, INBOX_UNSETTLED).values(state=_State.DONE.value)
        if self._count(ended) == 0:
            raise AlreadyHandled(f"arrival {key} was handled by somebody else")

    def failed(self, key: str, why: str) -> None:
        """Harmless if it was handled after all."""
        ended = update(INBOX).where(INBOX.c.key == key, INBOX_UNSETTLED)
        self._connection.execute(ended.values(state=_State.FAILED.value, failure=why))

    @staticmethod
    def _claimed_by(worker: str) -> Update:
        return update(INBOX).values(
            state=_State.CLAIMED.value,
            claimed_by=worker,
            claimed_at=DatabaseNow(),
            attempts=INBOX.c.attempts + 1,
        )
