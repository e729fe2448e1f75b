"""Turn a waiting request into a loan: the one place where approval, by a person or by a rule, becomes something lent.

Called by flows/record_decision and flows/submit_request in their transactions. Writes nothing to a cluster.
"""

from dataclasses import replace
from datetime import datetime

from bot.core.errors import Refused
from bot.core.loans import Loan
from bot.core.requests import QuotaRequest, RequestState
from bot.flows.grant_series import grant_series
from bot.ports.store import UnitOfWork


def grant_loan(uow: UnitOfWork, request: QuotaRequest, by: str, now: datetime) -> QuotaRequest:
    """Turn a waiting request into a loan, in the caller's transaction. Raises Stale, Refused if its time is over."""
    ask = request.ask
    if ask.series is not None:
        return grant_series(uow, request, by, now)
    start = max(now, ask.start or now)
    end = start + ask.duration if ask.duration is not None else ask.until
    if end is None or end <= now:
        raise Refused(f"The time that Q-{request.id} asks for is over. Ask again with a new end.")
    approved = replace(
        request, state=RequestState.APPROVED, decided_by=by, decided_at=now, revision=request.revision + 1
    )
    stored = uow.requests.update(approved)
    uow.loans.add(
        Loan(
            id=request.id,
            cluster=ask.cluster,
            kind=ask.kind,
            lender=ask.lender,
            borrower=ask.queue,
            flavor=ask.flavor,
            resource=ask.resource,
            amount=ask.amount,
            start=start,
            end=end,
        )
    )
    return stored
