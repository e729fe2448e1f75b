"""`resume`: an admin lets quota changes go on."""

from bot.chat.desk import Arrived
from bot.core.messages import Message
from bot.core.wording.pause_words import ResumeWords
from bot.flows.pause_quota import resume_quota
from bot.views.answers.help import CommandHelp
from bot.views.pause import resumed

HELP = CommandHelp(
    name="resume",
    group="Admin",
    summary="Let quota changes go on after a pause (admins).",
    syntax="resume",
    examples=("resume",),
)


def run(arrived: Arrived, _said: ResumeWords) -> Message:
    """Raises Refused."""
    return resumed(resume_quota(arrived.world, arrived.user, arrived.origin))
