"""The outbox. Implements `bot.ports.store.Notices`."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, case, or_, select, update

from bot.adapters.db.leadership import check_epoch
from bot.adapters.db.rows import of_delivery, of_draft, to_notice
from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import NOTICE, NOTICE_UNSETTLED
from bot.adapters.system_clock import new_id
from bot.core.errors import Stale
from bot.core.notices import Notice, NoticeDraft, NoticeState

CLAIM_LASTS = timedelta(minutes=5)
"""A claim of the current epoch is taken for lost after this: its deliverer failed without dying."""

_OWED, _CLAIMED = NoticeState.OWED.value, NoticeState.CLAIMED.value
_IS_CLAIMED = NOTICE.c.state == _CLAIMED


class SqlNotices(Repository):
    """One transaction's view of the outbox."""

    def owe(self, draft: NoticeDraft, at: datetime, not_before: datetime | None = None) -> None:
        """A `not_before` of None leaves an existing notice's as it is: it may be waiting out a rate limit."""
        new = self._insert(NOTICE).values(_new(draft, at, not_before))
        changed: dict[str, Any] = {**_wanted_again(at), "facts": new.excluded.facts}
        if not_before is not None:
            changed["not_before"] = not_before
        self._connection.execute(new.on_conflict_do_update(index_elements=[NOTICE.c.key], set_=changed))

    def owe_once(self, draft: NoticeDraft, at: datetime, not_before: datetime | None = None) -> bool:
        new = self._insert(NOTICE).values(_new(draft, at, not_before))
        return self._first(new.on_conflict_do_nothing().returning(NOTICE.c.id)) is not None

    def refresh(self, key_prefix: str, at: datetime, facts: Mapping[str, Any] | None = None) -> int:
        same_start = _begins_with(key_prefix)
        if facts is None:
            return self._count(update(NOTICE).where(same_start).values(_wanted_again(at)))
        found = self._all(select(NOTICE.c.id, NOTICE.c.facts).where(same_start).order_by(NOTICE.c.id).with_for_update())
        for row in found:
            merged = {**_wanted_again(at), "facts": {**row["facts"], **facts}}
            self._connection.execute(update(NOTICE).where(NOTICE.c.id == row["id"]).values(merged))
        return len(found)

    def get(self, key: str) -> Notice | None:
        row = self._first(select(NOTICE).where(NOTICE.c.key == key))
        return None if row is None else to_notice(row)

    def by_id(self, notice_id: str) -> Notice | None:
        row = self._first(select(NOTICE).where(NOTICE.c.id == notice_id))
        return None if row is None else to_notice(row)

    def latest(self, key_prefix: str) -> Notice | None:
        newest = (NOTICE.c.created_at.desc(), NOTICE.c.key.desc())
        row = self._first(select(NOTICE).where(_begins_with(key_prefix)).order_by(*newest).limit(1))
        return None if row is None else to_notice(row)

    def waiting(self, now: datetime, epoch: int, limit: int) -> Sequence[Notice]:
        """A claim of long ago is older than CLAIM_LASTS. Age counts from when the reader was first owed something.

        Of those of one age, what begins a thread comes before what goes into one.
        """
        due = and_(NOTICE.c.state == _OWED, or_(NOTICE.c.not_before.is_(None), NOTICE.c.not_before <= now))
        lost = and_(_IS_CLAIMED, or_(NOTICE.c.claimed_epoch != epoch, NOTICE.c.claimed_at < now - CLAIM_LASTS))
        query = (
            select(NOTICE)
            .where(NOTICE_UNSETTLED, or_(due, lost))
            .order_by(NOTICE.c.priority, NOTICE.c.owed_at, NOTICE.c.thread_of.is_not(None), NOTICE.c.id)
            .limit(limit)
        )
        return [to_notice(row) for row in self._all(query)]

    def claim(self, notice: Notice, epoch: int, at: datetime) -> Notice | None:
        """One that was claimed before comes back `doubtful`: that deliverer may have posted it."""
        check_epoch(self._connection, epoch)
        row = self._first(
            update(NOTICE)
            .where(_unchanged(notice))
            .values(
                state=_CLAIMED,
                claimed_epoch=epoch,
                claimed_at=at,
                doubtful=notice.doubtful or notice.state is NoticeState.CLAIMED,
            )
            .returning(NOTICE)
        )
        return None if row is None else to_notice(row)

    def record(self, notice: Notice) -> None:
        """Raises Stale if the claim is not this one's any more: what it posted is then found in the history."""
        recorded = of_delivery(notice)
        wanted_more = NOTICE.c.wanted > notice.wanted
        claim = (NOTICE.c.claimed_epoch == notice.claimed_epoch, NOTICE.c.claimed_at == notice.claimed_at)
        statement = (
            update(NOTICE)
            .where(NOTICE.c.id == notice.id, _IS_CLAIMED, *claim)
            .values(recorded | {"state": case((wanted_more, _OWED), else_=recorded["state"])})
        )
        if self._count(statement) == 0:
            raise Stale(f"notice {notice.draft.key} was claimed by somebody else")


def _begins_with(key_prefix: str) -> ColumnElement[bool]:
    """Not LIKE: it ignores case on SQLite and has wildcards. Keys are ordered by their bytes, so this is the index."""
    return and_(NOTICE.c.key >= key_prefix, NOTICE.c.key <= key_prefix + "\U0010ffff")


def _new(draft: NoticeDraft, at: datetime, not_before: datetime | None) -> dict[str, Any]:
    return {
        **of_draft(draft),
        "id": new_id(),
        "created_at": at,
        "owed_at": at,
        "state": _OWED,
        "wanted": 1,
        "shown": 0,
        "not_before": not_before,
        "attempts": 0,
        "doubtful": False,
    }


def _wanted_again(at: datetime) -> dict[str, Any]:
    """A claimed one stays claimed: `record` makes it OWED again. One that was given up gets another try."""
    waits_already = NOTICE.c.state.in_([_OWED, _CLAIMED])
    given_up = NOTICE.c.state == NoticeState.GIVEN_UP.value
    return {
        "wanted": NOTICE.c.wanted + 1,
        "state": case((_IS_CLAIMED, _CLAIMED), else_=_OWED),
        "owed_at": case((waits_already, NOTICE.c.owed_at), else_=at),
        "attempts": case((given_up, 0), else_=NOTICE.c.attempts),
        "failure": case((given_up, None), else_=NOTICE.c.failure),
    }


def _unchanged(notice: Notice) -> ColumnElement[bool]:
    seen = {
        **of_delivery(notice),
        "wanted": notice.wanted,
        "claimed_epoch": notice.claimed_epoch,
        "claimed_at": notice.claimed_at,
    }
    same = (NOTICE.c[name].is_not_distinct_from(value) for name, value in seen.items())
    return and_(NOTICE.c.id == notice.id, *same)
