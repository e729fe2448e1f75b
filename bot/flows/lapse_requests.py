"""Requests that nobody decided in time lapse, and their people hear of it. Run by the leader's timetable.

An extension lapses with its loan as well: what was given back, or ended before its time, cannot go on.
"""

from dataclasses import replace
from datetime import timedelta

from bot.core.errors import Stale
from bot.core.offers import OfferState
from bot.core.requests import AuditEntry, QuotaRequest, RequestState
from bot.flows.cards import owe_line, refresh_copies, tell_requester
from bot.flows.close_offer import close_offer
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind
from bot.views.thread_lines import EventKind


def lapse_requests(world: World, epoch: int) -> timedelta | None:
    """What is due is a stored instant. A request that is decided at the same moment keeps its decision."""
    now = world.clock()
    with world.store.read() as uow:
        waiting = uow.requests.find(states={RequestState.WAITING})
        moot = {request.id for request in waiting if _is_over(uow, request.extends)}
    for request in waiting:
        if request.lapses_at <= now or request.id in moot:
            _lapse(world, epoch, request, moot=request.id in moot and now < request.lapses_at)
    return None


def _is_over(uow: UnitOfWork, loan: int | None) -> bool:
    found = uow.loans.get(loan) if loan is not None else None
    return found is not None and found.ended_at is not None


def _lapse(world: World, epoch: int, request: QuotaRequest, *, moot: bool) -> None:
    """A moot one is no news to anybody: they heard of the end of its loan."""
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
        uow.audit.add(AuditEntry(now, "bot", request.verb("lapse"), request.subject, "ok"))
        refresh_copies(uow, request, now, {"worse": None})
        if not moot:
            owe_line(uow, world.policies.policy, request.id, EventKind.LAPSED, now)
            tell_requester(uow, lapsed, NoticeKind.LAPSED, now)
        uow.commit()
    world.wake_delivery()
