"""The times of a series as they are stored: which one is meant, which is next, and whose cards speak of it.

Read by the flows that act on loans by number, by the cards and by the look-ups.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.loans import Loan, LoanState
from bot.core.requests import QuotaRequest
from bot.flows.world import World
from bot.ports.store import UnitOfWork

BEGUN = frozenset({LoanState.SCHEDULED, LoanState.RUNNING})


@dataclass(frozen=True, slots=True)
class Times:
    """All times of one series that was approved, in order."""

    request: QuotaRequest
    loans: tuple[Loan, ...]

    @property
    def left(self) -> tuple[Loan, ...]:
        """Those that run or are to come."""
        return tuple(loan for loan in self.loans if loan.state in BEGUN)

    @property
    def shown(self) -> Loan | None:
        """The one that people look at: what runs or comes next, else what was last on loan; None if there is none."""
        if self.left:
            return self.left[0]
        held = [loan for loan in self.loans if loan.in_force_at is not None]
        return (held or [*self.loans])[-1] if self.loans else None

    def place(self, loan: Loan) -> int:
        """Which of them it is, from 1."""
        return self.loans.index(loan) + 1


def times_of(uow: UnitOfWork, request: QuotaRequest) -> Times:
    """Of a request that repeats; without loans before it is approved."""
    loans = [loan for one in uow.requests.times_of(request.id) if (loan := uow.loans.get(one.id)) is not None]
    return Times(request, tuple(sorted(loans, key=lambda loan: (loan.start, loan.id))))


def loan_meant(world: World, number: int) -> int:
    """The loan that a number means: of a series the time that runs or comes next."""
    with world.store.read() as uow:
        return _meant(uow, number)


def _meant(uow: UnitOfWork, number: int) -> int:
    request = uow.requests.get(number)
    if request is None or request.ask.series is None:
        return number
    shown = times_of(uow, request).shown
    return shown.id if shown else number


def following(uow: UnitOfWork, loan: Loan) -> Loan | None:
    """The next time of the same series; None if there is none, or it is no time of one."""
    request = uow.requests.get(loan.id)
    series = uow.requests.get(request.series) if request is not None and request.series is not None else None
    if series is None:
        return None
    later: Sequence[Loan] = [one for one in times_of(uow, series).left if one.start >= loan.end and one.id != loan.id]
    return later[0] if later else None


def without_later_times(uow: UnitOfWork, loans: Sequence[Loan]) -> list[Loan]:
    """The same, of each series only what has begun and else the next one."""
    kept: list[Loan] = []
    known: set[int] = set()
    for loan in sorted(loans, key=lambda loan: (loan.start, loan.id)):
        request = uow.requests.get(loan.id)
        series = request.series if request is not None else None
        if series is None or series not in known or loan.state is not LoanState.SCHEDULED:
            kept.append(loan)
        if series is not None:
            known.add(series)
    return sorted(kept, key=lambda loan: loan.id)
