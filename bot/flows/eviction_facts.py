"""What an eviction at a loan's end hangs on: the loan's rule, its extensions, a pause, an edit, the live cluster.

Gathered for flows/evict_work, which decides and writes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.core.errors import Rejected, Unavailable
from bot.core.evictions import Eviction, WorkState, grace_of, may_have
from bot.core.kueue import WorkloadSnapshot
from bot.core.loans import Loan
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest, RequestState
from bot.flows.tell_unreadable import tell_unreadable
from bot.flows.world import World
from bot.ports.store import UnitOfWork

_UNDECIDED = frozenset({RequestState.WAITING, RequestState.APPROVED})


@dataclass(frozen=True, slots=True)
class Extension:
    """A request that Extend made after the end, and its loan once it is approved."""

    request: QuotaRequest
    loan: Loan | None

    @property
    def waits(self) -> bool:
        """Whether it may still come to be in force."""
        return not self.in_force and (self.loan is None or self.loan.ended_at is None)

    @property
    def in_force(self) -> bool:
        """Whether the quota is there again."""
        loan = self.loan
        return loan is not None and loan.in_force_at is not None and loan.ended_at is None


@dataclass(frozen=True, slots=True)
class Hangs:
    """What the database says."""

    request: QuotaRequest | None
    wanted: bool
    """Whether the policy still says that work is evicted at the end of this loan."""
    extension: Extension | None
    held: str
    """Why nothing may be written now, in words; empty if it may."""
    elsewhere: frozenset[str]
    """Workloads of the queue that are to go at the end of another loan."""
    edited: str
    """Why the queue's numbers are not to be judged by, in words; empty if they are."""


@dataclass(frozen=True, slots=True)
class LiveWork:
    """What the cluster says."""

    allowed: int | None
    """Devices that the queue may have; None: it is gone."""
    work: Mapping[str, WorkloadSnapshot]
    """By uid: what is not finished, of all queues that were asked for."""


def hangs(uow: UnitOfWork, world: World, eviction: Eviction) -> Hangs:
    """Read in one transaction, again in the one that stores a write."""
    request = uow.requests.get(eviction.loan)
    return Hangs(
        request,
        request is not None and _wanted(uow, world.policies.policy, request),
        extension_of(uow, eviction),
        _held(uow, world),
        frozenset(_elsewhere(uow, eviction)),
        _edited(uow, eviction),
    )


def extension_of(uow: UnitOfWork, eviction: Eviction) -> Extension | None:
    """The newest that waits for a decision or was approved."""
    for origin in reversed(eviction.extensions):
        request = uow.requests.by_origin(origin)
        if request is not None and request.state in _UNDECIDED:
            return Extension(request, uow.loans.get(request.id))
    return None


def _wanted(uow: UnitOfWork, policy: Policy, request: QuotaRequest) -> bool:
    extensions = uow.requests.find(states={RequestState.APPROVED}, extends=request.id)
    return grace_of(policy, request, extensions) is not None


def _elsewhere(uow: UnitOfWork, eviction: Eviction) -> Iterator[str]:
    where = (eviction.cluster, eviction.queue, eviction.entry)
    for other in uow.evictions.open():
        if other.loan != eviction.loan and (other.cluster, other.queue, other.entry) == where:
            yield from (one.uid for one in other.of(WorkState.ANNOUNCED, WorkState.EVICTING))


def _held(uow: UnitOfWork, world: World) -> str:
    if world.observe_only:
        return "the bot only observes"
    pause = uow.pauses.get()
    return f"quota changes are paused by {pause.name}" if pause else ""


def _edited(uow: UnitOfWork, eviction: Eviction) -> str:
    for key, record in uow.fields.records(eviction.cluster).items():
        if key.queue == eviction.queue and key.flavor_resource == eviction.entry and record.question is not None:
            return f"somebody else's edit of {eviction.queue} waits for an answer"
    return ""


def look(world: World, eviction: Eviction) -> LiveWork | str:
    """The queue's live quota and its workloads, or why they are not known, in words."""
    cluster = world.clusters.get(eviction.cluster)
    if cluster is None:
        return f"the bot is not connected to cluster {eviction.cluster}"
    try:
        picture = cluster.read()
        found = {one.uid: one for one in cluster.workloads([eviction.queue])}
    except Unavailable as error:
        return f"the {error.what} is not answering"
    except Rejected as error:
        tell_unreadable(world, eviction.cluster, error)
        return "the bot may not read the queues and their work"
    return LiveWork(may_have(picture, eviction.queue, eviction.entry), found)
