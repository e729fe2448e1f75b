"""Which steps may be written now (design: convergence, section 3.E).

Over all nominal fields of one flavor and resource in a cohort tree, and of queues joined by a loan: what goes down goes
first, then what changes only legs or the annotation, then what goes up. So the sum over a tree never rises before the
bot has taken back what it can. A borrowingLimit and a ResourceQuota are nobody else's: their steps wait for nothing.
Called by the planner.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.convergence.goals import Goals
from bot.core.convergence.legs import Sides
from bot.core.convergence.observe import Look, Meaning
from bot.core.convergence.steps import Step
from bot.core.kueue import FlavorResource


class Move(IntEnum):
    """What a step does to the live number; smaller goes first."""

    DOWN = 0
    BOOK = 1
    """The number stays, its legs change; or both change, for loans in a circle."""
    NOTE = 2
    """The number and its legs stay; the annotation is out of date."""
    UP = 3
    FENCE = 4
    """No step: only the resourceVersion is to change, so that a patch under way dies."""


@dataclass(frozen=True, slots=True)
class Ordered:
    """What may be written now."""

    moves: tuple[tuple[Move, Step], ...]
    fences: frozenset[str]
    """Queues that are to be fenced (by any write)."""
    waiting: Mapping[FieldKey, str]
    """Fields whose step must wait, and the queue they wait for."""


def move_of(step: Step) -> Move | None:
    """What this step does to the live number; None if neither number nor legs change."""
    live = step.look.live
    assert live is not None
    if step.at_once:
        return Move.BOOK if step.legs_change else None
    if step.number != live:
        return Move.DOWN if step.number < live else Move.UP
    return Move.BOOK if step.legs_change else None


@dataclass(slots=True)
class _Group:
    """Fields that wait for each other."""

    steps: list[tuple[Move, Step]] = field(default_factory=list)
    downs: list[FieldKey] = field(default_factory=list)
    books: list[FieldKey] = field(default_factory=list)
    stuck: list[FieldKey] = field(default_factory=list)
    """Ours, above base and legs, and not to be written."""
    merges: list[FieldKey] = field(default_factory=list)
    """Downs that are only proposed."""
    leaps: list[FieldKey] = field(default_factory=list)
    """Steps that lean on nothing: they wait for merges too, and then nobody waits for them."""
    risky: list[FieldKey] = field(default_factory=list)
    """A patch under way would write more than the field should be."""

    def enter(self, move: Move, step: Step) -> None:
        """What is only proposed may take days: nothing waits for it but the other side of its own loans, and leaps."""
        self.steps.append((move, step))
        if step.look.view.proposes:
            self.merges += [step.look.key] if move is Move.DOWN else []
        elif move is Move.DOWN:
            self.downs.append(step.look.key)
        elif move is Move.BOOK:
            (self.leaps if step.at_once else self.books).append(step.look.key)

    def blocker(self, move: Move, step: Step) -> str | None:
        """The queue whose own step must go before this one."""
        key = step.look.key
        if move is Move.DOWN or key.name is not FieldName.NOMINAL:
            return None
        first = [self.downs]
        if move is Move.UP:
            first += [self.books, self.stuck, [] if self.merges else self.leaps]
        if step.at_once:
            first.append(self.merges)
        return next((other.queue for others in first for other in others if other != key), None)

    def risky_besides(self, key: FieldKey) -> set[str]:
        """The queues of the group that an old write could still raise above their goal, other than by this field."""
        return {other.queue for other in self.risky if other != key}


def put_in_order(
    moves: Sequence[tuple[Move, Step]],
    looks: Mapping[FieldKey, Look],
    goals: Goals,
    group_of: Callable[[FieldKey], object],
) -> Ordered:
    """Sort out, group by group, what may go now and what must be fenced first."""
    groups: dict[object, _Group] = defaultdict(_Group)
    for move, step in moves:
        groups[group_of(step.look.key)].enter(move, step)
    for look in looks.values():
        if look.alive and _writes_above_goal(look, goals):
            groups[group_of(look.key)].risky.append(look.key)
        if _has_stuck_surplus(look):
            groups[group_of(look.key)].stuck.append(look.key)
    allowed: list[tuple[Move, Step]] = []
    waiting: dict[FieldKey, str] = {}
    fences: set[str] = set()
    for group in groups.values():
        for move, step in group.steps:
            key = step.look.key
            blocker = group.blocker(move, step)
            if blocker is None and move is Move.UP:
                fences |= group.risky_besides(key)
                blocker = min(group.risky_besides(key), default=None)
            if blocker is None:
                allowed.append((move, step))
            else:
                waiting[key] = blocker
    return Ordered(tuple(allowed), frozenset(fences), waiting)


def _has_stuck_surplus(look: Look) -> bool:
    """Whether a field is ours, stands above base and legs (somebody said to put it back) and may not be written."""
    ours = look.meaning is Meaning.OURS and (look.unwritable is not None or look.view.proposes)
    if not ours or look.live is None or look.record.base is None:
        return False
    return look.live > look.record.base + sum(look.record.legs.values())


def _writes_above_goal(look: Look, goals: Goals) -> bool:
    """Whether a patch under way would write more than the field should be."""
    should = look.live
    if not look.frozen and look.record.base is not None:
        should = look.record.base + sum(goals.legs.get(look.key, {}).values())
    return any(part.wrote is not None and (should is None or part.wrote > should) for part in look.alive)


def groups(roots: Mapping[str, str | None], loans: Iterable[Sides]) -> Callable[[FieldKey], object]:
    """Which fields wait for each other: same flavor and resource, and trees joined by loans of it."""
    leader: dict[tuple[str, FlavorResource], str] = {}

    def tree(key: FieldKey) -> str:
        root = roots.get(key.queue)
        return f"queue {key.queue}" if root is None else f"cohort {root}"

    def find(name: str, quota: FlavorResource) -> str:
        while (name, quota) in leader:
            name = leader[(name, quota)]
        return name

    for sides in loans:
        lender = sides.lender
        if lender is not None and tree(lender) != tree(sides.borrower):
            one = find(tree(lender), lender.flavor_resource)
            other = find(tree(sides.borrower), lender.flavor_resource)
            if one != other:
                leader[(one, lender.flavor_resource)] = other

    def group_of(key: FieldKey) -> object:
        if key.name is not FieldName.NOMINAL:
            return key
        return find(tree(key), key.flavor_resource), key.flavor_resource

    return group_of
