"""The adversary: picks what happens next, at random or every possibility, and checks the promises on the way.

Faults have budgets, so that every walk ends in peace; then everything must come to rest, and after answers and the
loans' ends every number must be the base again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from bot.core.convergence.changes import PatchOutcome
from bot.core.convergence.facts import AnswerKind, FieldKey, FieldName, FieldRecord
from bot.core.kueue import QueueSnapshot
from bot.core.loans import Loan, LoanKind, LoanState
from tests.support.convergence.ghost import PromiseBroken
from tests.support.convergence.world import LATE, Broken, Read, World, number_of

REST_WITHIN = 80
"""Plans until an undisturbed world must be at rest."""

Action = tuple[str, Callable[[World], None]]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A world to start with, and what may happen in it."""

    name: str
    queues: tuple[QueueSnapshot, ...]
    loans: tuple[Loan, ...]
    fields: tuple[FieldKey, ...]
    """That somebody may edit."""
    numbers: tuple[int, ...] = (0, 1, 2, 3, 4, 6)
    budgets: Mapping[str, int] = field(default_factory=dict)
    """How often each kind of fault may happen."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Queue -> its ResourceQuota (namespace/name), which is one of `queues`."""

    def world(self) -> World:
        world = World.of(*self.queues)
        world.ghost.loans = {loan.leg_id: loan for loan in self.loans}
        world.ghost.beside = self.beside
        return world


@dataclass(slots=True)
class Spent:
    """What happened so far, by kind."""

    counts: Counter[str] = field(default_factory=Counter)

    def copy(self) -> "Spent":
        return Spent(Counter(self.counts))


def actions(scenario: Scenario, world: World, spent: Spent, pick: Callable[[list[int]], list[int]]) -> Iterator[Action]:
    """Everything that may happen now. `pick` thins out the numbers that edits choose from."""
    left = {kind: limit - spent.counts[kind] for kind, limit in scenario.budgets.items()}
    if not world.lost:
        yield from _executor(scenario, world)
        yield from _people(scenario, world)
    for index in range(len(world.flights)):
        yield f"land:{index}", lambda w, i=index: _land(w, i, "now")
        if left.get("lost answer", 0) > 0:
            yield f"lost answer:{index}", lambda w, i=index: _land(w, i, "lost")
            yield f"lost answer late:{index}", lambda w, i=index: _land(w, i, "late")
        if left.get("drop", 0) > 0:
            yield f"drop:{index}", lambda w, i=index: w.drop(w.flights[i])
        if left.get("reject", 0) > 0:
            for outcome in (PatchOutcome.REFUSED, PatchOutcome.KUEUE_DOWN):
                yield f"reject:{outcome}:{index}", lambda w, i=index, o=outcome: w.drop(w.flights[i], o)
    for index in range(len(world.late)):
        yield f"deliver:{index}", lambda w, i=index: w.answered(*w.late.pop(i))
    yield from _faults(scenario, world, left, pick)


def _land(world: World, index: int, answer: str) -> None:
    world.land(world.flights[index], answer)


def _executor(scenario: Scenario, world: World) -> Iterator[Action]:
    if not world.reads or (world.reads[-1].db, world.reads[-1].objects) != (world.db, world.objects):
        yield "read", lambda w: w.read() and None
    for index, seen in enumerate(world.reads):
        if not world.unchanged(seen):
            continue
        plan = world.plan_of(seen)
        choices = len(plan.writes)
        if choices == 0:
            if plan.records or plan.loans or plan.closed_intents:
                yield f"store:{index}", lambda w, s=seen: _act(w, s, None)
            continue
        for choice in range(choices):
            yield f"act:{index}:{choice}", lambda w, s=seen, c=choice: _act(w, s, c)


def _act(world: World, seen: Read, choice: int | None) -> None:
    plan = world.plan_of(seen)
    write = None if choice is None or choice >= len(plan.writes) else plan.writes[choice]
    world.commit(seen, plan, write)


def _people(scenario: Scenario, world: World) -> Iterator[Action]:
    known = world.db.loans
    for loan in scenario.loans:
        stored = known.get(loan.id)
        if stored is None:
            if loan.leg_id not in world.ghost.started:
                yield f"start:{loan.leg_id}", lambda w, x=loan: w.approve(x)
        elif stored.state in (LoanState.SCHEDULED, LoanState.RUNNING):
            yield f"end:{loan.leg_id}", lambda w, n=loan.id: w.give_back(n)
            if stored.suspended is not None and scenario.budgets.get("resume"):
                yield f"resume:{loan.leg_id}", lambda w, n=loan.id: w.resume(n)
    for record in world.questions():
        for kind in offered(record):
            yield f"answer:{kind}:{record.key.queue}", lambda w, r=record, k=kind: w.answer(r, k) and None


def offered(record: FieldRecord) -> list[AnswerKind]:
    """Buttons that make sense for the record."""
    return [kind for kind in AnswerKind if kind is not AnswerKind.PUT_BACK or record.base is not None]


Left = Mapping[str, int]
"""How often each fault may still happen."""


