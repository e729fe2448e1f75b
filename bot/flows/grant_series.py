"""Turn a request that repeats into its loans: all of them at the one decision, each under a number of its own.

Called by flows/grant_loan in its transaction. Every time of a series is a request that is approved with it, and that
request's loan, so that whatever knows of loans needs no notion of a series. `origin` says which time it is and is
unique: however often it is tried, and whoever tries it, there is one of each.
"""

from dataclasses import replace
from datetime import datetime

from bot.core.errors import Refused
from bot.core.loans import Loan
from bot.core.requests import Ask, QuotaRequest, RequestState
from bot.core.series import Span
from bot.flows.cards import tell_requester
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind


def grant_series(uow: UnitOfWork, request: QuotaRequest, by: str, now: datetime) -> QuotaRequest:
    """The series as it is stored. Raises Stale, Refused if all of it is over. What is over by now is left out."""
    series = request.ask.series
    assert series is not None, "only what repeats is a series"
    left = series.left(now)
    if not left:
        raise Refused(f"The last time that {request.name} asks for is over. Ask again with a new end.")
    approved = replace(
        request, state=RequestState.APPROVED, decided_by=by, decided_at=now, revision=request.revision + 1
    )
    stored = uow.requests.update(approved)
    for span in left:
        one = uow.requests.add(_one(stored, series.spans.index(span) + 1, span))
        uow.loans.add(_loan(one.id, stored.ask, span, now))
    tell_requester(uow, stored, NoticeKind.SERIES_APPROVED, now)
    return stored


def _one(request: QuotaRequest, place: int, span: Span) -> QuotaRequest:
    """The request of one time of it: what was asked and decided for all."""
    ask = replace(request.ask, start=span.start, until=span.end, duration=None, series=None)
    return replace(request, id=0, ask=ask, origin=f"series:{request.id}:{place}", series=request.id, picture=None)


def _loan(number: int, ask: Ask, span: Span, now: datetime) -> Loan:
    return Loan(
        id=number,
        cluster=ask.cluster,
        kind=ask.kind,
        lender=ask.lender,
        borrower=ask.queue,
        flavor=ask.flavor,
        resource=ask.resource,
        amount=ask.amount,
        start=max(now, span.start),
        end=span.end,
    )
