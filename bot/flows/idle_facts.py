"""What the message about an idle loan says at its delivery. Called by flows/render_notices."""

from bot.core.idle_loans import IdleState
from bot.core.loans import LoanState
from bot.core.notices import Notice
from bot.flows.card_facts import unit_of
from bot.flows.deliver_notices import NotSaid
from bot.flows.gather import person_or_id
from bot.flows.world import World
from bot.views.idle_loan import IdleFacts


def idle_facts(world: World, notice: Notice) -> IdleFacts:
    """Raises NotSaid for a question that came to nobody and is none any more."""
    facts = notice.draft.facts
    with world.store.read() as uow:
        offer = uow.idle_offers.get(facts["offer"])
        loan = uow.loans.get(offer.loan) if offer else None
    if offer is None or loan is None:
        raise NotSaid("there is no such question")
    stands = loan.state is LoanState.RUNNING and loan.amount == offer.of and offer.state is IdleState.OPEN
    if not notice.shown and not stands:
        raise NotSaid("the loan is another one by now")
    policy = world.policies.policy
    waiting = facts.get("waiting")
    return IdleFacts(
        offer,
        loan,
        policy.approvals.idle_loans.again_after,
        (waiting[0], waiting[1]) if waiting else None,
        person_or_id(world, offer.settled_by) if offer.settled_by else None,
        unit_of(policy, loan.cluster, loan.resource),
    )
