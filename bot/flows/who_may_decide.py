"""Who may give a request's steps now, with those to whom they were escalated. Used by every flow that authorises."""

from bot.core.escalations import widened
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest
from bot.flows.world import World
from bot.ports.store import UnitOfWork


def as_asked_now(world: World, policy: Policy, request: QuotaRequest) -> QuotaRequest:
    """For membership's questions; never to be stored."""
    with world.store.read() as uow:
        return with_escalations(uow, policy, request)


def with_escalations(uow: UnitOfWork, policy: Policy, request: QuotaRequest) -> QuotaRequest:
    """The same inside a transaction."""
    return widened(policy, request, uow.escalations.of(request.id))
