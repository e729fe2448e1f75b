"""`accept`: the requester, or a lead of the team, takes the change that an approver offers."""

from bot.chat.desk import Arrived
from bot.core.errors import Refused
from bot.core.messages import Message
from bot.core.offers import OfferState
from bot.core.wording.accept_words import AcceptWords
from bot.flows.answer_offer import OfferPress, accept_offer
from bot.views.answers.help import CommandHelp
from bot.views.said import said as answered

HELP = CommandHelp(
    name="accept",
    group="Ask",
    summary="Accept the change that an approver offers, also for your team (leads).",
    syntax="accept Q",
    examples=("accept Q-142",),
)


def run(arrived: Arrived, said: AcceptWords) -> Message:
    """Raises Refused."""
    if said.request is None:
        raise Refused("Say which one, like: accept Q-142")
    with arrived.world.store.read() as uow:
        offers = uow.offers.of(said.request)
    if not offers:
        raise Refused(f"Nobody offers a change of Q-{said.request}.")
    meant = next((one for one in offers if one.state is OfferState.OPEN), offers[-1])
    return answered(accept_offer(arrived.world, OfferPress(meant.id, arrived.user, arrived.origin)))
