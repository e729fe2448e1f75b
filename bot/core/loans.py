"""What an approved request becomes: a loan, and the states it passes (design: convergence, section 2).

Written by the flows that approve, return and end; read by convergence, views and the commands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class LoanKind(StrEnum):
    """How a loan changes quota."""

    BORROW = "borrow"
    """Raises the borrower's borrowingLimit: best effort, Kueue may reclaim it."""
    TRANSFER = "transfer"
    """Moves nominalQuota from a named lender: guaranteed."""
    EXTRA = "extra"
    """Raises the borrower's nominalQuota alone, for spare or new nodes."""


class LoanState(StrEnum):
    """What is stored. What people are told comes from the legs that are in the live numbers, never from this."""

    SCHEDULED = "scheduled"
    RUNNING = "running"
    RETURNING = "returning"
    CLOSED = "closed"


class LoanEnd(StrEnum):
    """Why a loan stopped wanting its amount."""

    ENDED = "ended"
    RETURNED = "returned"
    ENDED_BY_ADMIN = "ended by admin"


@dataclass(frozen=True, slots=True)
class Loan:
    """One loan. `id` is the number of its request; older loans have smaller ids."""

    id: int
    cluster: str
    kind: LoanKind
    lender: str | None
    """ClusterQueue that gives; None unless the kind is transfer."""
    borrower: str
    flavor: str
    resource: str
    amount: int
    start: datetime
    end: datetime
    state: LoanState = LoanState.SCHEDULED
    suspended: str | None = None
    """Why it wants nothing although it runs. It stays so: whoever needs the quota still asks again."""
    end_reason: LoanEnd | None = None
    ended_at: datetime | None = None
    """When it stopped wanting its amount: `end`, or earlier if returned."""
    in_force_at: datetime | None = None
    """When Kueue's controller was first seen to have the whole amount; None before."""
    version: int = 0
    """For compare-and-set of the row."""

    @property
    def leg_id(self) -> str:
        """Name of this loan in legs and annotations."""
        return f"L{self.id}"


def at_once(loans: Sequence[Loan]) -> int:
    """The most that these move at one moment: the times of a series never meet."""
    return max((sum(other.amount for other in loans if _meets(other, loan)) for loan in loans), default=0)


def _meets(other: Loan, loan: Loan) -> bool:
    """Whether one is on loan when the other begins. What is not back yet may be out for as long as it likes."""
    return other.start <= loan.start and (loan.start < other.end or other.state is LoanState.RETURNING)
