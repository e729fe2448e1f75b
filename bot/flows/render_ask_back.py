"""The messages about a loan that was asked back, as they are at their delivery. Called by flows/render_notices."""

from bot.core.messages import Message
from bot.core.notices import Notice
from bot.flows.deliver_notices import NotSaid
from bot.flows.gather import person_or_id
from bot.flows.world import World
from bot.views.ask_back import AskedBack, answered, asked_back
from bot.views.kinds import NoticeKind


def render_ask_back(world: World, notice: Notice) -> Message:
    """Raises NotSaid for a new message about a loan that is over."""
    with world.store.read() as uow:
        ask = uow.ask_backs.get(notice.draft.facts["ask_back"])
        loan = uow.loans.get(ask.loan) if ask is not None else None
    if ask is None or loan is None:
        raise NotSaid("there is no such loan")
    by = person_or_id(world, ask.who)
    settled = person_or_id(world, ask.settled_by) if ask.settled_by else None
    facts = AskedBack(ask, loan, by, settled, world.policies.policy.approvals.admins)
    if notice.draft.kind == NoticeKind.ASK_BACK_ANSWERED:
        return answered(facts)
    if notice.shown == 0 and loan.ended_at is not None:
        raise NotSaid("the loan is over")
    return asked_back(facts)
