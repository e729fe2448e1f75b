"""Requests that nobody decided in time lapse, and their people hear of it. Run by the leader's timetable."""

from dataclasses import replace
from datetime import timedelta

from bot.core.errors import Stale
from bot.core.offers import OfferState
from bot.core.requests import AuditEntry, QuotaRequest, RequestState
from bot.flows.cards import owe_line, refresh_cards, tell_requester
from bot.flows.close_offer import close_offer
from bot.flows.world import World
from bot.views.kinds import NoticeKind
from bot.views.thread_lines import EventKind


def lapse_requests(world: World, epoch: int) -> timedelta | None:
    """What is due is a stored instant. A request that is decided at the same moment keeps its decision."""
    with world.store.read() as uow:
        waiting = uow.requests.find(states={RequestState.WAITING})
    now = world.clock()
    for request in waiting:
        if request.lapses_at <= now:
            _lapse(world, epoch, request)
    return None


def _lapse(world: World, epoch: int, request: QuotaRequest) -> None:
    now = world.clock()
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        try:
            lapsed = uow.requests.update(
                replace(request, state=RequestState.LAPSED, decided_at=now, revision=request.revision + 1)
            )
        except Stale:
            return
        close_offer(uow, request.id, OfferState.VOID, "bot", now)
        uow.audit.add(AuditEntry(now, "bot", "lapse", f"Q-{request.id}", "ok"))
        refresh_cards(uow, request.id, now, {"worse": None})
        owe_line(uow, world.policies.policy, request.id, EventKind.LAPSED, now)
        tell_requester(uow, lapsed, NoticeKind.LAPSED, now)
        uow.commit()
    world.wake_delivery()
