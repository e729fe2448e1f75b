"""What a loan means at this moment: who lends, what is free, whose work becomes preemptible.

Types first; `assess` computes an impact from a live picture, `worse` tells whether a later one is worse news. Used by
flows/submit_request (for the card) and flows/record_decision (again at the click).
"""

from dataclasses import dataclass
from datetime import datetime

from bot.core.loans import LoanKind


@dataclass(frozen=True, slots=True)
class Move:
    """A number of one queue before and after the loan. None: not set."""

    queue: str
    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True)
class AtRisk:
    """A running workload that Kueue may preempt once the loan is in force."""

    name: str
    amount: int


@dataclass(frozen=True, slots=True)
class Impact:
    """Figures of one proposed loan against one picture of the cluster. Devices are whole."""

    kind: LoanKind
    cluster: str
    flavor: str
    resource: str
    amount: int
    read_at: datetime
    cohort: str | None
    """Root of the cohort tree that the borrower is in; None if it is in none."""
    free: int
    """Free by quota in that tree at this moment, never below 0; without cohort: in the queue itself."""
    borrower: Move
    """Of borrowingLimit for a borrow, of nominalQuota else."""
    lender: Move | None = None
    lender_lending_limit: Move | None = None
    """Set if the lender's lendingLimit must follow."""
    borrower_lending_limit: Move | None = None
    cohort_nominal: int = 0
    """Sum of nominalQuota over the tree, before the loan."""
    lender_reserved: int = 0
    lender_waiting: int = 0
    """Devices that the lender's pending workloads ask for."""
    preemptible: int = 0
    """Devices of running work that come to lie above the lender's nominalQuota."""
    at_risk: tuple[AtRisk, ...] = ()
    """The workloads that hold them, in the order Kueue would take them; a guess ("likely")."""
    borrowed_is_reclaimable: bool = False
    """Whether any other queue of the tree may reclaim what is borrowed."""
    borrower_reclaims: bool = False
    """Whether the borrower may reclaim from others (reclaimWithinCohort is not Never)."""
    managed_by: tuple[tuple[str, str], ...] = ()
    """(queue, tool) for queues that a GitOps tool owns."""
    stopped: tuple[str, ...] = ()
    """Queues of the loan that admit nothing now."""
