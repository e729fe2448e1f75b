"""What a loan means at this moment: who lends, what is free, whose work becomes preemptible.

`assess` computes an impact from a live picture; `to_json` and `from_json` keep what a card showed. Used by
flows/submit_request (for the card) and flows/record_decision (again at the click, with core/news).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import TypeAdapter

from bot.core.cohorts import QuotaTree, quota_tree
from bot.core.kueue import ClusterPicture, FlavorResource, QueueSnapshot, WorkloadSnapshot
from bot.core.loans import LoanKind
from bot.core.overcommit import Overcommit
from bot.core.requests import Ask


@dataclass(frozen=True, slots=True)
class Move:
    """A number of one queue before and after the loan. None: not set."""

    queue: str
    before: int | None
    after: int | None
    base: int | None = None
    """`before` without the bot's loans; None if none is in it."""


@dataclass(frozen=True, slots=True)
class AtRisk:
    """A running workload that Kueue may preempt once the loan is in force."""

    name: str
    amount: int


@dataclass(frozen=True, slots=True)
class Workers:
    """A queue whose work runs on worker clusters (MultiKueue), where their own quota limits it too."""

    queue: str
    unknown: str = ""
    """Why it is not known whether it is one, as a clause; empty if it is."""


@dataclass(frozen=True, slots=True)
class Impact:
    """Figures of one proposed loan against one picture of the cluster. Devices are whole."""

    kind: LoanKind
    cluster: str
    flavor: str
    resource: str
    amount: int
    read_at: datetime
    cohort: str | None
    """Root of the cohort tree that the borrower is in; None if it is in none."""
    free: int
    """Free by quota in that tree at this moment, never below 0; without cohort: in the queue itself."""
    borrower: Move
    """Of borrowingLimit for a borrow, of nominalQuota else."""
    lender: Move | None = None
    lender_lending_limit: Move | None = None
    """Set if the lender's lendingLimit must follow."""
    borrower_lending_limit: Move | None = None
    cohort_nominal: int = 0
    """Sum of nominalQuota over the tree, before the loan."""
    lender_reserved: int = 0
    lender_waiting: int = 0
    """Devices that the lender's pending workloads ask for."""
    preemptible: int = 0
    """Devices of running work that come to lie above the lender's nominalQuota; 0 if no other queue may reclaim."""
    at_risk: tuple[AtRisk, ...] = ()
    """The workloads that hold them, in the order Kueue would take them; a guess ("likely")."""
    borrowed_is_reclaimable: bool = False
    """Whether any other queue of the tree may reclaim what is borrowed."""
    borrower_reclaims: bool = False
    """Whether the borrower may reclaim from others (reclaimWithinCohort is not Never)."""
    managed_by: tuple[tuple[str, str], ...] = ()
    """(queue, tool) for queues that a GitOps tool owns."""
    in_git: tuple[str, ...] = ()
    """Queues that the bot does not write: it proposes the change."""
    stopped: tuple[str, ...] = ()
    """Queues of the loan that admit nothing now."""
    overcommit: Overcommit | None = None
    """Of an extra loan: what is promised with it, against the nodes."""
    workers: Workers | None = None
    """Set if quota on worker clusters limits the borrower too, or may."""


def assess(ask: Ask, picture: ClusterPicture, workloads: Sequence[WorkloadSnapshot]) -> Impact:
    """The impact of a complete request on this picture.

    `workloads` hold or wait for quota in the lender's queue; others are ignored. Raises KeyError if a queue of the
    request or its entry is not in the picture (core/proposal refuses such a request).
    """
    entry = FlavorResource(ask.flavor, ask.resource)
    tree = quota_tree(picture, entry)
    borrower = picture.queues[ask.queue]
    impact = Impact(
        kind=ask.kind,
        cluster=ask.cluster,
        flavor=ask.flavor,
        resource=ask.resource,
        amount=ask.amount,
        read_at=picture.read_at,
        cohort=tree.cohort(ask.queue),
        free=tree.free(ask.queue),
        borrower=_borrower_move(borrower, entry, ask),
        borrower_lending_limit=_raised_lending_limit(borrower, entry, ask),
        cohort_nominal=tree.nominal(ask.queue),
        borrowed_is_reclaimable=others_reclaim(picture, tree, borrower.name),
        borrower_reclaims=borrower.preemption.reclaim_within_cohort != "Never",
    )
    if ask.lender is None:
        return _with_queues(impact, borrower)
    lender = picture.queues[ask.lender]
    lent = _lent(lender, entry, ask.amount, workloads)
    reclaimed = others_reclaim(picture, tree, lender.name)
    return _with_queues(_with_lender(impact, lent, reclaimed=reclaimed), borrower, lender)


