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
from bot.core.convergence.legs import borrower_field, lender_field
from bot.core.convergence.observe import Look
from bot.core.convergence.steps import Step
from bot.core.kueue import FlavorResource
from bot.core.loans import Loan


class Move(IntEnum):
    """What a step does to the live number; smaller goes first."""

    DOWN = 0
    BOOK = 1
    """The number stays; its legs change."""
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
    members: dict[object, list[Look]] = defaultdict(list)
    for look in looks.values():
        if look.alive:
            members[group_of(look.key)].append(look)
    groups: dict[object, list[tuple[Move, Step]]] = defaultdict(list)
    for move, step in moves:
        groups[group_of(step.look.key)].append((move, step))
    allowed: list[tuple[Move, Step]] = []
    waiting: dict[FieldKey, str] = {}
    fences: set[str] = set()
    for group, inside in groups.items():
        risky = [look for look in members[group] if _writes_above_goal(look, goals)]
        for move, step in inside:
            blocker, to_fence = _blocker(move, step, inside, risky)
            fences.update(to_fence)
            if blocker is None:
                allowed.append((move, step))
            else:
                waiting[step.look.key] = blocker
    return Ordered(tuple(allowed), frozenset(fences), waiting)


def _blocker(
    move: Move, step: Step, inside: Sequence[tuple[Move, Step]], risky: Sequence[Look]
) -> tuple[str | None, set[str]]:
    """The queue this step must wait for, and the queues to fence so that it need not wait longer."""
    if move is Move.DOWN or step.look.key.name is FieldName.BORROWING_LIMIT:
        return None, set()
    first = (Move.DOWN,) if move is not Move.UP else (Move.DOWN, Move.BOOK)
    for other_move, other in inside:
        if other_move in first and other.look.key != step.look.key:
            return other.look.key.queue, set()
    if move is not Move.UP:
        return None, set()
    elsewhere = {look.key.queue for look in risky if look.key != step.look.key}
    return (min(elsewhere) if elsewhere else None), elsewhere


def _writes_above_goal(look: Look, goals: Goals) -> bool:
    """Whether a patch under way would write more than the field should be."""
    should = look.live
    if not look.frozen and look.record.base is not None:
        should = look.record.base + sum(goals.legs.get(look.key, {}).values())
    return any(part.wrote is not None and (should is None or part.wrote > should) for part in look.alive)


def groups(roots: Mapping[str, str | None], loans: Iterable[Loan]) -> Callable[[FieldKey], object]:
    """Which fields wait for each other: same flavor and resource, and trees joined by loans of it."""
    leader: dict[tuple[str, FlavorResource], str] = {}

    def tree(key: FieldKey) -> str:
        root = roots.get(key.queue)
        return f"queue {key.queue}" if root is None else f"cohort {root}"

    def find(name: str, quota: FlavorResource) -> str:
        while (name, quota) in leader:
            name = leader[(name, quota)]
        return name

    for loan in loans:
        lender = lender_field(loan)
        if lender is not None:
            one = find(tree(lender), lender.flavor_resource)
            other = find(tree(borrower_field(loan)), lender.flavor_resource)
            if one != other:
                leader[(one, lender.flavor_resource)] = other

    def group_of(key: FieldKey) -> object:
        if key.name is FieldName.BORROWING_LIMIT:
            return key
        return find(tree(key), key.flavor_resource), key.flavor_resource

    return group_of
