"""`return`: give quota back before its end, all of a loan or a part."""

from bot.chat.desk import Arrived
from bot.core.errors import Refused
from bot.core.messages import Message
from bot.core.wording.small_commands import ReturnWords
from bot.flows.look_up import loan_of, own_loans
from bot.flows.return_loan import return_loan
from bot.views.answers.done import confirm_return, loan_returned
from bot.views.answers.help import CommandHelp
from bot.views.kit import line
from bot.views.refusals import which_loan
from bot.views.request_card import return_button

HELP = CommandHelp(
    name="return",
    group="Ask",
    summary="Give quota back before its end.",
    syntax="return [Q] [N]",
    examples=("return Q-142", "return Q-142 4"),
)


def run(arrived: Arrived, said: ReturnWords) -> Message:
    """Raises Refused."""
    number = said.request
    if number is None:
        loans = own_loans(arrived.world, arrived.user)
        if not loans:
            raise Refused("You have no loan to return.")
        if len(loans) > 1:
            return which_loan(loans, line("Which one goes back?"), return_button)
        number = loans[0].id
    if said.amount is None:
        # All of it is a lot for one line that was typed in a hurry: the button asks how many.
        return confirm_return(loan_of(arrived.world, number))
    left, given = return_loan(arrived.world, number, said.amount, arrived.user, arrived.origin)
    return loan_returned(left, given)
