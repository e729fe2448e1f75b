"""`status`: how the asker's teams stand, what they asked for and what they have on loan."""

from bot.chat.desk import Arrived
from bot.core.messages import Message
from bot.core.wording.small_commands import StatusWords
from bot.flows.look_up import status_facts
from bot.views.answers.help import CommandHelp
from bot.views.answers.status import status

HELP = CommandHelp(
    name="status",
    group="Look",
    summary="Your teams: what is in use, what waits, what is on loan.",
    syntax="status [TEAM]",
    examples=("status", "status vision"),
)


def run(arrived: Arrived, said: StatusWords) -> Message:
    """Raises Refused."""
    return status(status_facts(arrived.world, arrived.user, said.team))
