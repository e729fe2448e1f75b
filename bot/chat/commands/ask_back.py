"""`ask-back`: the lender's lead asks for a loan back before its end."""

from bot.chat.desk import Arrived
from bot.core.errors import Refused
from bot.core.messages import Message
from bot.core.wording.ask_back_words import AskBackWords
from bot.flows.ask_back import ask_back
from bot.views.answers.help import CommandHelp
from bot.views.ask_back import asked

HELP = CommandHelp(
    name="ask-back",
    group="Ask",
    summary="Ask a borrower to give back what your team lends (leads).",
    syntax="ask-back Q [because WORDS]",
    examples=("ask-back Q-142 because our own deadline", "ask-back Q-142"),
)


def run(arrived: Arrived, said: AskBackWords) -> Message:
    """Raises Refused."""
    if said.request is None:
        raise Refused("Say which one, like: ask-back Q-142 because our own deadline")
    done = ask_back(arrived.world, said.request, said.reason or "", arrived.user, arrived.origin)
    return asked(done.loan, done.request)
