"""Home tabs that people opened, and what their rows are looked up by. Implements `bot.ports.home_tabs`."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import RowMapping, func, or_, select, update

from bot.adapters.db.home_table import HOME_TAB
from bot.adapters.db.rows import to_request
from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import LOAN, REQUEST
from bot.adapters.db.unanswered_tables import ESCALATION
from bot.core.home_tab import HomeTab
from bot.core.loans import LoanState
from bot.core.requests import QuotaRequest, RequestState

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

    def waiting_for(self, names: Collection[str]) -> Sequence[QuotaRequest]:
        waits = (REQUEST.c.state == RequestState.WAITING.value, REQUEST.c.series.is_(None))
        to = select(ESCALATION.c.request).where(ESCALATION.c.to.in_(list(names)))
        escalated = {row["id"] for row in self._all(select(REQUEST.c.id).where(*waits, REQUEST.c.id.in_(to)))}
        query = select(REQUEST).where(*waits).order_by(REQUEST.c.created_at, REQUEST.c.id)
        found = [to_request(row) for row in self._all(query)]
        return [one for one in found if one.id in escalated or any(step.who in names for step in one.steps)]

    def on_loan(self, requester: str | None = None, teams: Collection[str] = ()) -> Sequence[QuotaRequest]:
        of_one = func.coalesce(REQUEST.c.series, REQUEST.c.id)
        held = select(of_one).join(LOAN, LOAN.c.id == REQUEST.c.id).where(LOAN.c.state != LoanState.CLOSED.value)
        whose = or_(REQUEST.c.requester == requester, REQUEST.c.team.in_(list(teams)))
        newest = (REQUEST.c.created_at.desc(), REQUEST.c.id.desc())
        query = select(REQUEST).where(REQUEST.c.id.in_(held), whose).order_by(*newest)
        return [to_request(row) for row in self._all(query)]


def _to_tab(row: RowMapping) -> HomeTab:
    return HomeTab(row["user"], row["opened_at"], **{name: row[name] for name in _SHOWN})
