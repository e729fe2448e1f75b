"""What each field should be (design: convergence, section 3.C): the legs every loan should have now.

A frozen field (in question, gone, unwritable) is not written, so the other side of its loans must do with what the
frozen number holds: a borrower never keeps what its lender does not give, a lender gets back only what its borrower
has certainly lost. Then shortfalls are settled, so that no free field is meant to fall below 0. A ResourceQuota beside
the borrower follows what the borrower gets, and holds it until the borrower's number is down: what the queue admits
must get its pods.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.convergence.legs import Sides, age
from bot.core.convergence.observe import Look


@dataclass(slots=True)
class LoanGoal:
    """One loan's two legs: what they are, what they should be. Devices, both counted positive."""

    leg: str
    wanted: int
    lender: Look | None
    """None: the kind has no lender."""
    borrower: Look
    given_now: int
    received_now: int
    given: int = 0
    received: int = 0
    floor: int = 0
    """What the lender must keep lowered, because the borrower may hold it."""
    waits_for: str | None = None
    """Queue whose question or return holds this loan back."""
    beside: Look | None = None
    """The ResourceQuota that goes with the borrower; None if there is none."""

    @property
    def short_by(self) -> int:
        """What it wants and shall not have, because a lender has not that much."""
        return max(0, self.wanted - self.received)

    @property
    def room_beside(self) -> int:
        """What the ResourceQuota must have for this loan: what the borrower shall get, or has as yet."""
        return max(self.received, self.received_now)


@dataclass(frozen=True, slots=True)
class Goals:
    """The legs of all fields, signed, and the loans they come from."""

    legs: Mapping[FieldKey, Mapping[str, int]]
    loans: Mapping[str, LoanGoal]


def set_goals(loans: Iterable[Sides], wants: Mapping[str, int], looks: Mapping[FieldKey, Look]) -> Goals:
    """Goals of every field that was looked at. Legs of loans that nobody knows stay as they are."""
    frozen = {key for key, look in looks.items() if look.frozen}
    oldest_first = sorted(loans, key=lambda sides: sides.loan.id)
    goals = [_first_goal(sides, wants.get(sides.leg, 0), looks, frozen) for sides in oldest_first]
    book = _Book(looks, frozen)
    for goal in goals:
        book.enter(goal)
    book.settle(floors=True)
    book.settle(floors=False)
    return Goals(_signed(goals, book.kept), {goal.leg: goal for goal in goals})


def _first_goal(sides: Sides, wanted: int, looks: Mapping[FieldKey, Look], frozen: Set[FieldKey]) -> LoanGoal:
    leg, borrower = sides.leg, looks[sides.borrower]
    lender = None if sides.lender is None else looks[sides.lender]
    given_now = 0 if lender is None else max(0, -lender.embodied.get(leg, 0))
    received_now = max(0, borrower.embodied.get(leg, 0))
    goal = LoanGoal(leg, wanted, lender, borrower, given_now, received_now, 0 if lender is None else wanted, wanted)
    goal.beside = None if sides.beside is None else looks[sides.beside]
    if sides.borrower in frozen or sides.lender in frozen:
        _beside_frozen(goal, sides.lender in frozen, sides.borrower in frozen)
    return goal


def _beside_frozen(goal: LoanGoal, lender_frozen: bool, borrower_frozen: bool) -> None:
    """What a side may do whose other side is not written (or what a frozen side is left with)."""
    d, u, w = goal.given_now, goal.received_now, goal.wanted
    if borrower_frozen:
        goal.received = goal.floor = u
    elif lender_frozen:
        goal.received = min(w, d, u)
    if goal.lender is None:
        return
    if lender_frozen:
        goal.given = d
    elif borrower_frozen:
        goal.given = max(u, min(w, d))
        goal.waits_for = goal.borrower.key.queue if goal.given > w else None