def _with_lender(impact: Impact, lent: "_Lent", *, reclaimed: bool) -> Impact:
    """What the lender gives, and whose work that endangers if anybody may reclaim it."""
    return replace(
        impact,
        lender=lent.nominal,
        lender_lending_limit=lent.lending_limit,
        lender_reserved=lent.reserved,
        lender_waiting=lent.waiting,
        preemptible=lent.above if reclaimed else 0,
        at_risk=lent.at_risk if reclaimed else (),
    )


def _with_queues(impact: Impact, *queues: QueueSnapshot) -> Impact:
    """Who else writes the queues of the loan, and which of them admit nothing."""
    return replace(
        impact,
        managed_by=tuple((queue.name, queue.managed_by) for queue in queues if queue.managed_by),
        stopped=tuple(queue.name for queue in queues if queue.stop_policy != "None" or not queue.active),
    )


def to_json(impact: Impact) -> str:
    """Canonical: equal impacts give equal text."""
    return json.dumps(_IMPACT.dump_python(impact, mode="json"), sort_keys=True, separators=(",", ":"))


def from_json(text: str) -> Impact:
    """What `to_json` wrote. Raises ValueError for anything else."""
    return _IMPACT.validate_json(text)


def reclaim_order(workloads: Iterable[WorkloadSnapshot], queue: str, entry: FlavorResource) -> list[AtRisk]:
    """Running work of a queue in the order Kueue would take it."""
    return [AtRisk(_known_as(one), one.usage[entry]) for one in reclaimed_first(workloads, queue, entry)]


def reclaimed_first(workloads: Iterable[WorkloadSnapshot], queue: str, entry: FlavorResource) -> list[WorkloadSnapshot]:
    """The same as they were read: lowest priority first, then newest first."""
    running = (
        (workload.priority, -workload.reserved_at.timestamp(), workload.uid, workload)
        for workload in workloads
        if workload.queue == queue and workload.reserved_at and workload.usage.get(entry, 0) > 0
    )
    return [row[-1] for row in sorted(running, key=lambda row: row[:-1])]


_IMPACT = TypeAdapter(Impact)


@dataclass(frozen=True, slots=True)
class _Lent:
    """The lender's side of a transfer; nothing of it for other kinds."""

    nominal: Move | None = None
    lending_limit: Move | None = None
    reserved: int = 0
    waiting: int = 0
    above: int = 0
    at_risk: tuple[AtRisk, ...] = ()


def _lent(lender: QueueSnapshot, entry: FlavorResource, amount: int, workloads: Sequence[WorkloadSnapshot]) -> _Lent:
    quota, reserved = lender.quotas[entry], lender.reserved.get(entry, 0)
    after = quota.nominal - amount
    limit = quota.lending_limit
    over_before, over_after = max(0, reserved - quota.nominal), max(0, reserved - after)
    return _Lent(
        nominal=Move(lender.name, quota.nominal, after),
        lending_limit=Move(lender.name, limit, max(0, after)) if limit is not None and limit > after else None,
        reserved=reserved,
        waiting=_waiting(workloads, lender.name, entry),
        above=over_after - over_before,
        at_risk=tuple(_between(reclaim_order(workloads, lender.name, entry), over_before, over_after)),
    )


def _waiting(workloads: Iterable[WorkloadSnapshot], queue: str, entry: FlavorResource) -> int:
    waiting = (one for one in workloads if one.queue == queue and one.reserved_at is None)
    return sum(one.requests.get(entry.resource, 0) for one in waiting)


def _between(work: Iterable[AtRisk], start: int, end: int) -> Iterator[AtRisk]:
    """Work that holds any of the devices from `start` to `end`, counted in the order given."""
    counted = 0
    for one in work:
        if counted < end and counted + one.amount > start:
            yield one
        counted += one.amount


def _borrower_move(borrower: QueueSnapshot, entry: FlavorResource, ask: Ask) -> Move:
    quota = borrower.quotas[entry]
    before = quota.borrowing_limit if ask.kind is LoanKind.BORROW else quota.nominal
    return Move(borrower.name, before, None if before is None else before + ask.amount)


def _raised_lending_limit(borrower: QueueSnapshot, entry: FlavorResource, ask: Ask) -> Move | None:
    """With the nominalQuota rises what the borrower lends, or unused devices of the loan could not flow back."""
    limit = borrower.quotas[entry].lending_limit
    if limit is None or ask.kind is not LoanKind.TRANSFER:
        return None
    return Move(borrower.name, limit, limit + ask.amount)


def others_reclaim(picture: ClusterPicture, tree: QuotaTree, queue: str) -> bool:
    """Whether any other queue of the tree is set to take back what this one holds above its nominalQuota."""
    if tree.cohort(queue) is None:
        return False
    others = (picture.queues[name] for name in tree.members(queue) if name != queue)
    return any(other.preemption.reclaim_within_cohort != "Never" and tree.entry in other.quotas for other in others)


def _known_as(workload: WorkloadSnapshot) -> str:
    """The name that people know it by."""
    return workload.owner or workload.name
