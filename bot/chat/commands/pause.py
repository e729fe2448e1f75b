"""`pause`: an admin stops quota changes."""

from bot.chat.desk import Arrived
from bot.core.messages import Message
from bot.core.wording.pause_words import PauseWords
from bot.flows.pause_quota import pause_quota
from bot.views.answers.help import CommandHelp
from bot.views.pause import paused

HELP = CommandHelp(
    name="pause",
    group="Admin",
    summary="Stop quota changes: nothing is raised, returns go on (admins).",
    syntax="pause [because WORDS]",
    examples=("pause because maintenance", "pause"),
)


def run(arrived: Arrived, said: PauseWords) -> Message:
    """Raises Refused."""
    return paused(pause_quota(arrived.world, said.reason or "", arrived.user, arrived.origin))
