"""Names the work that runs on above quota: when a loan is over, and before its end. Called by flows/tell_loans and
flows/remind_loans.
"""

from dataclasses import replace

from bot.core.impact import AtRisk, reclaim_order
from bot.core.kueue import FlavorResource, QueueSnapshot
from bot.core.loans import Loan, LoanKind
from bot.core.standing import LoanStanding
from bot.flows.read_cluster import NotRead, read_work
from bot.flows.world import World


def with_work_above(world: World, loan: Loan, standing: LoanStanding) -> LoanStanding:
    """The standing with the workloads that likely hold what is above quota; without if the cluster does not say."""
    return replace(standing, above_workloads=likely_work(world, loan, standing.above)) if standing.above else standing


def above_base(loan: Loan, queue: QueueSnapshot) -> int:
    """Devices in use above what the borrower may use without this loan, which is in force."""
    entry = FlavorResource(loan.flavor, loan.resource)
    quota = queue.quotas.get(entry)
    if quota is None:
        return 0
    limit = quota.borrowing_limit or 0 if loan.kind is LoanKind.BORROW else 0
    return max(0, queue.reserved.get(entry, 0) - (quota.nominal + limit - loan.amount))


def likely_work(world: World, loan: Loan, above: int) -> tuple[AtRisk, ...]:
    """The workloads of the borrower that likely hold so many devices; none if the cluster does not say."""
    workloads = read_work(world, loan.cluster, [loan.borrower])
    if isinstance(workloads, NotRead):
        return ()
    likely: list[AtRisk] = []
    for one in reclaim_order(workloads, loan.borrower, FlavorResource(loan.flavor, loan.resource)):
        if sum(known.amount for known in likely) >= above:
            break
        likely.append(one)
    return tuple(likely)
