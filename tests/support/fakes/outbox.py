"""The outbox of the database in memory. Used by tests/support/fakes/store."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bot.core.errors import Stale
from bot.core.notices import Notice, NoticeDraft, NoticeState

CLAIM_LASTS = timedelta(minutes=5)
_DELIVERY = ("state", "shown", "ref", "not_before", "attempts", "doubtful", "failure")
"""What a delivery may change of a notice."""


@dataclass(frozen=True, slots=True)
class StoredNotice:
    """A notice, and since when its reader is owed something."""

    notice: Notice
    owed_at: datetime


class FakeNotices:
    """Implements ports.store.Notices."""

    def __init__(
        self, rows: dict[str, StoredNotice], ids: Callable[[], str], check_epoch: Callable[[int], None]
    ) -> None:
        self._rows = rows
        self._ids = ids
        self._check_epoch = check_epoch

    def owe(self, draft: NoticeDraft, at: datetime, not_before: datetime | None = None) -> None:
        row = self._rows.get(draft.key)
        if row is None:
            self.owe_once(draft, at, not_before)
            return
        facts = replace(row.notice.draft, facts=_stored(draft.facts))
        again = _wanted_again(replace(row, notice=replace(row.notice, draft=facts)), at)
        if not_before is not None:
            again = replace(again, notice=replace(again.notice, not_before=not_before))
        self._rows[draft.key] = again

    def owe_once(self, draft: NoticeDraft, at: datetime, not_before: datetime | None = None) -> bool:
        if draft.key in self._rows:
            return False
        stored = replace(draft, kind=str(draft.kind), facts=_stored(draft.facts))
        self._rows[draft.key] = StoredNotice(Notice(self._ids(), stored, at, not_before=not_before), at)
        return True

    def refresh(self, key_prefix: str, at: datetime, facts: Mapping[str, Any] | None = None) -> int:
        found = [key for key in self._rows if key.startswith(key_prefix)]
        for key in found:
            row = self._rows[key]
            if facts is not None:
                draft = replace(row.notice.draft, facts=_stored({**row.notice.draft.facts, **facts}))
                row = replace(row, notice=replace(row.notice, draft=draft))
            self._rows[key] = _wanted_again(row, at)
        return len(found)

    def get(self, key: str) -> Notice | None:
        row = self._rows.get(key)
        return row.notice if row else None

    def by_id(self, notice_id: str) -> Notice | None:
        return next((row.notice for row in self._rows.values() if row.notice.id == notice_id), None)

    def latest(self, key_prefix: str) -> Notice | None:
        found = [row.notice for key, row in self._rows.items() if key.startswith(key_prefix)]
        return max(found, key=lambda one: one.created_at, default=None)

    def waiting(self, now: datetime, epoch: int, limit: int) -> Sequence[Notice]:
        due = [row for row in self._rows.values() if _is_due(row.notice, now, epoch)]
        due.sort(key=_turn)
        return [row.notice for row in due[:limit]]

    def claim(self, notice: Notice, epoch: int, at: datetime) -> Notice | None:
        self._check_epoch(epoch)
        row = self._rows.get(notice.draft.key)
        if row is None or not _same(row.notice, notice):
            return None
        claimed = replace(
            row.notice,
            state=NoticeState.CLAIMED,
            claimed_epoch=epoch,
            claimed_at=at,
            doubtful=notice.doubtful or notice.state is NoticeState.CLAIMED,
        )
        self._rows[notice.draft.key] = replace(row, notice=claimed)
        return claimed

    def record(self, notice: Notice) -> None:
        row = self._rows.get(notice.draft.key)
        if row is None or row.notice.state is not NoticeState.CLAIMED or not _same_claim(row.notice, notice):
            raise Stale(f"notice {notice.draft.key} was claimed by somebody else")
        recorded = replace(row.notice, **{name: getattr(notice, name) for name in _DELIVERY})
        if row.notice.wanted > notice.wanted:
            recorded = replace(recorded, state=NoticeState.OWED)
        self._rows[notice.draft.key] = replace(row, notice=recorded)


def _turn(row: StoredNotice) -> tuple[int, datetime, bool, str]:
    draft = row.notice.draft
    return draft.priority, row.owed_at, draft.thread_of is not None, row.notice.id


def _is_due(notice: Notice, now: datetime, epoch: int) -> bool:
    if notice.state is NoticeState.OWED:
        return notice.not_before is None or notice.not_before <= now
    if notice.state is not NoticeState.CLAIMED:
        return False
    return notice.claimed_epoch != epoch or (notice.claimed_at is not None and notice.claimed_at < now - CLAIM_LASTS)


def _same_claim(one: Notice, other: Notice) -> bool:
    return (one.id, one.claimed_epoch, one.claimed_at) == (other.id, other.claimed_epoch, other.claimed_at)


def _same(one: Notice, other: Notice) -> bool:
    unchanged = all(getattr(one, name) == getattr(other, name) for name in _DELIVERY)
    return unchanged and one.wanted == other.wanted and _same_claim(one, other)


def _wanted_again(row: StoredNotice, at: datetime) -> StoredNotice:
    notice = row.notice
    changes: dict[str, Any] = {"wanted": notice.wanted + 1}
    if notice.state is NoticeState.GIVEN_UP:
        changes |= {"attempts": 0, "failure": None}
    if notice.state is not NoticeState.CLAIMED:
        changes["state"] = NoticeState.OWED
    waits_already = notice.state in {NoticeState.OWED, NoticeState.CLAIMED}
    return StoredNotice(replace(notice, **changes), row.owed_at if waits_already else at)


def _stored(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a JSON column gives back. Raises TypeError for what it could not store."""
    values: dict[str, Any] = json.loads(json.dumps(dict(facts)))
    return values
