"""How much of one loan is used at this moment. Asked before an unused part is offered for return, and when it is."""

from bot.core.kueue import ClusterPicture
from bot.core.loan_use import use_of_loans
from bot.core.loans import Loan
from bot.flows.gather import open_loans
from bot.flows.world import World


def live_use(world: World, loan: Loan, picture: ClusterPicture) -> int | None:
    """Devices of the loan. None if it is not in force, or its queue has a number that nobody has explained."""
    with world.store.read() as uow:
        loans, records = open_loans(uow, loan.cluster), uow.fields.records(loan.cluster)
    return use_of_loans(picture, loans, records).get(loan.id)
