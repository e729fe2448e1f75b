"""Last lines that are honest about a message: it may stand in the channel already, or it comes late.

Used by flows/deliver_notices.
"""

from dataclasses import replace
from datetime import datetime

from bot.core.messages import Message
from bot.views.kit import context
from bot.views.parts import Moment

_WORDS = "This may be a repeat: the first try's answer was lost."


def as_a_repeat(message: Message) -> Message:
    """The same message with a last line that says so."""
    line = {"type": "context", "elements": [{"type": "plain_text", "text": _WORDS, "emoji": False}]}
    return replace(message, blocks=(*message.blocks, line))


def as_late(message: Message, since: datetime) -> Message:
    """The same message with a last line that says since when it waited for Slack."""
    return replace(message, blocks=(*message.blocks, context("Sent late: it waited since ", Moment(since))))
