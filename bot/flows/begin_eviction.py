"""A loan is over: whether the work above its quota is to be evicted, stored with the end itself.

Called by flows/tell_loans in the transaction that tells the end, so that a kill can forget neither without the other.
"""

from bot.core.evictions import Eviction, grace_of
from bot.core.kueue import FlavorResource
from bot.core.loans import Loan
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest, RequestState
from bot.ports.store import UnitOfWork


def begin_eviction(uow: UnitOfWork, policy: Policy, request: QuotaRequest, loan: Loan) -> None:
    """Once per loan; nothing where the policy lets work run on, and for a loan that never was in force."""
    extensions = uow.requests.find(states={RequestState.APPROVED}, extends=loan.id)
    grace = grace_of(policy, request, extensions)
    if grace is None or loan.in_force_at is None:
        return
    uow.evictions.add(
        Eviction(
            loan=loan.id,
            cluster=loan.cluster,
            queue=loan.borrower,
            entry=FlavorResource(loan.flavor, loan.resource),
            most=max(loan.amount, request.ask.amount),  # a part that went back early was of the loan as well
            grace=grace,
            ended_at=loan.ended_at or loan.end,
        )
    )
