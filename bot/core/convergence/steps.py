"""How far each field may go now toward its goal (design: convergence, section 3.D).

A step is taken per leg, not per number. Falling legs (lender gives, borrower returns) go all the way. A rising leg
leans on the other side: it goes as far as that has landed, and only if no patch under way can change it there behind
our back (it is firm). What a borrower receives leans on the ResourceQuota beside it too, as long as that may be
written: one that may not is told of and waited for by nobody. Called by the planner.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.core.convergence.facts import FieldKey
from bot.core.convergence.goals import Goals, LoanGoal
from bot.core.convergence.legs import age, without_zeros
from bot.core.convergence.observe import Look


@dataclass(frozen=True, slots=True)
class Step:
    """One free field's next legs and number."""

    look: Look
    legs: Mapping[str, int]
    number: int
    not_firm: frozenset[FieldKey] = frozenset()
    """Fields on the other side that must be fenced before this one may go further."""
    at_once: bool = False
    """It takes legs that lean on nothing (loans in a circle): only when nobody else can go first."""

    @property
    def legs_change(self) -> bool:
        """Whether anything of ours in the number changes, even if the number does not."""
        return self.legs != self.look.record.legs


def is_firm(look: Look, leg: str) -> bool:
    """Whether no patch under way would raise this leg above what the field is known to hold."""
    return all(part.legs.get(leg, 0) <= look.embodied.get(leg, 0) for part in look.alive)


def step_of(look: Look, goals: Goals) -> Step:
    """The step of a free field; its legs as they are if nothing may move."""
    base, now = look.record.base, look.record.legs
    assert base is not None
    goal = goals.legs.get(look.key, {})
    if goal == now and base + sum(now.values()) == look.live:
        return Step(look, now, look.live)
    legs: dict[str, int] = {}
    not_firm: set[FieldKey] = set()
    for leg in sorted({*now, *goal}, key=age):
        legs[leg], other = _step_of_leg(look, goals.loans.get(leg), now.get(leg, 0), goal.get(leg, 0))
        if other is not None:
            not_firm.add(other)
    below = -base - sum(legs.values())
    if below > 0:
        legs = _fall_less(legs, now, below)
    if below > 0 and without_zeros(legs) == now:
        return _step_of_a_circle(look, base, goal, goals)
    return Step(look, without_zeros(legs), base + sum(legs.values()), frozenset(not_firm))


def _step_of_leg(look: Look, goal: LoanGoal | None, now: int, target: int) -> tuple[int, FieldKey | None]:
    """The leg's next size and, if it must wait for that, the field that is not firm."""
    if goal is not None and goal.beside is not None and look.key == goal.beside.key:
        return _step_beside(goal, now, target)
    if target <= now or goal is None:
        return target, None
    target = max(now, min(target, _room(look, goal, target)))
    other, landed = _other_side(look, goal)
    if other is None:
        return target, None
    reach = max(now, min(target, landed))
    if reach > now and not is_firm(other, goal.leg):
        return now, other.key
    return reach, None


def _room(look: Look, goal: LoanGoal, target: int) -> int:
    """How much of `target` the ResourceQuota beside this field has room for; all, if there is none to wait for."""
    if look.key != goal.borrower.key or goal.beside is None or goal.beside.frozen:
        return target
    return goal.beside.embodied.get(goal.leg, 0)


def _step_beside(goal: LoanGoal, now: int, target: int) -> tuple[int, FieldKey | None]:
    """A ResourceQuota rises at once; it falls when no patch under way would raise the borrower after it."""
    if target < now and not is_firm(goal.borrower, goal.leg):
        return now, goal.borrower.key
    return target, None


def _other_side(look: Look, goal: LoanGoal) -> tuple[Look | None, int]:
    """The other field of the loan, and how far this field's leg may rise by what has landed there (signed)."""
    if look.key == goal.borrower.key:
        return goal.lender, goal.given_now
    return goal.borrower, -goal.received_now


def _fall_less(legs: Mapping[str, int], now: Mapping[str, int], below: int) -> dict[str, int]:
    """Some legs fall while others that would make up for it must wait: fall only so far that the number is 0.

    Lending less comes before returning less, the youngest loan first.
    """
    held = dict(legs)
    falling = [leg for leg in legs if legs[leg] < now.get(leg, 0)]
    for leg in sorted(falling, key=lambda leg: (legs[leg] >= 0, -age(leg))):
        back = min(below, now.get(leg, 0) - held[leg])
        held[leg] += back
        below -= back
    return held


def _step_of_a_circle(look: Look, base: int, goal: Mapping[str, int], goals: Goals) -> Step:
    """Nothing can move leg by leg (loans in a circle, none of whose queues has the quota): all legs at once.

    Only if that does not raise the number, and no patch under way would raise a leg that this one no longer covers.
    """
    number, now = base + sum(goal.values()), look.record.legs
    assert look.live is not None
    not_firm = set()
    for leg, size in {**dict.fromkeys(now, 0), **goal}.items():
        loan = goals.loans.get(leg)
        other = None if loan is None else _other_side(look, loan)[0]
        if size > now.get(leg, 0) and other is not None and not is_firm(other, leg):
            not_firm.add(other.key)
        if size > now.get(leg, 0) and loan is not None and _room(look, loan, size) < size:
            return Step(look, dict(now), look.live)
    if not_firm or not 0 <= number <= look.live:
        return Step(look, dict(now), look.live, frozenset(not_firm))
    return Step(look, without_zeros(goal), number, at_once=True)
