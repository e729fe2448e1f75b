"""The planner of convergence: facts in, what to store and what may be written now out. Pure.

Called by flows/converge_quota, which reads the database, then the cluster, plans, stores the plan's records, loans and
intent in one transaction that fails if anything changed since, sends the patch, and plans again from fresh reads.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.core.convergence.annotation import LOANS, NotedLeg
from bot.core.convergence.beside import room_findings
from bot.core.convergence.facts import FieldKey, FieldRecord, IntendedField, Intent
from bot.core.convergence.figures import FiguresByLoan, LoanFigures, loan_findings
from bot.core.convergence.findings import Finding
from bot.core.convergence.goals import Goals, set_goals
from bot.core.convergence.legs import Sides
from bot.core.convergence.lost import half_lost, lost_loans, unknown_fields, unknown_legs
from bot.core.convergence.notable import automated_findings, field_findings
from bot.core.convergence.observe import Look, Meaning, Seen, look_at
from bot.core.convergence.order import Move, Ordered, groups, move_of, put_in_order
from bot.core.convergence.proposals import Proposing
from bot.core.convergence.settle_proposals import ProposalPlan, settle_proposals
from bot.core.convergence.steps import Step, step_of
from bot.core.convergence.views import QueueView, queue_findings, view_queue
from bot.core.convergence.wants import Ground, begun, by_the_clock, obstacle, wanted
from bot.core.convergence.writes import PlannedWrite, Scribe
from bot.core.kueue import ClusterPicture
from bot.core.loans import Loan, LoanState
from bot.core.trees import roots as roots_of


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """What a plan is made from. The picture is read after the rest, fresh, never from a cache."""

    install: str
    epoch: int
    now: datetime
    picture: ClusterPicture
    records: Mapping[FieldKey, FieldRecord]
    """All records of this cluster."""
    intents: Sequence[Intent]
    """All open intents of this cluster."""
    loans: Sequence[Loan]
    """All loans of this cluster that are not closed. A closed one may be among them."""
    unwritable: Mapping[str, str] = field(default_factory=dict)
    """Queue -> why it is not to be written now. A queue that is missing in the picture and stands here was not read;
    one that is missing and does not stand here is gone."""
    paused: bool = False
    """An admin stopped quota changes: what has not begun waits. What has begun is finished: its lender was lowered, or
    a patch is on its way, and the way back would take as many writes, and the way forth again after them."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Borrower's queue -> the ResourceQuota (namespace/name) of its team, which goes up and down with its loans."""
    proposing: Proposing = field(default_factory=Proposing)
    """Queues that are written in Git, and what is proposed for them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to store (all of it, in the transaction of the write or without a write) and what may be written now."""

    records: tuple[FieldRecord, ...]
    """New or changed. A write's fields have a record here or in the database."""
    loans: tuple[Loan, ...]
    """Changed: started, ended, suspended, closed."""
    found_loans: tuple[Loan, ...]
    """Known from annotations only: to be added. If the database has one of them (closed), plan again with it."""
    closed_intents: tuple[str, ...]
    """Ids of intents that can land no more; what they did is in `records`."""
    writes: tuple[PlannedWrite, ...]
    """Each may be sent now. After one was sent the others are out of date, but for those of Move.DOWN."""
    findings: tuple[Finding, ...]
    figures: Mapping[int, LoanFigures]
    """By loan id, for every loan that has started and was not closed before."""
    proposals: ProposalPlan
    """Of queues that the bot does not write."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What is looked at: the queues, the fields, and the loans that have something in them."""

    facts: PlanFacts
    views: Mapping[str, QueueView]
    loans: Sequence[Loan]
    """All, as of now; those of the facts first."""
    active: Sequence[Sides]
    """Those that have started or have a leg somewhere."""
    keys: Set[FieldKey]
    """The fields of the active loans."""
    wants: Mapping[str, int]
    trees: Mapping[str, str | None]
    unknown: Mapping[FieldKey, Mapping[str, NotedLeg]]
    """Fields that only an annotation knows."""


