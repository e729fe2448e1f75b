"""Names that the policy does not have any more: what waits on them lapses, what is on loan goes on, the admins hear it.

Run by the leader's timetable, so that a change of the files while the bot was down is found as well. A loan is never
ended by this: it has a stored end, its numbers are the cluster's, and whoever asked for it may still return it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from bot.core.errors import Stale
from bot.core.notices import NoticeDraft
from bot.core.offers import OfferState
from bot.core.policy import Policy
from bot.core.requests import AuditEntry, QuotaRequest, RequestState
from bot.core.still_possible import gone_from_policy, lenders_team_gone
from bot.flows.cards import owe_line, refresh_copies, tell_requester
from bot.flows.close_offer import close_offer
from bot.flows.gather import OPEN
from bot.flows.world import World
from bot.views.kinds import NoticeKind
from bot.views.thread_lines import EventKind


def lost_names(world: World, epoch: int) -> timedelta | None:
    """One look. Raises NotLeader, Unavailable (database)."""
    policy = world.policies.policy
    with world.store.read() as uow:
        waiting = uow.requests.find(states={RequestState.WAITING})
        asked = [uow.requests.get(loan.id) for loan in uow.loans.find(states=OPEN)]
    lost = [(one, why) for one in waiting if (why := gone_from_policy(policy, one.ask)) is not None]
    lapsed = [(one, why) for one, why in lost if _lapse(world, epoch, one, why)]
    loans = _on_loan(policy, [one for one in asked if one is not None])
    for why in sorted({why for _, why in lapsed} | loans.keys()):
        _tell(world, epoch, why, loans.get(why, ()), [one.name for one, about in lapsed if about == why])
    return None


def _on_loan(policy: Policy, requests: Sequence[QuotaRequest]) -> Mapping[str, Sequence[int]]:
    """Open loans by what is not there any more; of the rebuilt ones nobody knows who asked."""
    found: dict[str, list[int]] = defaultdict(list)
    for request in requests:
        for why in (gone_from_policy(policy, request.ask), lenders_team_gone(policy, request)):
            if why is not None:
                found[why].append(request.id)
    return found


def _lapse(world: World, epoch: int, request: QuotaRequest, why: str) -> bool:
    """Whether it is this that closed it."""
    now = world.clock()
    closed = replace(request, state=RequestState.LAPSED, decided_at=now, words=why, revision=request.revision + 1)
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        try:
            lapsed = uow.requests.update(closed)
        except Stale:
            return False
        close_offer(uow, request.id, OfferState.VOID, "bot", now)
        uow.audit.add(AuditEntry(now, "bot", request.verb("lapse"), request.subject, why))
        refresh_copies(uow, request, now, {"worse": None})
        owe_line(uow, world.policies.policy, request.id, EventKind.LOST_NAME, now, words=why)
        tell_requester(uow, lapsed, NoticeKind.LAPSED, now)
        uow.commit()
    world.wake_delivery()
    return True


def _tell(world: World, epoch: int, why: str, loans: Sequence[int], lapsed: Sequence[str]) -> None:
    """Once for what is gone."""
    key, now = f"{NoticeKind.NAME_GONE.value}:{why}", world.clock()
    with world.store.read() as uow:
        if uow.notices.get(key) is not None:
            return
    to = world.policies.policy.approvals.platform_channel
    facts = {"what": why, "loans": sorted(loans), "lapsed": list(lapsed)}
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        uow.notices.owe_once(NoticeDraft(key, NoticeKind.NAME_GONE, to, facts), now)
        uow.commit()
    world.wake_delivery()
