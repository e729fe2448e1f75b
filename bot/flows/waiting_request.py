"""A request that can still be decided, or the refusal that says how it was. Used by the flows that decide and offer."""

from datetime import datetime

from bot.core.errors import Refused
from bot.core.requests import QuotaRequest, RequestState
from bot.flows.gather import person_or_id, request_of
from bot.flows.refused_with import RefusedWith
from bot.flows.world import World
from bot.views.refusals import Decided, Outcome, already_decided, being_changed


def waiting_request(world: World, number: int, now: datetime) -> QuotaRequest:
    """As it is stored. Raises Refused, in words, for one that does not wait any more."""
    request = request_of(world, number)
    if request.state is not RequestState.WAITING:
        raise already(world, request)
    if request.lapses_at <= now:  # the leader has not come to it yet
        raise RefusedWith(already_decided(Decided(request.name, Outcome.LAPSED, request.lapses_at)))
    return request


def already(world: World, request: QuotaRequest) -> Refused:
    """Why a request that was read again cannot be decided by this press."""
    if request.state is RequestState.WAITING:
        return RefusedWith(being_changed(request.number, None))
    by = request.decided_by or ""
    rule = by.removeprefix("rule:") if by.startswith("rule:") else None
    return RefusedWith(
        already_decided(
            Decided(
                request.name,
                Outcome(request.state.value),
                request.decided_at or request.created_at,
                person_or_id(world, by) if by and rule is None else None,
                rule,
                request.words or "",
            )
        )
    )
