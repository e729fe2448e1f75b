"""A refusal that is more than a sentence: times in the reader's zone, a button for what to do instead.

Raised by flows, answered by chat/desk.
"""

from bot.core.errors import Refused
from bot.core.messages import Message


class RefusedWith(Refused):
    """`message` is shown; its `text` is the sentence for the audit and the log."""

    def __init__(self, message: Message) -> None:
        super().__init__(message.text)
        self.message = message
