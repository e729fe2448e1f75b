"""Make live quota equal base + loans: read database and cluster, plan, store the intent, send one patch, and again.

The leader's convergence loop calls `converge_all`. The order of these steps is what makes a kill at any of them
harmless; docs/convergence.md says why. Nothing is written without an intent in the database, and an intent is stored
only if nothing that the plan was made from has changed since.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from bot.core.convergence.changes import PatchOutcome, PatchResult
from bot.core.convergence.facts import Intent
from bot.core.convergence.landed import refused, settle
from bot.core.convergence.order import Move
from bot.core.convergence.planner import Plan
from bot.core.convergence.rebuild import highest_epoch, missing_fences
from bot.core.convergence.writes import PlannedWrite
from bot.core.errors import Rejected, Stale, Unavailable
from bot.core.kueue import ClusterPicture
from bot.core.loans import Loan, LoanState
from bot.core.requests import AuditEntry
from bot.core.standing import Blocker
from bot.flows.converge_memory import ConvergeMemory
from bot.flows.converge_troubles import answers, cannot, may_not, refused_lately
from bot.flows.loan_standing import Live, Trouble
from bot.flows.measure_use import measure_use
from bot.flows.pause_quota import TURN
from bot.flows.plan_quota import Before, before_in, knows_nothing, make_plan, needs_kueue, read_before, resource_quotas
from bot.flows.propose_changes import remind_of_proposals, store_proposals
from bot.flows.tell_automation import tell_automation
from bot.flows.tell_findings import tell_findings, tell_refusal
from bot.flows.tell_loans import tell_loans
from bot.flows.tell_unreadable import tell_unread
from bot.flows.world import World

ROUNDS = 300
"""Plans in one step; more is left to the next one."""
COHORTS_MAY_BE = timedelta(minutes=5)
"""How old the Cohort objects may be for a look that finds nothing. Otherwise they are read again."""
LOOK_AGAIN = timedelta(seconds=60)
"""A cluster is not passed over longer than this while another one is tried again and again."""
_SILENT = {PatchOutcome.UNKNOWN: Blocker.API_DOWN, PatchOutcome.KUEUE_DOWN: Blocker.KUEUE_DOWN}


def converge_all(world: World, epoch: int, memory: ConvergeMemory, lift: Callable[[int], None]) -> timedelta | None:
    """One step over all clusters. How soon another is worth while, None if at the usual time.

    `lift` raises the leader's epoch above a fence that was found. Raises NotLeader, Unavailable (database).
    """
    lifted: list[int] = []

    def note(at_least: int) -> None:
        lift(at_least)
        lifted.append(at_least)

    waits = []
    for name in memory.turns(world.clusters, world.clock()):
        wait = _converge(world, name, epoch, memory, note)
        if lifted:  # the others must not go on under the epoch that is over
            memory.due.clear()
            return timedelta(0)
        memory.due[name] = world.clock() + (LOOK_AGAIN if wait is None else min(wait, LOOK_AGAIN))
        waits.append(wait)
    return _soonest(world, memory, waits)


def _soonest(world: World, memory: ConvergeMemory, waits: Sequence[timedelta | None]) -> timedelta | None:
    """None if every cluster is content with the usual time."""
    if len(waits) == len(world.clusters):
        return min((wait for wait in waits if wait is not None), default=None)
    now = world.clock()
    return max(timedelta(0), min(memory.due.get(name, now) for name in world.clusters) - now)


def _converge(
    world: World, name: str, epoch: int, memory: ConvergeMemory, lift: Callable[[int], None]
) -> timedelta | None:
    cohorts_within = COHORTS_MAY_BE
    for _ in range(ROUNDS):
        before = read_before(world, name)
        picture = _look(world, epoch, memory, before, name, cohorts_within)
        if isinstance(picture, timedelta):
            return picture
        if _is_fenced_off(memory, picture, epoch):
            lift(highest_epoch(picture))
            return timedelta(0)
        unwritable = refused_lately(memory, picture, world.clock())
        if fences := _fences(world, epoch, before, picture, unwritable):
            if silent := _send(world, epoch, memory, [(fence, _intent(world, fence, epoch)) for fence in fences]):
                return cannot(world, epoch, memory, name, silent, "")
            continue
        before, planned = make_plan(world, epoch, before, picture, unwritable)
        if cohorts_within and (
            planned.writes or planned.loans or planned.found_loans or planned.findings or planned.proposals.is_news
        ):
            cohorts_within = timedelta(0)
            continue
        intents = _store(world, name, epoch, before, planned, picture)
        if intents is None:
            continue
        memory.told.note_closed(planned)
        proposed = planned.proposals.is_news and not world.observe_only
        if not intents and not proposed:
            wait = _at_rest(world, epoch, memory, before, planned, picture)
            turn = _next_turn(before.loans, world.clock())
            return min((one for one in (wait, turn) if one is not None), default=None)
        if silent := _send(world, epoch, memory, intents):
            return cannot(world, epoch, memory, name, silent, "")
    return timedelta(0)


def _is_fenced_off(memory: ConvergeMemory, picture: ClusterPicture, epoch: int) -> bool:
    """Whether a fence of another leader is not below this epoch: the database was lost, or is an older copy.

    At the first look under an epoch no fence can be this leader's own, so one of the same epoch is another's as well.
    """
    first = memory.looked.get(picture.cluster) != epoch
    if highest_epoch(picture) >= epoch + (0 if first else 1):
        return True
    memory.looked[picture.cluster] = epoch
    return False


def _look(
    world: World, epoch: int, memory: ConvergeMemory, before: Before, name: str, cohorts_within: timedelta
) -> ClusterPicture | timedelta:
    """The queues as they are now, or how soon to try again."""
    policy, cluster = world.policies.policy, world.clusters[name]
    quotas, kueue = resource_quotas(policy, before), needs_kueue(policy, name, before)
    try:
        picture = cluster.read(cohorts_within=cohorts_within, resource_quotas=quotas, kueue=kueue)
    except Unavailable as error:
        return cannot(world, epoch, memory, name, Blocker.API_DOWN, error.why)
    except Rejected as error:
        return may_not(world, epoch, memory, name, error)
    tell_unread(world, picture)
    return picture


def _fences(
    world: World, epoch: int, before: Before, picture: ClusterPicture, unwritable: Iterable[str]
) -> Sequence[PlannedWrite]:
    """What must be fenced before anything is planned, because the database was lost. Who only looks fences nothing."""
    if world.observe_only or not knows_nothing(before, picture, world.install):
        return ()
    never = world.policies.policy.proposing(picture.cluster)
    return missing_fences(picture, world.install, epoch, {*unwritable, *never})


def _at_rest(
    world: World, epoch: int, memory: ConvergeMemory, before: Before, planned: Plan, picture: ClusterPicture
) -> timedelta | None:
    """Nothing is left to write now: see how much is used, and say what is new."""
    cluster = picture.cluster
    memory.failures.pop(cluster, None)
    answers(world, epoch, memory, cluster, Blocker.API_DOWN, Blocker.KUEUE_DOWN)
    changed = {loan.id: loan for loan in planned.loans}
    loans = [changed.get(loan.id, loan) for loan in before.loans]
    with world.store.read() as uow:
        records, pause, proposals = uow.fields.records(cluster), uow.pauses.get(), uow.proposals.open(cluster)
    remind_of_proposals(world, epoch, proposals)
    troubles = {queue: one for (where, queue), one in memory.troubles.items() if where == cluster}
    past = [one for (where, _), one in memory.past.items() if where == cluster]
    measure_use(world, epoch, picture, loans, records, memory.use)
    tell_automation(world, epoch, planned, picture, memory.automation)
    return tell_loans(world, epoch, planned, Live(picture, records, troubles, past, pause), memory.told)


def _next_turn(loans: Sequence[Loan], now: datetime) -> timedelta | None:
    """How long until the next loan starts or ends. Only to be on time: what is due is asked of the database."""
    instants = [loan.start if loan.state is LoanState.SCHEDULED else loan.end for loan in loans]
    ahead = [at - now for at in instants if at > now]
    return min(ahead, default=None)


def _intent(world: World, write: PlannedWrite, epoch: int) -> Intent:
    return write.intent(world.new_id(), epoch, world.clock())


def _store(
    world: World, cluster: str, epoch: int, before: Before, planned: Plan, picture: ClusterPicture
) -> list[tuple[PlannedWrite, Intent]] | None:
    """Store what the plan says and the intents of what will be sent. None: something changed since it was read.

    Only one write goes out per plan, except for those that lower quota: they may go in any order.
    """
    writes = [write for write in planned.writes if write.move is Move.DOWN] or list(planned.writes[:1])
    now = world.clock()
    try:
        with world.store.begin() as uow:
            uow.leadership.check(epoch)
            uow.alone(TURN)
            if before_in(uow, cluster, None).versions != before.versions:
                return None
            for record in planned.records:
                uow.fields.put(record)
            for loan in planned.loans:
                uow.loans.update(loan)
            for loan in planned.found_loans:
                uow.loans.add(loan)
            if not world.observe_only:
                store_proposals(uow, world, planned)
            for intent_id in planned.closed_intents:
                uow.fields.close_intent(intent_id, "dead", now)
            sent = [] if world.observe_only else [(write, _intent(world, write, epoch)) for write in writes]
            for write, intent in sent:
                if write.fields:
                    uow.fields.add_intent(intent)
            tell_findings(uow, world.policies.policy, planned, picture, now)
            uow.commit()
    except Stale:
        return None
    world.wake_delivery()
    return sent


def _send(
    world: World, epoch: int, memory: ConvergeMemory, intents: Sequence[tuple[PlannedWrite, Intent]]
) -> Blocker | None:
    """Send each patch once and record what its answer proves. What does not answer, None if to plan again at once."""
    silent = None
    for write, intent in intents:
        result = world.clusters[intent.cluster].patch(write.change)
        with suppress(Stale):
            _record(world, epoch, write, intent, result)
        refusal = refused(result.outcome, write.change.queue, result.words, world.clock())
        if refusal is not None:
            memory.refusals[intent.cluster, intent.queue] = refusal
            blocker = Blocker.NO_RIGHT if result.outcome is PatchOutcome.FORBIDDEN else Blocker.REFUSED
            memory.troubles[intent.cluster, intent.queue] = Trouble(blocker, result.words, refusal.since)
            tell_refusal(world, epoch, intent.cluster, blocker, refusal)
        silent = _SILENT.get(result.outcome, silent)
    return silent


def _record(world: World, epoch: int, write: PlannedWrite, intent: Intent, result: PatchResult) -> None:
    """What the answer proves goes into the record, the intent and the audit, in one transaction.

    Raises Stale if the record moved on meanwhile: the intent stays open, and the next look at the queue tells what
    became of it.
    """
    now = world.clock()
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        open_intents = uow.fields.open_intents(intent.cluster)
        settled = settle(intent, result.outcome, uow.fields.records(intent.cluster), open_intents)
        for record in settled.records:
            uow.fields.put(record)
        if write.fields and settled.close:
            uow.fields.close_intent(intent.id, result.outcome.value, now)
        for twin in settled.twins:
            uow.fields.close_intent(twin, "replaced", now)
        for key, number in write.change.numbers.items():
            what = write.move.name.lower()
            uow.audit.add(AuditEntry(now, "bot", what, "/".join(key), f"{number}: {result.outcome.value}"))
        uow.commit()
