"""One sentence of the bot's own as an answer to the one who acted. Used by chat."""

from bot.core.messages import Message
from bot.views.kit import line, rich
from bot.views.parts import Theirs, sentence

_SENTENCE = 600


def said(words: str) -> Message:
    """The words may name other people's things: they are text, never markup."""
    first = line(Theirs(words, _SENTENCE))
    return Message(sentence(first), (rich(first),))
