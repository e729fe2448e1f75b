"""The line that is honest about a message which may stand in the channel already. Used by flows/deliver_notices."""

from dataclasses import replace

from bot.core.messages import Message

_WORDS = "This may be a repeat: the first try's answer was lost."


def as_a_repeat(message: Message) -> Message:
    """The same message with a last line that says so."""
    line = {"type": "context", "elements": [{"type": "plain_text", "text": _WORDS, "emoji": False}]}
    return replace(message, blocks=(*message.blocks, line))
