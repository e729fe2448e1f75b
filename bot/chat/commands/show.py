"""`show`: one queue's quota, who uses, lends and borrows what, and how much it can really get."""

from bot.chat.desk import Arrived
from bot.core.messages import Message
from bot.core.wording.small_commands import ShowWords
from bot.flows.show_queue import show_facts
from bot.views.answers.help import CommandHelp
from bot.views.answers.show import show

HELP = CommandHelp(
    name="show",
    group="Look",
    summary="One queue: its quota, who uses, lends and borrows what, how much it can really get.",
    syntax="show [QUEUE] [FLAVOR]",
    examples=("show vision", "show vision a100"),
)


def run(arrived: Arrived, said: ShowWords) -> Message:
    """Raises Refused."""
    return show(show_facts(arrived.world, arrived.user, said.queue, said.flavor or said.resource))
