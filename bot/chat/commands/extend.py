"""`extend`: ask that a loan ends later, by so much or until then."""

from bot.chat.desk import Arrived
from bot.core.errors import Refused
from bot.core.messages import Message
from bot.core.requests import RequestState
from bot.core.wording.extend_words import ExtendWords
from bot.flows.extend_loan import MoreTime, extend_loan, loan_to_extend
from bot.flows.look_up import own_loans
from bot.views.answers.done import ask_how_long, extension_sent, request_sent
from bot.views.answers.help import CommandHelp
from bot.views.kit import line
from bot.views.refusals import which_loan
from bot.views.request_card import extend_button

HELP = CommandHelp(
    name="extend",
    group="Ask",
    summary="Ask that a loan ends later.",
    syntax="extend [Q] by DUR | until WHEN [because WORDS]",
    examples=("extend Q-142 by 2d", "extend until fri 18:00 because last ablation runs", "extend"),
)


def run(arrived: Arrived, said: ExtendWords) -> Message:
    """Raises Refused."""
    number = said.request
    if number is None:
        loans = own_loans(arrived.world, arrived.user)
        if not loans:
            raise Refused("You have no loan to extend.")
        if len(loans) > 1:
            return which_loan(loans, line("Which one ends later?"), extend_button)
        number = loans[0].id
    if said.by is None and said.until is None:
        return ask_how_long(loan_to_extend(arrived.world, number))
    until = said.until.at if said.until else None
    wish = MoreTime(number, said.by, until, said.reason or "")
    request = extend_loan(arrived.world, wish, arrived.user, arrived.origin, arrived.origin).request
    if request.state is RequestState.DENIED:
        raise Refused(f"Denied: {request.words}")
    channel = arrived.world.policies.policy.approvals.approvals_channel
    waits = request.state is RequestState.WAITING
    if request.extends is None:  # its loan is over, and its work is to be evicted
        return request_sent(request, channel if waits else None, said.until.notes if said.until else ())
    return extension_sent(request, channel if waits else None, said.until.notes if said.until else ())
