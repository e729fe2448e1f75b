"""How far each loan has come in the live numbers, and what it waits for. Derived from a plan, never stored.

Called by the planner; flows/loan_standing puts it in words.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from bot.core.convergence.beside import RoomBeside, room_beside
from bot.core.convergence.findings import Finding, FindingKind
from bot.core.convergence.goals import Goals, LoanGoal
from bot.core.convergence.legs import Sides
from bot.core.convergence.observe import Look, Meaning
from bot.core.convergence.order import Ordered
from bot.core.convergence.wants import wanted
from bot.core.loans import Loan


@dataclass(frozen=True, slots=True)
class LoanFigures:
    """One loan that has started and is not closed. Devices."""

    wanted: int
    """0 once it is to be given back, and while it is suspended."""
    raised: int
    """In the borrower's live number."""
    lowered: int
    """Out of the lender's live number; 0 without lender."""
    short_by: int = 0
    """Wanted and not to be had, because a lender has not that much or its number is in question."""
    waits_for: str | None = None
    """Queue that must move, or be explained, before this loan may."""
    in_question: tuple[str, ...] = ()
    """Queues whose number nobody has explained."""
    unwritable: tuple[tuple[str, str], ...] = ()
    """(queue, why)."""
    suspended: str | None = None
    proposed: tuple[str, ...] = ()
    """Queues whose change for this loan is proposed and not made yet."""
    held_back: int = 0
    """What it would want besides, were quota changes not paused."""
    beside: RoomBeside | None = None
    """The ResourceQuota of the borrower's team; None if it has none."""


def figures(goal: LoanGoal, loan: Loan, ordered: Ordered) -> LoanFigures:
    """The figures of one loan after its goals are set and its steps are in order."""
    sides = [goal.borrower] if goal.lender is None else [goal.lender, goal.borrower]
    blockers = (ordered.waiting.get(side.key) for side in sides)
    return LoanFigures(
        wanted=goal.wanted,
        raised=goal.received_now,
        lowered=goal.given_now,
        short_by=goal.short_by,
        waits_for=goal.waits_for or next((queue for queue in blockers if queue is not None), None),
        in_question=tuple(side.key.queue for side in sides if side.meaning is Meaning.QUESTION),
        unwritable=tuple((side.key.queue, side.unwritable) for side in sides if side.unwritable is not None),
        suspended=loan.suspended,
        proposed=tuple(side.key.queue for side in sides if _is_proposed(side, goal.leg)),
        held_back=wanted(loan) - goal.wanted,
        beside=room_beside(goal),
    )


def _is_proposed(side: Look, leg: str) -> bool:
    return side.proposed is not None and side.proposed.after.legs.get(leg, 0) != side.embodied.get(leg, 0)


class FiguresByLoan(Mapping[int, LoanFigures]):
    """Figures by loan id, each made when it is asked for: most loans are at rest and nobody asks."""

    def __init__(self, active: Mapping[int, Sides], goals: Goals, ordered: Ordered) -> None:
        self._active, self._goals, self._ordered = active, goals, ordered

    def __getitem__(self, loan_id: int) -> LoanFigures:
        sides = self._active[loan_id]
        return figures(self._goals.loans[sides.leg], sides.loan, self._ordered)

    def __iter__(self) -> Iterator[int]:
        return iter(self._active)

    def __len__(self) -> int:
        return len(self._active)

    def unsettled(self) -> Iterator[tuple[Loan, LoanFigures]]:
        """Loans that are short of what they want, or wait for somebody."""
        for loan_id, sides in self._active.items():
            goal = self._goals.loans[sides.leg]
            if goal.short_by or goal.given_now > goal.wanted:
                yield sides.loan, self[loan_id]


def loan_findings(loans: Sequence[Loan], before: Sequence[Loan], by_loan: FiguresByLoan) -> Iterator[Finding]:
    """What is to be said about loans: suspended now, short, waiting for an answer elsewhere.

    `loans` are the ones of `before` as they are now, in that order, and then those that were found.
    """
    for loan, known in zip_longest(loans, before):
        if loan.suspended is not None and (known is None or known.suspended is None):
            yield _about(FindingKind.SUSPENDED, loan, loan.borrower, loan.suspended)
    for loan, now in by_loan.unsettled():
        known = not now.in_question and not now.unwritable  # else it is not for want of quota
        if now.short_by and known and loan.lender is not None:
            words = f"{now.wanted - now.short_by} of {now.wanted}"
            yield _about(FindingKind.SHORT, loan, loan.lender, words)
        if now.waits_for is not None and now.wanted < now.lowered:
            yield _about(FindingKind.WAITS, loan, now.waits_for, f"{now.lowered} to come back")


def _about(kind: FindingKind, loan: Loan, queue: str, words: str) -> Finding:
    return Finding(kind, f"{kind}:{loan.cluster}:{loan.leg_id}:{queue}:{words}", queue, loan=loan.id, words=words)
