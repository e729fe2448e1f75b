"""`explain`: which rule decides a request, and why; of one that was made, or of one that nobody has made."""

from bot.chat.commands.request import draft_of
from bot.chat.desk import Arrived
from bot.core.errors import Refused
from bot.core.messages import Message
from bot.core.wording.explain_words import ExplainWords
from bot.flows.explain_request import explain_draft, explain_number
from bot.views.answers.explain import explained, what_if
from bot.views.answers.help import CommandHelp

HELP = CommandHelp(
    name="explain",
    group="Look",
    summary="Which rule decides a request, and why; who may approve, what is missing.",
    syntax="explain Q | request ...",
    examples=("explain Q-142", "explain request 8 a100 for 3d"),
)


def run(arrived: Arrived, said: ExplainWords) -> Message:
    """Raises Refused."""
    if said.request is not None:
        return explained(explain_number(arrived.world, said.request, arrived.user))
    if said.what is None:
        raise Refused("Say which one, like: explain Q-142, or: explain request 8 a100 for 3d")
    return what_if(explain_draft(arrived.world, draft_of(arrived.user, said.what)))
