"""Names the work that runs on above quota when a loan is over. Called by flows/tell_loans."""

from dataclasses import replace

from bot.core.impact import AtRisk, reclaim_order
from bot.core.kueue import FlavorResource
from bot.core.loans import Loan
from bot.core.standing import LoanStanding
from bot.flows.read_cluster import NotRead, read_work
from bot.flows.world import World


def with_work_above(world: World, loan: Loan, standing: LoanStanding) -> LoanStanding:
    """The standing with the workloads that likely hold what is above quota; without if the cluster does not say."""
    if not standing.above:
        return standing
    workloads = read_work(world, loan.cluster, [loan.borrower])
    if isinstance(workloads, NotRead):
        return standing
    likely: list[AtRisk] = []
    for one in reclaim_order(workloads, loan.borrower, FlavorResource(loan.flavor, loan.resource)):
        if sum(known.amount for known in likely) >= standing.above:
            break
        likely.append(one)
    return replace(standing, above_workloads=tuple(likely))
