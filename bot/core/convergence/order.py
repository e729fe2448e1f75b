"""Which steps may be written now (design: convergence, section 3.E).

Over all nominal fields of one flavor and resource in a cohort tree, and of queues joined by a loan: what goes down goes
first, then what changes only legs or the annotation, then what goes up. So the sum over a tree never rises before the
bot has taken back what it can. A borrowingLimit is nobody else's: its steps wait for nothing. Called by the planner.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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


def move_of(step: Step, *, note_is_old: bool) -> Move | None:
    """What this step is; None if there is nothing to write."""
    live = step.look.live
    assert live is not None
    if step.at_once:
        return Move.BOOK if step.legs_change else None
    if step.number != live:
        return Move.DOWN if step.number < live else Move.UP
    if step.legs_change:
        return Move.BOOK
    return Move.NOTE if note_is_old else None


def put_in_order(
    moves: Sequence[tuple[Move, Step]],
    looks: Mapping[FieldKey, Look],
    goals: Goals,
    group_of: Callable[[FieldKey], object],
) -> Ordered:
    """Sort out, group by group, what may go now and what must be fenced first."""
    risky: dict[object, list[Look]] = defaultdict(list)
    for look in looks.values():
        if look.alive and _writes_above_goal(look, goals):
            risky[group_of(look.key)].append(look)
    stuck: dict[object, list[Look]] = defaultdict(list)
    for look in looks.values():
        if _has_stuck_surplus(look):
            stuck[group_of(look.key)].append(look)
    groups: dict[object, list[tuple[Move, Step]]] = defaultdict(list)
    for move, step in moves:
        groups[group_of(step.look.key)].append((move, step))
    allowed: list[tuple[Move, Step]] = []
    waiting: dict[FieldKey, str] = {}
    fences: set[str] = set()
    for group, inside in groups.items():
        for move, step in inside:
            key = step.look.key
            blocker = _blocker(move, key, inside, stuck[group])
            elsewhere = {look.key.queue for look in risky[group] if look.key != key}
            if blocker is None and move is Move.UP and elsewhere:
                fences |= elsewhere
                blocker = min(elsewhere)
            if blocker is None:
                allowed.append((move, step))
            else:
                waiting[key] = blocker
    return Ordered(tuple(allowed), frozenset(fences), waiting)


def _blocker(move: Move, key: FieldKey, inside: Sequence[tuple[Move, Step]], stuck: Sequence[Look]) -> str | None:
    """The queue whose own step must go before this one."""
    if move is Move.DOWN or key.name is FieldName.BORROWING_LIMIT:
        return None
    first = (Move.DOWN, Move.BOOK) if move is Move.UP else (Move.DOWN,)
    for other_move, other in inside:
        if other_move in first and other.look.key != key:
            return other.look.key.queue
    return next((look.key.queue for look in stuck if look.key != key), None) if move is Move.UP else None


def _has_stuck_surplus(look: Look) -> bool:
    """Whether a field is ours, stands above base and legs (somebody said to put it back) and may not be written."""
    ours = look.meaning is Meaning.OURS and look.unwritable is not None
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
        if key.name is FieldName.BORROWING_LIMIT:
            return key
        return find(tree(key), key.flavor_resource), key.flavor_resource

    return group_of
