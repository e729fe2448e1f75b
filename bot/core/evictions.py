"""At a loan's end work above the quota may be evicted after an announced grace: its states, and who is taken.

`excess` is the decision: which workloads Kueue itself would take first, and no more of them than bring use down to what
the queue may have without the loan. `settled_send` says what became of a write whose answer is not known. Written by
flows/evict_work; what Kueue does with an inactive Workload is in docs/policies.md.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.cohorts import quota_tree
from bot.core.impact import reclaimed_first
from bot.core.kueue import ClusterPicture, FlavorResource, WorkloadSnapshot
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest
from bot.core.resource_quotas import is_resource_quota

MARK = "gpu-quota-bot.io/evicted"
"""Annotation of a Workload that the bot set inactive; it comes and goes with `spec.active`, in one patch."""


class EvictionState(StrEnum):
    """Where the eviction of one loan's excess stands."""

    DUE = "due"
    """The loan is over, and nobody was told yet."""
    ANNOUNCED = "announced"
    OVER = "over"
    """The grace is over and nothing more is evicted. What was evicted may be undone by an extension."""
    CLOSED = "closed"


class WorkState(StrEnum):
    """Where one announced workload stands. None of them is ever evicted twice."""

    ANNOUNCED = "announced"
    EVICTING = "evicting"
    """The write is on its way: it may have landed, or may land yet."""
    EVICTED = "evicted"
    SPARED = "spared"
    RESTORING = "restoring"
    """As EVICTING, for the write that sets it active again."""
    RESTORED = "restored"
    LEFT = "left"
    """It was to be set active again and was not the bot's any more."""


@dataclass(frozen=True, slots=True)
class Work:
    """One workload that was announced."""

    namespace: str
    name: str
    """Of the Workload object."""
    uid: str
    known_as: str
    """What people call it."""
    amount: int
    """Devices it held when it was announced."""
    state: WorkState = WorkState.ANNOUNCED
    mark: str = ""
    """Value of the annotation by which the bot's own write is known; new for each try."""
    resource_version: str = ""
    """That the last write was planned on, and tests."""
    generation: int = 0
    """The object's, before the bot set it inactive."""


@dataclass(frozen=True, slots=True)
class Eviction:
    """What becomes of the work above quota at the end of one loan. `loan` is its number."""

    loan: int
    cluster: str
    queue: str
    entry: FlavorResource
    most: int
    """Devices that the loan ever gave: no more than that is its excess."""
    grace: timedelta
    ended_at: datetime
    state: EvictionState = EvictionState.DUE
    due: datetime | None = None
    """When the grace is over; None until it was announced."""
    works: tuple[Work, ...] = ()
    extensions: tuple[str, ...] = ()
    """Origins of requests that were made by Extend since the end; not each of them came to be a request."""
    held: str = ""
    """Why it does not go on although it could, in words; empty if nothing holds it."""
    version: int = 0
    """For compare-and-set of the row."""

    def of(self, *states: WorkState) -> tuple[Work, ...]:
        """The workloads that stand so."""
        return tuple(one for one in self.works if one.state in states)

    def with_works(self, works: Iterable[Work]) -> "Eviction":
        """The same with these in place of those of the same uid."""
        changed = {one.uid: one for one in works}
        return replace(self, works=tuple(changed.get(one.uid, one) for one in self.works))


@dataclass(frozen=True, slots=True)
class ActiveChange:
    """One JSON Patch that sets a Workload inactive, or active again. It tests uid and resourceVersion, and the mark
    before it takes that away."""

    workload: WorkloadSnapshot
    active: bool
    mark: str


@dataclass(frozen=True, slots=True)
class Excess:
    """Who is taken, in the order of the announcement, and why so many."""

    work: tuple[WorkloadSnapshot, ...]
    needed: int
    why: str


def grace_of(policy: Policy, request: QuotaRequest, extensions: Sequence[QuotaRequest]) -> timedelta | None:
    """The grace after which work above quota is evicted; None if it runs on.

    The rule says it by which the loan, or the last extension that was approved, came to be; a rule that is not there
    any more says nothing. `extensions`: the approved ones, in any order. Beside a ResourceQuota alone there is no
    Kueue that could evict anything.
    """
    if is_resource_quota(request.ask.queue):
        return None
    last = max((request, *extensions), key=lambda one: (one.decided_at or one.created_at, one.id))
    rule = next((one for one in policy.approvals.rules if one.name == last.rule), None)
    return rule.grace_at_end if rule is not None else None


def may_have(picture: ClusterPicture, queue: str, entry: FlavorResource) -> int | None:
    """Devices that a queue can hold by its live quota, all it may borrow included. None: the queue or entry is gone."""
    found = picture.queues.get(queue)
    if found is None or entry not in found.quotas:
        return None
    return quota_tree(picture, entry).potential(queue)


def excess(
    eviction: Eviction, allowed: int, workloads: Collection[WorkloadSnapshot], among: Collection[str] | None = None
) -> Excess:
    """Who must go so that the queue uses no more than `allowed`, and never more than the loan gave. What is inactive
    already is leaving by itself, and counts no more.

    Kueue's own order: lowest priority first, then what reserved last; then, as Kueue does, whoever need not go after
    all is left out again, from the last taken on. `among`: uids; None is all.
    """
    entry = eviction.entry
    running = reclaimed_first((one for one in workloads if one.active), eviction.queue, entry)
    used = sum(one.usage[entry] for one in running)
    taken_before = sum(one.amount for one in eviction.of(WorkState.EVICTED))
    needed = max(0, min(used - allowed, eviction.most - taken_before))
    taken: list[WorkloadSnapshot] = []
    total = 0
    for one in running:
        if total < needed and (among is None or one.uid in among):
            taken.append(one)
            total += one.usage[entry]
    why = f"{eviction.queue} uses {used} and may use {allowed}; the loan gave {eviction.most}"
    return Excess(_needed_only(taken, total - needed, entry), needed, why)


def _needed_only(taken: Sequence[WorkloadSnapshot], spare: int, entry: FlavorResource) -> tuple[WorkloadSnapshot, ...]:
    """Without those that fit into what would be freed beyond need, the last taken first."""
    kept = list(taken)
    for one in reversed(taken):
        if one.usage[entry] <= spare:
            spare -= one.usage[entry]
            kept.remove(one)
    return tuple(kept)


def announced(one: WorkloadSnapshot, entry: FlavorResource) -> Work:
    """A live workload as it is announced."""
    return Work(one.namespace, one.name, one.uid, one.owner or one.name, one.usage.get(entry, 0))


def is_by_our_hand(work: Work, live: WorkloadSnapshot) -> bool:
    """Whether it is inactive since the bot's write and nobody has touched its spec after that."""
    return not live.active and live.mark == work.mark and live.generation == work.generation + 1


def settled_send(work: Work, live: WorkloadSnapshot | None) -> Work:
    """What a write came to whose answer is not known: it landed, it never will, or it may yet (then unchanged)."""
    evicting = work.state is WorkState.EVICTING
    if live is None:
        return replace(work, state=WorkState.SPARED if evicting else WorkState.LEFT)
    if evicting and live.mark == work.mark:
        return replace(work, state=WorkState.EVICTED)
    if not evicting and live.mark != work.mark:
        return replace(work, state=WorkState.RESTORED if live.active else WorkState.LEFT)
    if live.resource_version == work.resource_version:
        return work
    return replace(work, state=WorkState.ANNOUNCED if evicting else WorkState.EVICTED)
