"""The ResourceQuota beside a loan's queue: how far it has come, and what is to be said about it.

It is no condition of a loan: where it cannot be raised, the loan goes on and people are told that pods above it are
refused. Called by figures and by the planner.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bot.core.convergence.facts import FieldKey
from bot.core.convergence.findings import Finding, FindingKind, about_field
from bot.core.convergence.goals import LoanGoal
from bot.core.convergence.legs import age
from bot.core.convergence.observe import Look, Meaning
from bot.core.resource_quotas import counting_key, idle_keys


class RoomBeside(NamedTuple):
    """How far a ResourceQuota has come with a loan."""

    field: FieldKey
    raised: int
    """Devices of the loan in its live number."""
    blocked: str | None = None
    """Why it is not written: a clause, which may hold the API server's words; None if it is written."""
    in_question: bool = False


def room_beside(goal: LoanGoal) -> RoomBeside | None:
    """None if nothing stands beside the loan's queue."""
    look = goal.beside
    if look is None:
        return None
    blocked = f"it {_missing(look)}" if look.meaning is Meaning.GONE else look.unwritable
    raised = max(0, look.embodied.get(goal.leg, 0))
    return RoomBeside(look.key, raised, blocked, look.meaning is Meaning.QUESTION)


def room_findings(goals: Iterable[LoanGoal]) -> Iterator[Finding]:
    """What is missing, and keys that count nothing: once for each ResourceQuota that a loan wants raised."""
    for look, goal in {goal.beside.key: (goal.beside, goal) for goal in goals if goal.beside and goal.wanted}.values():
        key, quota = look.key, look.view.queue
        uid = None if quota is None else quota.uid
        if look.meaning is Meaning.GONE:
            kind = FindingKind.NO_ROOM_BESIDE
            words = f"ResourceQuota {key.queue} {_missing(look)}"
            yield Finding(kind, about_field(kind, key, uid, None), key.queue, key, age(goal.leg), words=words)
        elif idle := _idle(look):
            kind = FindingKind.NO_EFFECT
            yield Finding(kind, about_field(kind, key, uid, None), key.queue, key, words=", ".join(idle))


def _missing(look: Look) -> str:
    """What of a ResourceQuota is not there."""
    if look.view.queue is None:
        return "is not there"
    idle = _idle(look)
    counts = f"; {' and '.join(idle)} {'count' if len(idle) > 1 else 'counts'} nothing" if idle else ""
    return f"has no {counting_key(look.key.resource)}{counts}"


def _idle(look: Look) -> list[str]:
    keys = () if look.view.queue is None else look.view.queue.no_effect
    return [key for key in idle_keys(look.key.resource) if key in keys]
