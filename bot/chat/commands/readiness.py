"""`readiness`: which work would be lost if its GPUs were taken back."""

from bot.chat.desk import Arrived
from bot.core.messages import Message
from bot.core.wording.readiness_words import ReadinessWords
from bot.flows.check_readiness import readiness_for
from bot.views.answers.help import CommandHelp
from bot.views.answers.readiness import readiness_answer

HELP = CommandHelp(
    name="readiness",
    group="Look",
    summary="Work that would be lost if its GPUs were taken back, and what mends that.",
    syntax="readiness [NAMESPACE]",
    examples=("readiness", "readiness vision-train"),
)


def run(arrived: Arrived, said: ReadinessWords) -> Message:
    """Raises Refused."""
    checked = readiness_for(arrived.world, arrived.user, said.namespace)
    return readiness_answer(checked.readiness, checked.where)
