"""Things Slack hands out that wear off: trigger ids (once, 3 s), response URLs (5 times, 30 min), connection tickets.

Called with the lock held. Trigger ids are measured on machine time, like the 3 s to acknowledge, because they race with
the bot's own speed; response URLs on the workspace's clock.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.demo.slack.entities import Message
from bot.demo.slack.errors import SlackError

TRIGGER_SECONDS = 3.0
RESPONSE_URL_USES = 5
RESPONSE_URL_LIFE = timedelta(minutes=30)


@dataclass(slots=True)
class _Trigger:
    user: str
    issued: float
    used: bool = False


class Triggers:
    """Trigger ids: exchange one for the right to open a view in front of a person."""

    def __init__(self, monotonic: Callable[[], float], run: str) -> None:
        self._monotonic = monotonic
        self._run = run
        self._issued: dict[str, _Trigger] = {}
        self._count = itertools.count(1)

    def issue(self, user: str) -> str:
        number = next(self._count)
        trigger_id = f"{number}.{1000 + number}.{self._run}{number:08x}"
        self._issued[trigger_id] = _Trigger(user, self._monotonic())
        return trigger_id

    def exchange(self, trigger_id: str) -> str:
        """The person it was issued for. Errors: `invalid_trigger_id`, `exchanged_trigger_id`, `expired_trigger_id`."""
        trigger = self._issued.get(trigger_id)
        if trigger is None:
            raise SlackError("invalid_trigger_id")
        if trigger.used:
            raise SlackError("exchanged_trigger_id")
        if self._monotonic() - trigger.issued > TRIGGER_SECONDS:
            raise SlackError("expired_trigger_id")
        trigger.used = True
        return trigger.user

    def expire_all(self) -> None:
        """As if 3 seconds had passed for every id out there."""
        for trigger in self._issued.values():
            trigger.issued = float("-inf")


@dataclass(slots=True)
class ResponseUrl:
    """Where answers to one interaction may go; `original` is the message that was clicked, if any."""

    user: str
    channel: str
    original: Message | None
    expires: datetime
    uses_left: int = RESPONSE_URL_USES


class ResponseUrls:
    def __init__(self, now: Callable[[], datetime], run: str) -> None:
        self._now = now
        self._run = run
        self._issued: dict[str, ResponseUrl] = {}
        self._count = itertools.count(1)

    def issue(self, user: str, channel: str, original: Message | None = None) -> str:
        """A fresh key, the last part of the URL's path."""
        key = f"{self._run}-{next(self._count)}"
        self._issued[key] = ResponseUrl(user, channel, original, self._now() + RESPONSE_URL_LIFE)
        return key

    def use(self, key: str) -> ResponseUrl:
        """Take one use. Errors: `no_such_url`, `expired_url`, `used_url`."""
        url = self._issued.get(key)
        if url is None:
            raise SlackError("no_such_url")
        if self._now() > url.expires:
            raise SlackError("expired_url")
        if url.uses_left == 0:
            raise SlackError("used_url")
        url.uses_left -= 1
        return url


class Tickets:
    """One-time tickets for WebSocket connections, from apps.connections.open."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._count = itertools.count(1)

    def issue(self) -> str:
        ticket = f"ticket-{next(self._count)}"
        self._open.add(ticket)
        return ticket

    def redeem(self, ticket: str) -> bool:
        """Whether it was a good ticket; it is not one any more."""
        if ticket not in self._open:
            return False
        self._open.remove(ticket)
        return True
