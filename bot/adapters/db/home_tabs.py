"""Home tabs that people opened. Implements `bot.ports.home_tabs`."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import RowMapping, select, update

from bot.adapters.db.home_table import HOME_TAB
from bot.adapters.db.sql import Repository
from bot.core.home_tab import HomeTab

_SHOWN = ("shown", "shown_at", "hash", "failure")


class SqlHomeTabs(Repository):
    """One transaction's view of them."""

    def opened(self, user: str, at: datetime) -> None:
        new = self._insert(HOME_TAB).values(user=user, opened_at=at, **dict.fromkeys(_SHOWN))
        again = {"opened_at": new.excluded.opened_at, "failure": None}
        self._connection.execute(new.on_conflict_do_update(index_elements=[HOME_TAB.c.user], set_=again))

    def get(self, user: str) -> HomeTab | None:
        row = self._first(select(HOME_TAB).where(HOME_TAB.c.user == user))
        return None if row is None else _to_tab(row)

    def watched(self, since: datetime, limit: int) -> Sequence[HomeTab]:
        lately = (HOME_TAB.c.opened_at > since, HOME_TAB.c.failure.is_(None))
        newest = (HOME_TAB.c.opened_at.desc(), HOME_TAB.c.user)
        return [_to_tab(row) for row in self._all(select(HOME_TAB).where(*lately).order_by(*newest).limit(limit))]

    def shown(self, tab: HomeTab) -> None:
        columns = {name: getattr(tab, name) for name in _SHOWN}
        self._connection.execute(update(HOME_TAB).where(HOME_TAB.c.user == tab.user).values(columns))


def _to_tab(row: RowMapping) -> HomeTab:
    return HomeTab(row["user"], row["opened_at"], **{name: row[name] for name in _SHOWN})
