"""Requests and their approvals. Implements `bot.ports.store.Requests`."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import and_, func, or_, select

from bot.adapters.db.rows import of_approval, of_request, to_approval, to_request
from bot.adapters.db.sql import Repository
from bot.adapters.db.tables import APPROVAL, LOAN, REQUEST
from bot.core.loans import LoanState
from bot.core.requests import Approval, QuotaRequest, RequestState, ways_into

_TIME = REQUEST.alias("time")
_WAITS = REQUEST.c.state == RequestState.WAITING.value
_ON_LOAN = (
    select(func.coalesce(_TIME.c.series, _TIME.c.id))
    .join(LOAN, LOAN.c.id == _TIME.c.id)
    .where(LOAN.c.state != LoanState.CLOSED.value)
)
"""Numbers of requests; of a time of a series that of the series."""


class SqlRequests(Repository):
    """One transaction's view of the requests."""

    def add(self, draft: QuotaRequest) -> QuotaRequest:
        return to_request(self._add(REQUEST, of_request(draft) | {"version": 1}, f"a request from {draft.origin}"))

    def get(self, number: int) -> QuotaRequest | None:
        row = self._first(select(REQUEST).where(REQUEST.c.id == number))
        return None if row is None else to_request(row)

    def by_origin(self, origin: str) -> QuotaRequest | None:
        row = self._first(select(REQUEST).where(REQUEST.c.origin == origin))
        return None if row is None else to_request(row)

    def find(
        self,
        *,
        states: Collection[RequestState] | None = None,
        teams: Collection[str] | None = None,
        requester: str | None = None,
        extends: int | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> Sequence[QuotaRequest]:
        query = select(REQUEST).where(REQUEST.c.series.is_(None)).limit(limit)
        query = query.order_by(REQUEST.c.created_at.desc(), REQUEST.c.id.desc())
        if states is not None:
            query = query.where(REQUEST.c.state.in_([state.value for state in states]))
        if teams is not None:
            query = query.where(REQUEST.c.team.in_(list(teams)))
        if requester is not None:
            query = query.where(REQUEST.c.requester == requester)
        if extends is not None:
            query = query.where(REQUEST.c.extends == extends)
        if since is not None:
            query = query.where(REQUEST.c.created_at >= since)
        return [to_request(row) for row in self._all(query)]

    def find_open(
        self, *, teams: Collection[str] | None = None, requester: str | None = None
    ) -> Sequence[QuotaRequest]:
        query = select(REQUEST).where(REQUEST.c.series.is_(None), or_(_WAITS, REQUEST.c.id.in_(_ON_LOAN)))
        query = query.order_by(REQUEST.c.created_at.desc(), REQUEST.c.id.desc())
        if teams is not None:
            query = query.where(REQUEST.c.team.in_(list(teams)))
        if requester is not None:
            query = query.where(REQUEST.c.requester == requester)
        return [to_request(row) for row in self._all(query)]

    def teams(self) -> frozenset[str]:
        return frozenset(row["team"] for row in self._all(select(REQUEST.c.team).distinct()))

    def times_of(self, series: int) -> Sequence[QuotaRequest]:
        query = select(REQUEST).where(REQUEST.c.series == series).order_by(REQUEST.c.id)
        return [to_request(row) for row in self._all(query)]

    def update(self, request: QuotaRequest) -> QuotaRequest:
        before = [state.value for state in ways_into(request.state)]
        key = and_(REQUEST.c.id == request.id, REQUEST.c.state.in_(before))
        what = f"request {request.id}, which is to be {request.state.value},"
        return to_request(self._swap(REQUEST, key, request.version, of_request(request), what))

    def approvals(self, number: int) -> Sequence[Approval]:
        of_now = and_(REQUEST.c.id == APPROVAL.c.request, REQUEST.c.terms == APPROVAL.c.terms)
        query = select(APPROVAL).join(REQUEST, of_now).where(APPROVAL.c.request == number).order_by(APPROVAL.c.id)
        return [to_approval(row) for row in self._all(query)]

    def approve(self, approval: Approval) -> None:
        self._add(APPROVAL, of_approval(approval), f"the approval of request {approval.request} by {approval.who}")
