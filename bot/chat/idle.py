"""Presses under the message about a loan that lies idle. Called by chat/directory."""

from bot.chat.buttons import number_of
from bot.chat.desk import Arrived
from bot.core.messages import Message
from bot.flows.answer_idle import IdlePress, keep_idle, return_idle
from bot.views.answers.done import loan_kept, loan_returned
from bot.views.ids import picture_of


def on_return(arrived: Arrived) -> Message:
    """Confirmed by Slack's dialog already."""
    return loan_returned(*return_idle(arrived.world, _press(arrived)))


def on_keep(arrived: Arrived) -> Message:
    """Nothing goes back, and nobody asks again for a while."""
    rules = arrived.world.policies.policy.approvals.idle_loans
    return loan_kept(keep_idle(arrived.world, _press(arrived)), rules.again_after)


def _press(arrived: Arrived) -> IdlePress:
    picture = picture_of(arrived.get("block_id"))
    return IdlePress(number_of(arrived), picture.revision if picture else -1, arrived.user, arrived.origin)
