"""How far each field may go now toward its goal (design: convergence, section 3.D).

A step is taken per leg, not per number. Falling legs (lender gives, borrower returns) go all the way. A rising leg
leans on the other side: it goes as far as that has landed, and only if no patch under way can change it there behind
our back (it is firm). Called by the planner.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.core.convergence.facts import FieldKey
from bot.core.convergence.goals import Goals, LoanGoal
from bot.core.convergence.legs import without_zeros
from bot.core.convergence.observe import Look


@dataclass(frozen=True, slots=True)
class Step:
    """One free field's next legs and number."""

    look: Look
    legs: Mapping[str, int]
    number: int
    not_firm: frozenset[FieldKey] = frozenset()
    """Fields on the other side that must be fenced before this one may go further."""

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
    legs: dict[str, int] = {}
    not_firm: set[FieldKey] = set()
    for leg in sorted({*now, *goal}):
        legs[leg], other = _step_of_leg(look, goals.loans.get(leg), now.get(leg, 0), goal.get(leg, 0))
        if other is not None:
            not_firm.add(other)
    number = base + sum(legs.values())
    if number >= 0:
        return Step(look, without_zeros(legs), number, frozenset(not_firm))
    return _step_of_a_loop(look, base, goal, frozenset(not_firm))


def _step_of_leg(look: Look, goal: LoanGoal | None, now: int, target: int) -> tuple[int, FieldKey | None]:
    """The leg's next size and, if it must wait for that, the field that is not firm."""
    if target <= now or goal is None:
        return target, None
    is_borrower = look.key == goal.borrower.key
    other = goal.lender if is_borrower else goal.borrower
    if other is None:
        return target, None
    landed = goal.given_now if is_borrower else -goal.received_now
    reach = max(now, min(target, landed))
    if reach > now and not is_firm(other, goal.leg):
        return now, other.key
    return reach, None


def _step_of_a_loop(look: Look, base: int, goal: Mapping[str, int], not_firm: frozenset[FieldKey]) -> Step:
    """Going leg by leg would lead below 0: all legs at once, but only if that does not raise the number.

    So it is for loans in a circle none of whose queues has the quota, and for a queue that passes on what it receives.
    """
    number = base + sum(goal.values())
    assert look.live is not None
    if not_firm or not 0 <= number <= look.live:
        return Step(look, dict(look.record.legs), look.live, not_firm)
    return Step(look, without_zeros(goal), number)
