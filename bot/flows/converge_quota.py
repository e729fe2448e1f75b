"""Make live quota equal base + loans: read the database, read the cluster, plan, store the intent, send one patch, again.

The leader's convergence loop calls `converge_all`. The order of these steps is what makes a kill at any of them
harmless; docs/convergence.md says why. Nothing is written without an intent in the database, and an intent is stored
only if nothing that the plan was made from has changed since.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.core.convergence.annotation import fence_epoch
from bot.core.convergence.changes import PatchOutcome, PatchResult
from bot.core.convergence.facts import FieldKey, FieldRecord, Intent
from bot.core.convergence.landed import closes, records_after
from bot.core.convergence.order import Move
from bot.core.convergence.planner import Plan, PlanFacts, plan
from bot.core.convergence.writes import PlannedWrite
from bot.core.errors import Rejected, Stale, Unavailable
from bot.core.kueue import ClusterPicture
from bot.core.loans import Loan
from bot.core.requests import AuditEntry
from bot.flows.gather import OPEN
from bot.flows.tell_findings import tell_findings
from bot.flows.tell_loans import tell_loans
from bot.flows.tell_outages import tell_outage
from bot.flows.world import World
from bot.ports.store import UnitOfWork

ROUNDS = 300
"""Plans in one step; more is left to the next one."""
COHORTS_MAY_BE = timedelta(minutes=5)
"""How old the Cohort objects may be for a look that writes nothing. Before a write they are read again."""
REFUSED_FOR = timedelta(minutes=10)
"""How long a queue whose write was refused is left alone, unless it changes."""
RETRY_FIRST = timedelta(seconds=1)
RETRY_LONGEST = timedelta(seconds=60)


@dataclass(slots=True)
class ConvergeMemory:
    """What one process remembers between steps. Losing it costs one more refused write, nothing else."""

    refused: dict[tuple[str, str], tuple[str, datetime, PatchResult]] = field(default_factory=dict)
    """(cluster, queue) -> resourceVersion at the refusal, when, and what was said."""
    failures: int = 0
    """Steps in a row that could not get through."""


@dataclass(frozen=True, slots=True)
class _Before:
    """What the plan was made from, as read from the database."""

    records: Mapping[FieldKey, FieldRecord]
    intents: Sequence[Intent]
    loans: Sequence[Loan]

    @property
    def versions(self) -> tuple[object, ...]:
        """Equal if and only if nothing changed."""
        return (
            {key: record.version for key, record in self.records.items()},
            {intent.id for intent in self.intents},
            {loan.id: loan.version for loan in self.loans},
        )


def converge_all(world: World, epoch: int, memory: ConvergeMemory, lift: Callable[[int], None]) -> timedelta | None:
    """One step over all clusters. How soon another is worth while, None if at the usual time.

    `lift` raises the leader's epoch above a fence that was found. Raises NotLeader, Unavailable (database).
    """
    waits = [wait for name in world.clusters if (wait := _converge(world, name, epoch, memory, lift)) is not None]
    return min(waits, default=None)


def plan_now(world: World, cluster: str, epoch: int = 0) -> Plan:
    """What convergence would do at this moment; nothing is stored or sent. For `converge --dry-run`."""
    before = _read(world, cluster)
    return _plan(world, cluster, epoch, before, world.clusters[cluster].read(), {})


def _converge(
    world: World, name: str, epoch: int, memory: ConvergeMemory, lift: Callable[[int], None]
) -> timedelta | None:
    cohorts_within = COHORTS_MAY_BE
    for _ in range(ROUNDS):
        before = _read(world, name)
        try:
            picture = world.clusters[name].read(cohorts_within=cohorts_within)
        except (Unavailable, Rejected) as error:
            tell_outage(world, name, error)
            return _backoff(memory)
        fence = max((fence_epoch(queue.annotations) for queue in picture.queues.values()), default=0)
        if fence > epoch:
            lift(fence)
            return timedelta(0)
        planned = _plan(world, name, epoch, before, picture, _unwritable(memory, picture, world.clock()))
        if planned.writes and cohorts_within:
            cohorts_within = timedelta(0)
            continue
        intents = _store(world, name, epoch, before, planned, picture)
        if intents is None:
            continue
        if world.observe_only or not intents:
            tell_outage(world, name, None)
            return tell_loans(world, epoch, name, planned, picture)
        if not _send(world, epoch, memory, intents):
            tell_loans(world, epoch, name, planned, picture)
            return _backoff(memory)
    return timedelta(0)


def _read(world: World, cluster: str) -> _Before:
    with world.store.read() as uow:
        return _facts(uow, cluster)


def _facts(uow: UnitOfWork, cluster: str) -> _Before:
    loans = [loan for loan in uow.loans.find(states=OPEN) if loan.cluster == cluster]
    return _Before(uow.fields.records(cluster), uow.fields.open_intents(cluster), loans)


def _plan(
    world: World, cluster: str, epoch: int, before: _Before, picture: ClusterPicture, unwritable: Mapping[str, str]
) -> Plan:
    return plan(
        PlanFacts(
            install=world.install,
            epoch=epoch,
            now=world.clock(),
            picture=picture,
            records=before.records,
            intents=before.intents,
            loans=before.loans,
            unwritable=unwritable,
        )
    )


def _unwritable(memory: ConvergeMemory, picture: ClusterPicture, now: datetime) -> dict[str, str]:
    """Queues whose last write was refused, until they change or some time has passed."""
    left = {}
    for (cluster, queue), (version, at, result) in list(memory.refused.items()):
        if cluster != picture.cluster:
            continue
        live = picture.queues.get(queue)
        if live is None or live.resource_version != version or now - at >= REFUSED_FOR:
            del memory.refused[cluster, queue]
        else:
            left[queue] = result.words
    return left


def _store(
    world: World, cluster: str, epoch: int, before: _Before, planned: Plan, picture: ClusterPicture
) -> list[tuple[PlannedWrite, Intent]] | None:
    """Store what the plan says and the intents of what will be sent. None: something changed since it was read.

    Only one write goes out per plan, except for those that lower quota: they may go in any order.
    """
    writes = [write for write in planned.writes if write.move is Move.DOWN] or list(planned.writes[:1])
    now = world.clock()
    try:
        with world.store.begin() as uow:
            uow.leadership.check(epoch)
            if _facts(uow, cluster).versions != before.versions:
                return None
            for record in planned.records:
                uow.fields.put(record)
            for loan in planned.loans:
                uow.loans.update(loan)
            for loan in planned.found_loans:
                uow.loans.add(loan)
            for intent_id in planned.closed_intents:
                uow.fields.close_intent(intent_id, "dead", now)
            sent = [] if world.observe_only else [(write, write.intent(world.new_id(), epoch, now)) for write in writes]
            for write, intent in sent:
                if write.fields:
                    uow.fields.add_intent(intent)
            tell_findings(uow, world.policies.current(), planned, picture, now)
            uow.commit()
    except Stale:
        return None
    world.wake_delivery()
    return sent


def _send(world: World, epoch: int, memory: ConvergeMemory, intents: Sequence[tuple[PlannedWrite, Intent]]) -> bool:
    """Send each patch once and record what its answer proves. Whether it is worth while to plan again at once."""
    worth = True
    for write, intent in intents:
        result = world.clusters[intent.cluster].patch(write.change)
        _record(world, epoch, write, intent, result)
        if result.outcome in {PatchOutcome.REFUSED, PatchOutcome.FORBIDDEN}:
            memory.refused[intent.cluster, intent.queue] = (intent.resource_version, world.clock(), result)
        if result.outcome in {PatchOutcome.UNKNOWN, PatchOutcome.KUEUE_DOWN}:
            worth = False
        else:
            memory.failures = 0
    return worth


def _record(world: World, epoch: int, write: PlannedWrite, intent: Intent, result: PatchResult) -> None:
    """What the answer proves goes into the record, the intent and the audit, in one transaction."""
    now = world.clock()
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        if result.outcome is PatchOutcome.APPLIED:
            for record in records_after(intent, uow.fields.records(intent.cluster)):
                uow.fields.put(record)
        if write.fields and closes(result.outcome):
            uow.fields.close_intent(intent.id, result.outcome.value, now)
        for key, number in write.change.numbers.items():
            what = write.move.name.lower()
            uow.audit.add(AuditEntry(now, "bot", what, "/".join(key), f"{number}: {result.outcome.value}"))
        uow.commit()


def _backoff(memory: ConvergeMemory) -> timedelta:
    memory.failures += 1
    return min(RETRY_FIRST * 2 ** min(memory.failures - 1, 10), RETRY_LONGEST)
