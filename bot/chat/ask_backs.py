"""The buttons of a loan that its lender asks back: Ask back, and Keep. Called by chat/directory."""

from bot.chat.buttons import number_of
from bot.chat.desk import Arrived
from bot.core.messages import Message
from bot.flows.answer_ask_back import keep_loan
from bot.flows.ask_back import ask_back
from bot.views.ask_back import asked, kept


def on_ask_back(arrived: Arrived) -> Message:
    """Confirmed by Slack's dialog already. Who wants to say why types it."""
    done = ask_back(arrived.world, number_of(arrived), "", arrived.user, arrived.origin)
    return asked(done.loan, done.request)


def on_keep(arrived: Arrived) -> Message:
    """The borrower keeps it."""
    return kept(keep_loan(arrived.world, number_of(arrived), arrived.user, arrived.origin))
