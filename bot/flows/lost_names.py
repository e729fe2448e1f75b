"""Names that the policy does not have any more: what waits on them is held for a day, then lapses; loans go on.

Run by the leader's timetable, so that a change of the files while the bot was down is found as well. The platform
channel hears of a disappearance once, and once that the name is back. A loan is never ended by this: it has a stored
end, its numbers are the cluster's, and whoever asked for it may still return it.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from bot.core.errors import Stale
from bot.core.lost_names import LostName
from bot.core.notices import NoticeDraft
from bot.core.offers import OfferState
from bot.core.policy import Policy
from bot.core.requests import AuditEntry, QuotaRequest, RequestState
from bot.core.still_possible import Gone, gone_from_policy, lenders_team_gone
from bot.flows.cards import owe_line, refresh_copies, tell_requester
from bot.flows.close_offer import close_offer
from bot.flows.gather import OPEN
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind
from bot.views.thread_lines import EventKind


@dataclass(slots=True)
class _Missing:
    """What stands on a name that is gone."""

    why: str
    waiting: dict[int, tuple[QuotaRequest, Gone]] = field(default_factory=dict)
    loans: list[int] = field(default_factory=list)


def lost_names(world: World, epoch: int) -> timedelta | None:
    """One look. Raises NotLeader, Unavailable (database)."""
    policy, now = world.policies.policy, world.clock()
    with world.store.read() as uow:
        waiting = uow.requests.find(states={RequestState.WAITING})
        open_loans = uow.loans.find(states=OPEN)
        asked = [one for loan in open_loans if (one := uow.requests.get(loan.id)) is not None]
        known = {lost.name: lost for lost in uow.lost_names.open()}
    missing = _missing(policy, waiting, asked)
    standing = {one.id for one in (*waiting, *asked)}
    still = {number for what in missing.values() for number in (*what.waiting, *what.loans)}
    for name, what in sorted(missing.items()):
        if name not in known:
            _begin(world, epoch, name, what)
        elif what.waiting and known[name].held_until <= now:
            _lapse(world, epoch, known[name], what)
    for name in sorted(known.keys() - missing.keys()):
        _end(world, epoch, known[name], standing, still)
    return None


def _missing(policy: Policy, waiting: Sequence[QuotaRequest], asked: Sequence[QuotaRequest]) -> Mapping[str, _Missing]:
    """By name. Of rebuilt loans nobody knows who asked."""
    found: dict[str, _Missing] = {}
    for request in waiting:
        if (gone := gone_from_policy(policy, request.ask)) is not None:
            found.setdefault(gone.name, _Missing(gone.why)).waiting[request.id] = (request, gone)
    for request in asked:
        for gone in (gone_from_policy(policy, request.ask), lenders_team_gone(policy, request)):
            if gone is not None:
                found.setdefault(gone.name, _Missing(gone.why)).loans.append(request.id)
    return found


def _begin(world: World, epoch: int, name: str, what: _Missing) -> None:
    now = world.clock()
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        _tell(world, uow, uow.lost_names.begin(name, now), what, [])
        uow.commit()
    world.wake_delivery()


def _tell(world: World, uow: UnitOfWork, lost: LostName, what: _Missing, lapsed: list[int]) -> None:
    """One message for a disappearance, which changes when what waited has lapsed."""
    facts = {
        "what": what.why,
        "loans": sorted(what.loans),
        "waiting": sorted(what.waiting.keys() - set(lapsed)),
        "until": lost.held_until.isoformat(),
        "lapsed": sorted(lapsed),
    }
    to = world.policies.policy.approvals.platform_channel
    uow.notices.owe(NoticeDraft(_key(lost), NoticeKind.NAME_GONE, to, facts), world.clock())


def _key(lost: LostName) -> str:
    return f"{NoticeKind.NAME_GONE.value}:{lost.id}"


def _lapse(world: World, epoch: int, lost: LostName, what: _Missing) -> None:
    """Everything that waits on it, and the message that says so, in one transaction."""
    now = world.clock()
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        lapsed = [number for number, (one, gone) in what.waiting.items() if _lapsed(world, uow, one, gone.why, now)]
        _tell(world, uow, lost, what, lapsed)
        uow.commit()
    world.wake_delivery()


def _lapsed(world: World, uow: UnitOfWork, request: QuotaRequest, why: str, now: datetime) -> bool:
    """Whether it is this that closed it."""
    closed = replace(request, state=RequestState.LAPSED, decided_at=now, words=why, revision=request.revision + 1)
    try:
        stored = uow.requests.update(closed)
    except Stale:
        return False
    close_offer(uow, request.id, OfferState.VOID, "bot", now)
    uow.audit.add(AuditEntry(now, "bot", request.verb("lapse"), request.subject, why))
    refresh_copies(uow, request, now, {"worse": None})
    owe_line(uow, world.policies.policy, request.id, EventKind.LOST_NAME, now, words=why)
    tell_requester(uow, stored, NoticeKind.LAPSED, now)
    return True


def _end(world: World, epoch: int, lost: LostName, standing: Set[int], still: Set[int]) -> None:
    """It is over. Said if something that stood on the name goes on; not if that lacks another name now."""
    now = world.clock()
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        uow.lost_names.end(lost.id, now)
        told = uow.notices.get(_key(lost))
        if told is not None and _is_back(told.draft.facts, standing, still):
            facts = {**told.draft.facts, "name": lost.name}
            facts |= {kind: sorted(standing & set(facts[kind])) for kind in ("waiting", "loans")}
            key, kind = f"{NoticeKind.NAME_BACK.value}:{lost.id}", NoticeKind.NAME_BACK
            uow.notices.owe_once(NoticeDraft(key, kind, told.draft.to, facts), now)
        uow.commit()
    world.wake_delivery()


def _is_back(told: Mapping[str, Any], standing: Set[int], still: Set[int]) -> bool:
    goes_on = standing & {*told["waiting"], *told["loans"]}
    return bool(goes_on) and not goes_on & still
