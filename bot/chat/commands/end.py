"""`end`: an admin ends somebody's loan before its time."""

from bot.chat.desk import Arrived
from bot.core.errors import Refused
from bot.core.messages import Message
from bot.core.wording.end_words import EndWords
from bot.flows.end_loan import end_loan
from bot.flows.stop_series import end_series, repeats
from bot.views.answers.done import loan_ended
from bot.views.answers.help import CommandHelp
from bot.views.said import said as answered

HELP = CommandHelp(
    name="end",
    group="Admin",
    summary="End somebody's loan before its time (admins).",
    syntax="end Q [because WORDS]",
    examples=("end Q-142 because maintenance", "end Q-142"),
)


def run(arrived: Arrived, said: EndWords) -> Message:
    """Raises Refused."""
    if said.request is None:
        raise Refused("Say which one, like: end Q-142 because maintenance")
    if repeats(arrived.world, said.request):
        return answered(end_series(arrived.world, said.request, said.reason or "", arrived.user, arrived.origin))
    return loan_ended(end_loan(arrived.world, said.request, said.reason or "", arrived.user, arrived.origin))
