"""The inbox of the database in memory. Used by tests/support/fakes/store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.core.errors import AlreadyHandled
from bot.core.inbox import InboxItem

_UNSETTLED = ("waiting", "claimed")


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An arrival and where its handling stands."""

    item: InboxItem
    state: str = "waiting"
    claimed_at: datetime | None = None
    failure: str | None = None


class FakeInbox:
    """Implements ports.store.Inbox."""

    def __init__(self, rows: dict[str, StoredItem], clock: Callable[[], datetime]) -> None:
        self._rows = rows
        self._clock = clock

    def put(self, items: Sequence[InboxItem]) -> frozenset[str]:
        new = {item.key: item for item in reversed(items) if item.key not in self._rows}
        self._rows.update({key: StoredItem(item) for key, item in new.items()})
        return frozenset(new)

    def take(self, worker: str, limit: int, retry_after: timedelta) -> Sequence[InboxItem]:
        before = self._clock() - retry_after
        due = [
            key
            for key, row in self._rows.items()
            if row.state == "waiting"
            or (row.state == "claimed" and row.claimed_at is not None and row.claimed_at < before)
        ]
        due.sort(key=lambda key: (self._rows[key].item.received_at, key))
        return [self._claimed(key) for key in due[:limit]]

    def claim(self, key: str, worker: str) -> bool:
        row = self._rows.get(key)
        if row is None or row.state != "waiting":
            return False
        self._claimed(key)
        return True

    def done(self, key: str) -> None:
        row = self._rows.get(key)
        if row is None or row.state not in _UNSETTLED:
            raise AlreadyHandled(f"arrival {key} was handled by somebody else")
        self._rows[key] = replace(row, state="done")

    def failed(self, key: str, why: str) -> None:
        row = self._rows.get(key)
        if row is not None and row.state in _UNSETTLED:
            self._rows[key] = replace(row, state="failed", failure=why)

    def _claimed(self, key: str) -> InboxItem:
        row = self._rows[key]
        item = replace(row.item, attempts=row.item.attempts + 1)
        self._rows[key] = replace(row, item=item, state="claimed", claimed_at=self._clock())
        return item
