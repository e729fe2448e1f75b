"""`withdraw`: take back a request that is not in force yet."""

from bot.chat.desk import Arrived
from bot.core.errors import Refused
from bot.core.messages import Message
from bot.core.wording.small_commands import WithdrawWords
from bot.flows.look_up import requests_to_withdraw
from bot.flows.withdraw_request import meant_to_withdraw, withdraw_request
from bot.views.answers.done import request_withdrawn
from bot.views.answers.help import CommandHelp
from bot.views.refusals import which_request

HELP = CommandHelp(
    name="withdraw",
    group="Ask",
    summary="Take back a request before it is in force, an extension that waits, or the rest of a series.",
    syntax="withdraw [Q]",
    examples=("withdraw Q-142", "withdraw"),
)


def run(arrived: Arrived, said: WithdrawWords) -> Message:
    """Raises Refused."""
    number = said.request
    if number is None:
        requests = requests_to_withdraw(arrived.world, arrived.user)
        if not requests:
            raise Refused("You have no request to withdraw.")
        if len(requests) > 1:
            return which_request(requests)
        number = requests[0].id
    meant = meant_to_withdraw(arrived.world, number)
    return request_withdrawn(withdraw_request(arrived.world, meant, arrived.user, arrived.origin))
