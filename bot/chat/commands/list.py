"""`list`: requests and loans in one table."""

from bot.chat.desk import Arrived
from bot.core.messages import Message
from bot.core.wording.small_commands import ListWords
from bot.flows.look_up import list_facts
from bot.views.answers.help import CommandHelp
from bot.views.answers.requests_list import requests_list

HELP = CommandHelp(
    name="list",
    group="Look",
    summary="Requests and loans: yours, your team's, those that wait.",
    syntax="list [mine | team | waiting | all] [closed]",
    examples=("list", "list waiting"),
)


def run(arrived: Arrived, said: ListWords) -> Message:
    """Raises Refused."""
    return requests_list(list_facts(arrived.world, arrived.user, said.scope, closed=said.closed))
