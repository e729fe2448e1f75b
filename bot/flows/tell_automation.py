"""Kueue itself began to write a queue that has loans, or let go of it: the admins hear it once, and are reminded.

Called by flows/converge_quota when a plan has nothing left to write now. The bot keeps its hands off such a queue (the
planner does not write it), so a loan that ends meanwhile is not returned: said at its end, and then weekly, by a
message of its own, as for an outside edit. When Kueue lets go the message says so and is not posted again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.core.convergence.findings import Finding, FindingKind, about_queue
from bot.core.convergence.planner import Plan
from bot.core.kueue import ClusterPicture
from bot.core.loans import Loan, LoanState
from bot.core.notices import Notice, NoticeDraft, Priority
from bot.flows.gather import open_loans
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind

UNSAID = timedelta(days=60)
"""How far back a new leader looks for queues that it may have to say it of, by the start of their loans."""
Told = tuple[str, tuple[int, ...]]
"""Key of the newest message about a queue, and the loans it says are over."""


@dataclass(slots=True)
class AutomationMemory:
    """What was told of which queue, so that a look at which nothing is new asks the database for nothing.

    Another epoch begins anew: somebody else may have led, and told, meanwhile.
    """

    epochs: dict[str, int] = field(default_factory=dict)
    """By cluster."""
    told: dict[tuple[str, str], Told] = field(default_factory=dict)
    """By cluster and queue."""


def tell_automation(world: World, epoch: int, plan: Plan, picture: ClusterPicture, memory: AutomationMemory) -> None:
    """Say what is new. Raises NotLeader, Unavailable (database)."""
    cluster = picture.cluster
    if memory.epochs.get(cluster) != epoch:
        memory.told = {key: told for key, told in memory.told.items() if key[0] != cluster}
        memory.told |= _left_open(world, cluster)
        memory.epochs[cluster] = epoch
    found = {one.queue: one for one in plan.findings if one.kind is FindingKind.AUTOMATED}
    for queue, finding in found.items():
        memory.told[cluster, queue] = _tell(world, epoch, cluster, finding, memory.told.get((cluster, queue)))
    for queue in [name for where, name in memory.told if where == cluster and name not in found]:
        told = memory.told.pop((cluster, queue))
        seen = picture.queues.get(queue)
        if seen is None or seen.quota_automation is None:
            _tell_over(world, epoch, told)


def _tell(world: World, epoch: int, cluster: str, finding: Finding, told: Told | None) -> Told:
    now = world.clock()
    with world.store.read() as uow:
        loans = uow.loans.find(states={LoanState.RETURNING}, queues={finding.queue})
        newest = _open(uow.notices.latest(f"{finding.key}:"))
    ended = sorted(loan.id for loan in loans if loan.cluster == cluster)
    first = newest.draft.facts["first"] if newest else f"{finding.key}:{now.isoformat()}"
    since = newest.draft.facts["since"] if newest else now.isoformat()
    key = _due(first, datetime.fromisoformat(since), [loan for loan in loans if loan.id in ended], now)
    if told == (key, tuple(ended)):
        return told
    facts = {"cluster": cluster, "queue": finding.queue, "words": finding.words, "since": since, "first": first}
    keys = {first, key, *((newest.draft.key,) if newest else ())}
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        for one in sorted(keys):
            _owe(uow, world, one, {**facts, "ended": ended}, now)
        uow.commit()
    world.wake_delivery()
    return key, tuple(ended)


def _due(first: str, since: datetime, ended: list[Loan], now: datetime) -> str:
    """The message itself, or the reminder of this week once a loan is over."""
    if not ended:
        return first
    over = min(loan.ended_at or loan.end for loan in ended)
    weeks = (now - max(over, since)) // timedelta(weeks=1)
    return f"{first}:again-{weeks}" if weeks or over > since else first


def _owe(uow: UnitOfWork, world: World, key: str, facts: Mapping[str, Any], now: datetime) -> None:
    known = uow.notices.get(key)
    if known is None or {**known.draft.facts, **facts} != known.draft.facts:
        to = world.policies.policy.approvals.platform_channel
        uow.notices.owe(NoticeDraft(key, NoticeKind.KUEUE_WRITES_QUOTA, to, facts, Priority.APPROVAL), now)


def _tell_over(world: World, epoch: int, told: Told) -> None:
    now = world.clock()
    first = told[0].partition(":again-")[0]
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        uow.notices.refresh(first, now, {"over_since": now.isoformat()})
        uow.commit()
    world.wake_delivery()


def _open(notice: Notice | None) -> Notice | None:
    return notice if notice is not None and not notice.draft.facts.get("over_since") else None


def _left_open(world: World, cluster: str) -> dict[tuple[str, str], Told]:
    """What another leader told of queues that have loans, or had them, and did not come to say that it is over."""
    found: dict[tuple[str, str], Told] = {}
    with world.store.read() as uow:
        closed = uow.loans.find(states={LoanState.CLOSED}, since=world.clock() - UNSAID)  # perhaps just now
        loans = [*open_loans(uow, cluster), *(loan for loan in closed if loan.cluster == cluster)]
        for queue in sorted({name for loan in loans for name in (loan.borrower, loan.lender) if name}):
            newest = _open(uow.notices.latest(about_queue(FindingKind.AUTOMATED, cluster, queue, "")))
            if newest is not None:
                found[cluster, queue] = newest.draft.key, tuple(newest.draft.facts["ended"])
    return found
