"""`prolong`: the lender's lead, or an admin, gives announced work more time before it is evicted."""

from bot.chat.desk import Arrived
from bot.core.errors import Refused
from bot.core.messages import Message
from bot.core.wording.prolong_words import ProlongWords
from bot.flows.prolong_grace import prolong_grace
from bot.views.answers.help import CommandHelp
from bot.views.evictions import prolonged

HELP = CommandHelp(
    name="prolong",
    group="Ask",
    summary="Give announced work its grace once more before it is evicted (lender's leads, admins).",
    syntax="prolong Q",
    examples=("prolong Q-142",),
)


def run(arrived: Arrived, said: ProlongWords) -> Message:
    """Raises Refused."""
    if said.request is None:
        raise Refused("Say which one, like: prolong Q-142")
    return prolonged(prolong_grace(arrived.world, said.request, arrived.user, arrived.origin))