def plan(facts: PlanFacts) -> Plan:
    """What follows from the facts. The same facts give the same plan."""
    known = _know(facts)
    looks = _look(known)
    goals = set_goals(known.active, known.wants, looks)
    scribe = Scribe(facts.install, facts.epoch, {loan.leg_id: loan for loan in known.loans})
    steps = {look.key: step_of(look, goals) for look in looks.values() if not look.frozen}
    ordered = _order(known, looks, goals, steps, scribe)
    left = _left_over(known.active, looks)
    writes = _writes(known, looks, ordered, _to_fence(steps, ordered, left), scribe)
    proposals = settle_proposals(known.views.values(), looks, steps, ordered.moves, scribe, known.wants)
    loans = [_close(loan, left) for loan in known.loans]
    by_loan = FiguresByLoan({sides.loan.id: sides for sides in known.active}, goals, ordered)
    return Plan(
        records=_changed(looks, writes, proposals),
        loans=tuple(new for old, new in zip(facts.loans, loans, strict=False) if new is not old),
        found_loans=tuple(loans[len(facts.loans) :]),
        closed_intents=tuple(_dead(known.views.values())),
        writes=writes,
        findings=tuple(_findings(known, looks, goals, by_loan)),
        figures=by_loan,
        proposals=proposals,
    )


def _know(facts: PlanFacts) -> _Known:
    views = _views(facts)
    unknown = dict(unknown_fields(views, facts.records))
    found = lost_loans(unknown, {loan.leg_id for loan in facts.loans})
    trees = roots_of(facts.picture)
    ground = Ground(facts.picture, trees, facts.unwritable.keys())
    sides = [_as_of_now(loan, facts, ground) for loan in (*facts.loans, *found.values())]
    held: set[str] = set().union(*(record.legs for record in facts.records.values()), *unknown.values())
    held.update(leg for intent in facts.intents for part in intent.fields for leg in part.legs)
    started = (LoanState.RUNNING, LoanState.RETURNING)
    active = [each for each in sides if each.loan.state in started or each.leg in held]
    wants = {each.leg: wanted(each.loan) for each in sides}
    if facts.paused:
        noted = [part.legs for view in views.values() if view.note for part in view.note.fields.values()]
        so_far = begun(facts.records.values(), _on_their_way(facts), noted)
        wants = {leg: min(amount, so_far.get(leg, 0)) for leg, amount in wants.items()}
    keys = {key for each in active for key in each.fields}
    for name in {key.queue for key in keys} - views.keys():
        views[name] = view_queue(name, facts.picture, (), facts.install, facts.unwritable, facts.proposing)
    return _Known(facts, views, [each.loan for each in sides], active, keys, wants, trees, unknown)


def _views(facts: PlanFacts) -> dict[str, QueueView]:
    """The queues that records, intents or annotations are about."""
    intents: dict[str, list[Intent]] = defaultdict(list)
    for intent in facts.intents:
        intents[intent.queue].append(intent)
    names = {key.queue for key in facts.records} | intents.keys() | facts.proposing.open.keys()
    names.update(name for name, queue in facts.picture.objects().items() if LOANS in queue.annotations)
    return {
        name: view_queue(name, facts.picture, intents.get(name, ()), facts.install, facts.unwritable, facts.proposing)
        for name in sorted(names)
    }


def _on_their_way(facts: PlanFacts) -> list[IntendedField]:
    """What patches and proposals would make of fields."""
    patches = [part for intent in facts.intents for part in intent.fields]
    return patches + [part.after for proposal in facts.proposing.open.values() for part in proposal.fields]


def _as_of_now(loan: Loan, facts: PlanFacts, ground: Ground) -> Sides:
    sides = Sides.of(by_the_clock(loan, facts.now), facts.beside.get(loan.borrower))
    if sides.loan.state is LoanState.RUNNING and loan.suspended is None:
        why = obstacle(sides, ground)
        return sides if why is None else sides._replace(loan=replace(sides.loan, suspended=why))
    return sides


def _look(known: _Known) -> dict[FieldKey, Look]:
    """Look at every field that a record, an intent, an active loan or an annotation is about."""
    facts = known.facts
    lost = half_lost(known.unknown, facts.records)
    keys = {*facts.records, *known.unknown, *lost}
    keys |= known.keys
    keys.update(part.key for intent in facts.intents for part in intent.fields)
    return {
        key: look_at(Seen(known.views[key.queue], known.wants, facts.now), key, facts.records.get(key), lost.get(key))
        for key in sorted(keys)
    }


