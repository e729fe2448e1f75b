"""How far each person has read, and so what is new to them. Held by the page's server, lost with it."""

import threading

from bot.demo.slack import Message


class Reads:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._upto: dict[tuple[str, str], str] = {}

    def mark(self, user: str, channel: str, ts: str) -> None:
        """The person has seen this channel up to `ts`; an older mark changes nothing."""
        with self._lock:
            self._upto[user, channel] = max(ts, self._upto.get((user, channel), ""))

    def upto(self, user: str, channel: str) -> str:
        """`ts` are of one length, so they compare as text; nothing read is ''."""
        with self._lock:
            return self._upto.get((user, channel), "")

    def unread(self, user: str, channel: str, messages: tuple[Message, ...]) -> int:
        """New messages of others; replies in threads do not count, as in Slack."""
        upto = self.upto(user, channel)
        return sum(1 for one in messages if one.ts > upto and one.author != user and not one.is_reply)
