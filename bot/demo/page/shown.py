"""Which pictures of messages and Home tabs went out to the page: a press is on what was on the screen, old or not.

Written by `picture`, read by `acts`.
"""

import threading
from collections import OrderedDict
from typing import NamedTuple

from bot.demo.slack import Message, View

MOST = 2_000


class Seen(NamedTuple):
    """Names one state of one message."""

    channel: str
    ts: str
    edited_ts: str | None


class SeenHome(NamedTuple):
    """Names one state of one Home tab."""

    view: str
    hash: str


class Shown:
    """The last `MOST` of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pictures: OrderedDict[Seen | SeenHome, Message | View] = OrderedDict()

    def note(self, seen: Message | View) -> None:
        if isinstance(seen, View):
            key: Seen | SeenHome = SeenHome(seen.id, seen.hash)
        else:
            key = Seen(seen.channel, seen.ts, seen.edited_ts)
        with self._lock:
            self._pictures[key] = seen
            self._pictures.move_to_end(key)
            while len(self._pictures) > MOST:
                self._pictures.popitem(last=False)

    def find(self, seen: Seen | SeenHome) -> Message | View:
        """Raises LookupError for what never was on a screen."""
        with self._lock:
            found = self._pictures.get(seen)
        if found is None:
            raise LookupError("this is not on the screen")
        return found