def _faults(scenario: Scenario, world: World, left: Left, pick: Callable[[list[int]], list[int]]) -> Iterator[Action]:
    if world.paused or left.get("pause", 0) > 0:
        yield "go on" if world.paused else "pause", lambda w: setattr(w, "paused", not w.paused)
    if left.get("crash", 0) > 0:
        yield "crash", lambda w: w.crash()
    if world.lost:
        yield "rebuild", lambda w: w.rebuild()
    elif left.get("lose", 0) > 0:
        yield "lose", lambda w: w.lose_database()
    for key in scenario.fields:
        if key.queue in world.objects:
            yield from _edits(key, number_of(world.objects[key.queue], key), scenario.numbers, left, pick)
    for queue in list(world.objects.values()):
        yield from _to_the_object(world, queue, left)
        if left.get("lending", 0) > 0 and queue.cohort is not None:
            yield from _lending_limits(queue)
    missing = [queue for queue in scenario.queues if queue.name not in world.objects]
    for queue in missing if left.get("create", 0) > 0 else []:
        yield f"create:{queue.name}", lambda w, q=queue: w.create(q)


def _edits(
    key: FieldKey, now: int | None, numbers: tuple[int, ...], left: Left, pick: Callable[[list[int]], list[int]]
) -> Iterator[Action]:
    place = f"{key.queue}:{key.flavor}:{key.name}"
    if now is None:
        for number in pick(list(numbers)) if left.get("put", 0) > 0 else []:
            yield f"put:{place}={number}", lambda w, n=number: w.edit(key, n)
        return
    for number in pick([n for n in numbers if n != now]) if left.get("edit", 0) > 0 else []:
        yield f"edit:{place}={number}", lambda w, n=number: w.edit(key, n)
        yield f"edit stripped:{place}={number}", lambda w, n=number: w.edit(key, n, strip=True)
    if left.get("remove", 0) > 0:
        yield f"remove:{place}", lambda w: w.edit(key, None)


def _to_the_object(world: World, queue: QueueSnapshot, left: Left) -> Iterator[Action]:
    name = queue.name
    if left.get("strip", 0) > 0 and world.has_note(name):
        yield f"strip:{name}", lambda w: w.strip(name)
    if left.get("touch", 0) > 0:
        yield f"touch:{name}", lambda w: w.touch(name)
        yield f"touch spec:{name}", lambda w: w.touch(name, spec=True)
    if left.get("delete", 0) > 0:
        yield f"delete:{name}", lambda w: w.delete(name) and None
        yield f"delete and restore:{name}", lambda w: w.create(w.delete(name))
    if left.get("move", 0) > 0:
        target = "elsewhere" if queue.cohort == "ml" else "ml"
        yield f"move:{name}", lambda w: w.move(name, target)


def _lending_limits(queue: QueueSnapshot) -> Iterator[Action]:
    for quota, entry in queue.quotas.items():
        for limit in (None, *range(entry.nominal + 1)):
            if limit != entry.lending_limit:
                name = f"lending:{queue.name}:{limit}"
                yield name, lambda w, x=limit, q=quota: w.set_lending_limit(queue.name, x, q)


def perform(world: World, spent: Spent, action: Action) -> None:
    """Do it, and remember that it was done."""
    name, act = action
    world.trace.append(name)
    kind = name.partition(":")[0]
    spent.counts[{"edit stripped": "edit", "lost answer late": "lost answer"}.get(kind, kind.partition(" ")[0])] += 1
    if kind.startswith("lost answer"):
        spent.counts["lost answer"] += 1
    if kind == "start":
        world.ghost.started.add(name.partition(":")[2])
    try:
        act(world)
    except (PromiseBroken, Broken) as broken:
        raise type(broken)(f"{broken}\n  after: {' | '.join(world.trace)}") from broken


def stop_faults(world: World, rng: Random) -> None:
    """What is under way arrives or not; nobody breaks anything any more."""
    if world.lost:
        world.rebuild()
    for flight in list(world.flights):
        if rng.random() < 0.5:
            world.land(flight, rng.choice(("now", "lost")))
        else:
            world.drop(flight)
    while world.late:
        world.answered(*world.late.pop())
    world.refused = {}
    world.reads = []


def come_to_rest(world: World, rng: Random) -> None:
    """Read, plan, write, again, until there is nothing to do."""
    for _ in range(REST_WITHIN):
        seen = world.read()
        plan = world.plan_of(seen)
        if not (plan.writes or plan.records or plan.loans or plan.closed_intents):
            return
        flight = world.commit(seen, plan, rng.choice(plan.writes) if plan.writes else None)
        if flight is not None:
            world.land(flight)
    raise Broken("does not come to rest")


def check_rest(world: World) -> None:
    """P1 at rest, as far as no outsider's number that the bot must not touch is above it."""
    held = [key for key in world.ghost.truths if world.ghost.asked(key, world.objects.get(key.queue))]
    received = any(size > 0 for key in held for size in world.ghost.truths[key].legs.values())
    doubted = any(size > 0 for record in world.questions() for size in record.legs.values())
    if received or doubted or world.ghost.unknown:
        return
    for tree, above in world.ghost.excess(world.objects).items():
        if above > 0:
            raise PromiseBroken(f"P1: at rest {tree} is {above} above its bound")