def _order(
    known: _Known, looks: Mapping[FieldKey, Look], goals: Goals, steps: Mapping[FieldKey, Step], scribe: Scribe
) -> Ordered:
    moves = []
    for step in steps.values():
        move = move_of(step)
        if move is None and not step.look.view.proposes and scribe.is_old(step.look):
            move = Move.NOTE
        if move is not None:
            moves.append((move, step))
    return put_in_order(moves, looks, goals, groups(known.trees, known.active))


def _left_over(active: Iterable[Sides], looks: Mapping[FieldKey, Look]) -> dict[str, set[str]]:
    """For loans that want nothing and are in no record: queues where a patch under way still has a leg of them."""
    held = {leg for look in looks.values() for leg in look.record.legs}
    left: dict[str, set[str]] = {
        each.leg: set() for each in active if each.loan.state is LoanState.RETURNING and each.leg not in held
    }
    for look in looks.values():
        for part in look.alive:
            for leg in part.legs.keys() & left.keys():
                left[leg].add(look.key.queue)
    return left


def _to_fence(steps: Mapping[FieldKey, Step], ordered: Ordered, left: Mapping[str, set[str]]) -> set[str]:
    return (
        set(ordered.fences)
        | {key.queue for step in steps.values() for key in step.not_firm}
        | {queue for queues in left.values() for queue in queues}
    )


def _writes(
    known: _Known, looks: Mapping[FieldKey, Look], ordered: Ordered, fences: set[str], scribe: Scribe
) -> tuple[PlannedWrite, ...]:
    """One patch per queue. Any write of a queue is a fence for what was planned on the same resourceVersion."""
    moves: dict[str, list[tuple[Move, Step]]] = defaultdict(list)
    for move, step in ordered.moves:
        if not step.look.view.proposes:
            moves[step.look.key.queue].append((move, step))
    to_fence = {name for name in fences if known.views[name].unwritable is None and not known.views[name].proposes}
    names = moves.keys() | to_fence
    gone = [look for look in looks.values() if look.meaning is Meaning.GONE and look.noted is not None]
    forgotten = {look.key.queue for look in gone if not look.view.proposes}
    concerned = names | forgotten
    fields: dict[str, list[Look]] = defaultdict(list)
    for look in looks.values():
        if look.key.queue in concerned:
            fields[look.key.queue].append(look)
    planned = [scribe.write(fields[name], moves[name]) for name in sorted(names) if known.views[name].queue]
    planned += [write for name in sorted(forgotten - names) if (write := scribe.tidied(fields[name])) is not None]
    return tuple(sorted(planned, key=lambda write: (write.move, write.change.queue.name)))


def _close(loan: Loan, left: Mapping[str, set[str]]) -> Loan:
    """RETURNING ends when nothing that exists, and no patch that may land, has a leg of the loan."""
    if loan.state is LoanState.RETURNING and left.get(loan.leg_id) == set():
        return replace(loan, state=LoanState.CLOSED)
    return loan


def _changed(
    looks: Mapping[FieldKey, Look], writes: Iterable[PlannedWrite], proposals: ProposalPlan
) -> tuple[FieldRecord, ...]:
    """Records to store: changed ones, and new ones if there is something to remember."""
    written = {part.key for write in writes for part in write.fields} | proposals.keys
    booked = {record.key for record in proposals.booked}
    return tuple(
        look.record
        for look in looks.values()
        if look.record != look.before
        and look.key not in booked
        and (look.before is not None or look.key in written or look.record.seq > 0 or look.record.question is not None)
    )


def _dead(views: Iterable[QueueView]) -> Iterator[str]:
    for view in views:
        yield from (intent.id for intent in (*view.sorted.undecided, *view.sorted.decided))


def _findings(known: _Known, looks: Mapping[FieldKey, Look], goals: Goals, by_loan: FiguresByLoan) -> Iterator[Finding]:
    for view in known.views.values():
        yield from queue_findings(view)
    yield from automated_findings(looks.values(), known.keys)
    for look in looks.values():
        yield from field_findings(look, known.wants)
    yield from unknown_legs(looks.values(), known.wants.keys(), known.facts.picture)
    yield from room_findings(goals.loans.values())
    yield from loan_findings(known.loans, known.facts.loans, by_loan)
