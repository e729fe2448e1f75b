"""Which pictures of messages went out to the page: a press is on the picture that was on the screen, old or not.

Written by `picture`, read by `acts`.
"""

import threading
from collections import OrderedDict
from typing import NamedTuple

from bot.demo.slack import Message

MOST = 2_000


class Seen(NamedTuple):
    """Names one state of one message."""

    channel: str
    ts: str
    edited_ts: str | None


class Shown:
    """The last `MOST` of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pictures: OrderedDict[Seen, Message] = OrderedDict()

    def note(self, message: Message) -> None:
        key = Seen(message.channel, message.ts, message.edited_ts)
        with self._lock:
            self._pictures[key] = message
            self._pictures.move_to_end(key)
            while len(self._pictures) > MOST:
                self._pictures.popitem(last=False)

    def find(self, seen: Seen) -> Message:
        """Raises LookupError for what never was on a screen."""
        with self._lock:
            found = self._pictures.get(seen)
        if found is None:
            raise LookupError("no such message is on the screen")
        return found