@dataclass(slots=True)
class _Book:
    """Who gives and receives in which field, while shortfalls are settled."""

    looks: Mapping[FieldKey, Look]
    frozen: Set[FieldKey]
    given: dict[FieldKey, list[LoanGoal]] = field(default_factory=lambda: defaultdict(list))
    received: dict[FieldKey, list[LoanGoal]] = field(default_factory=lambda: defaultdict(list))
    kept: dict[FieldKey, dict[str, int]] = field(default_factory=dict)
    """Legs of unknown loans."""

    def __post_init__(self) -> None:
        self.kept = {key: dict(look.record.legs) for key, look in self.looks.items() if look.record.legs}

    def enter(self, goal: LoanGoal) -> None:
        """Oldest loans first."""
        for look, side in ((goal.borrower, self.received), (goal.lender, self.given)):
            if look is not None:
                side[look.key].append(goal)
                if look.key in self.kept:
                    self.kept[look.key].pop(goal.leg, None)

    def shortfall(self, key: FieldKey) -> int:
        """How far below 0 a free field's goal is; 0 if it is not, or the field is frozen."""
        look = self.looks[key]
        if key in self.frozen or look.record.base is None:
            return 0
        number = look.record.base + sum(self.kept.get(key, {}).values())
        number += sum(goal.received for goal in self.received[key]) - sum(goal.given for goal in self.given[key])
        return max(0, -number)

    def settle(self, *, floors: bool) -> None:
        """Pass 1 (with floors: cut, then hold back) or pass 2 (cut alone) until nothing changes."""
        waiting = deque(sorted(self.given))
        while waiting:
            key = waiting.popleft()
            missing = self.shortfall(key)
            if missing:
                missing, touched = self._cut(key, missing, floors=floors)
                if missing and floors:
                    touched += self._hold_back(key, missing)
                waiting.extend(touched)

    def _cut(self, key: FieldKey, missing: int, *, floors: bool) -> tuple[int, list[FieldKey]]:
        """Give less: youngest loans first, those whose borrower is frozen last. What is still missing then."""
        touched = []
        for goal in sorted(self.given[key], key=lambda goal: (goal.borrower.key in self.frozen, -age(goal.leg))):
            taken = min(missing, goal.given - (goal.floor if floors else 0))
            if taken <= 0:
                continue
            goal.given -= taken
            missing -= taken
            if goal.borrower.key not in self.frozen and goal.received > goal.given:
                goal.received = goal.given
                touched.append(goal.borrower.key)
        return missing, touched

    def _hold_back(self, key: FieldKey, missing: int) -> list[FieldKey]:
        """Return less, as long as what came through this field may be held further down; oldest loans first."""
        touched = []
        culprit = self._holder(key)
        for goal in self.received[key]:
            held = min(missing, goal.received_now - goal.received)
            if held <= 0:
                continue
            goal.received += held
            goal.floor = goal.received
            goal.waits_for = culprit
            missing -= held
            if goal.lender is not None and goal.lender.key not in self.frozen and goal.given < goal.received:
                goal.given = goal.received
                touched.append(goal.lender.key)
        return touched

    def _holder(self, key: FieldKey) -> str | None:
        for goal in self.given[key]:
            if goal.floor:
                return goal.borrower.key.queue if goal.borrower.key in self.frozen else goal.waits_for
        return None


def _signed(
    goals: Sequence[LoanGoal], kept: Mapping[FieldKey, Mapping[str, int]]
) -> Mapping[FieldKey, Mapping[str, int]]:
    legs: dict[FieldKey, dict[str, int]] = defaultdict(dict, {key: dict(held) for key, held in kept.items()})
    known = {goal.leg for goal in goals}
    for key in [key for key in legs if key.name is FieldName.HARD]:  # a team's ResourceQuota may be another one by now
        legs[key] = {leg: size for leg, size in legs[key].items() if leg not in known}
    for goal in goals:
        if goal.beside is not None and goal.room_beside:
            legs[goal.beside.key][goal.leg] = goal.room_beside
        if goal.received:
            legs[goal.borrower.key][goal.leg] = goal.received
        if goal.lender is not None and goal.given:
            legs[goal.lender.key][goal.leg] = -goal.given
    return legs
