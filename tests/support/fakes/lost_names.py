"""Names that are gone, in memory. Used by tests/support/fakes/store."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.core.errors import Stale
from bot.core.lost_names import LostName


class FakeLostNames:
    """Implements ports.lost_names.LostNames over a dict of this transaction, by id."""

    def __init__(self, rows: dict[int, LostName]) -> None:
        self._rows = rows

    def open(self) -> Sequence[LostName]:
        return [one for one in self._rows.values() if one.ended_at is None]

    def begin(self, name: str, since: datetime) -> LostName:
        if any(one.name == name for one in self.open()):
            raise Stale(f"missing {name} is there already")
        lost = LostName(len(self._rows) + 1, name, since)
        self._rows[lost.id] = lost
        return lost

    def end(self, lost_id: int, at: datetime) -> None:
        known = self._rows.get(lost_id)
        if known is not None and known.ended_at is None:
            self._rows[lost_id] = replace(known, ended_at=at)
