"""What people hear of an eviction at a loan's end: before it, after it, and when it was undone.

Called by flows/evict_work in the transaction that changes the row. The announcement is one message per reader, which
shows what came of it; what is done is a new message, because its news must be noticed.
"""

from datetime import datetime

from bot.core.evictions import Eviction, WorkState
from bot.core.notices import NoticeDraft
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest
from bot.flows.cards import owe_line, refresh_cards
from bot.flows.eviction_facts import Hangs
from bot.ports.store import UnitOfWork
from bot.views.amounts import counted
from bot.views.kinds import NoticeKind
from bot.views.thread_lines import EventKind


def tell_announced(uow: UnitOfWork, policy: Policy, facts: Hangs, eviction: Eviction, now: datetime) -> None:
    """The requester, and the channel of the team whose queue it is."""
    for to in _readers(policy, facts, eviction):
        draft = NoticeDraft(_key(eviction, to), NoticeKind.EVICTION_ANNOUNCED, to, {"loan": eviction.loan})
        uow.notices.owe_once(draft, now)
    owe_line(uow, policy, eviction.loan, EventKind.EVICTS, now, note=_count(eviction, *WorkState))
    refresh_cards(uow, eviction.loan, now)


def tell_changed(uow: UnitOfWork, eviction: Eviction, now: datetime) -> None:
    """The announcement says what is new, without a new message."""
    uow.notices.refresh(_key(eviction, ""), now)


def tell_over(uow: UnitOfWork, policy: Policy, facts: Hangs, eviction: Eviction, now: datetime) -> None:
    """The grace is over: each reader once, if anything was evicted; else the announcement alone says that."""
    tell_changed(uow, eviction, now)
    if eviction.of(WorkState.EVICTED):
        _owe(uow, policy, facts, eviction, NoticeKind.WORK_EVICTED, now)
        owe_line(uow, policy, eviction.loan, EventKind.EVICTED, now, note=_count(eviction, WorkState.EVICTED))


def tell_undone(uow: UnitOfWork, policy: Policy, facts: Hangs, eviction: Eviction, now: datetime) -> None:
    """What was evicted is active again, or could not be made so; nothing if nothing was to be undone."""
    tell_changed(uow, eviction, now)
    uow.notices.refresh(f"{NoticeKind.WORK_EVICTED.value}:{eviction.loan}:", now)
    if eviction.of(WorkState.RESTORED, WorkState.LEFT):
        _owe(uow, policy, facts, eviction, NoticeKind.EVICTION_UNDONE, now)
    if eviction.of(WorkState.RESTORED):
        owe_line(uow, policy, eviction.loan, EventKind.REACTIVATED, now, note=_count(eviction, WorkState.RESTORED))


def _owe(uow: UnitOfWork, policy: Policy, facts: Hangs, eviction: Eviction, kind: NoticeKind, now: datetime) -> None:
    """To a person as a message, in a channel into the announcement's thread."""
    for to in _readers(policy, facts, eviction):
        thread = _key(eviction, to) if to.startswith(("C", "G")) else None
        key = f"{kind.value}:{eviction.loan}:{to}"
        uow.notices.owe_once(NoticeDraft(key, kind, to, {"loan": eviction.loan}, thread_of=thread), now)


def _readers(policy: Policy, facts: Hangs, eviction: Eviction) -> tuple[str, ...]:
    team = policy.team(policy.team_of(eviction.cluster, eviction.queue) or _asking(facts.request))
    people = (facts.request.ask.requester,) if facts.request else ()
    return (*people, *((team.channel,) if team else ()))


def _asking(request: QuotaRequest | None) -> str:
    return request.ask.team if request else ""


def _key(eviction: Eviction, to: str) -> str:
    return f"{NoticeKind.EVICTION_ANNOUNCED.value}:{eviction.loan}:{to}"


def _count(eviction: Eviction, *states: WorkState) -> str:
    works = eviction.of(*states)
    return f"{counted(len(works), 'workload')}, {sum(one.amount for one in works):,} {eviction.entry.flavor}"