def answer_all(world: World, rng: Random) -> None:
    """Until nobody is asked anything."""
    for _ in range(20):
        questions = world.questions()
        if not questions:
            return
        for record in questions:
            world.answer(record, rng.choice(offered(record)))
        come_to_rest(world, rng)
    raise Broken("asks again and again")


def check_in_force(world: World) -> None:
    """Base + loans: every loan that is wanted is there, or its lender has not that much."""
    legs: Counter[tuple[str, str]] = Counter()
    for key, truth in world.ghost.truths.items():
        for leg, size in truth.legs.items() if number_of(world.objects.get(key.queue), key) is not None else ():
            legs[(key.queue, leg)] += size
    for loan in world.db.loans.values():
        wants = world.wanted(world.db).get(loan.leg_id, 0)
        raised = legs[(loan.borrower, loan.leg_id)]
        lowered = -legs[(loan.lender, loan.leg_id)] if loan.lender is not None else raised
        if raised != lowered or raised > wants:
            raise PromiseBroken(f"P2: {loan} gave {lowered}, lent {raised} of {wants}")
        if raised < wants and loan.kind is LoanKind.TRANSFER and loan.lender is not None:
            key = FieldKey(loan.cluster, loan.lender, loan.flavor, loan.resource, FieldName.NOMINAL)
            if (number_of(world.objects[loan.lender], key) or 0) >= wants - raised:
                raise PromiseBroken(f"P2: {loan} has {raised} of {wants}, and its lender has the rest")
        elif raised < wants:
            raise PromiseBroken(f"P2: {loan} has {raised} of {wants}")
        beside = world.ghost.beside.get(loan.borrower)
        if beside is not None and legs[(beside, loan.leg_id)] != raised and _hard(world, loan, beside) is not None:
            raise PromiseBroken(f"P2: {loan} has {raised}, and {legs[(beside, loan.leg_id)]} in {beside}")


def _hard(world: World, loan: Loan, beside: str) -> int | None:
    return number_of(world.objects.get(beside), FieldKey(loan.cluster, beside, "", loan.resource, FieldName.HARD))


def check_returned(world: World) -> None:
    """After the end: nothing of the bot is left anywhere."""
    for loan in world.db.loans.values():
        if loan.state is not LoanState.CLOSED:
            raise PromiseBroken(f"P2: {loan} is never closed")
    for key, truth in world.ghost.truths.items():
        if truth.legs and number_of(world.objects.get(key.queue), key) is not None:
            raise PromiseBroken(f"P2: {key} keeps {dict(truth.legs)}")


def finish(world: World, rng: Random) -> None:
    """Peace: rest, answers, loans in force, the end, everything returned."""
    world.trace.append("peace")
    try:
        stop_faults(world, rng)
        come_to_rest(world, rng)
        if world.paused:
            check_rest(world)
            world.paused = False
            come_to_rest(world, rng)
        check_rest(world)
        if rng.random() < 0.7:
            answer_all(world, rng)
            check_rest(world)
            check_in_force(world)
        if rng.random() < 0.5:
            world.now = LATE
        for number in list(world.db.loans):
            world.give_back(number)
        come_to_rest(world, rng)
        check_rest(world)
        answer_all(world, rng)
        check_rest(world)
        check_returned(world)
    except (PromiseBroken, Broken) as broken:
        raise type(broken)(f"{broken}\n  after: {' | '.join(world.trace)}") from broken


WEIGHTS = {"read": 5.0, "act": 9.0, "store": 9.0, "land": 5.0, "start": 4.0, "end": 0.7, "answer": 1.0, "deliver": 2.0}
FAULT_WEIGHT = 0.6
MOODS = (0.1, 0.5, 1.0, 3.0)
"""Every walk likes some things more than others: so it gets to what an even mixture never does."""


def walk(scenario: Scenario, seed: int, steps: int, watch: Callable[[World], None] | None = None) -> Counter[str]:
    """One random walk and its peace; what happened, by kind. Raises when a promise is broken."""
    rng = Random(seed)
    world, spent = scenario.world(), Spent()
    moods: dict[str, float] = {}

    def thin(numbers: list[int]) -> list[int]:
        return [rng.choice(numbers)] if numbers else []

    for _ in range(steps):
        possible = list(actions(scenario, world, spent, thin))
        if not possible:
            break
        by_kind: dict[str, list[Action]] = {}
        for action in possible:
            by_kind.setdefault(action[0].partition(":")[0], []).append(action)
        kinds = list(by_kind)
        for kind in kinds:
            moods.setdefault(kind, rng.choice(MOODS) * WEIGHTS.get(kind, FAULT_WEIGHT))
        kind = rng.choices(kinds, [moods[kind] for kind in kinds])[0]
        perform(world, spent, rng.choice(by_kind[kind]))
        if watch is not None:
            watch(world)
    finish(world, rng)
    return spent.counts
