"""How fast messages may go out. Pure bookkeeping of instants; kept by flows/deliver_notices between its steps.

Slack takes about one new message a second in each channel and some fifty updates a minute in all, and says with
"Retry-After" when it has had enough.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

POST_EVERY = timedelta(seconds=1)
"""Between two posts to one channel."""
UPDATE_EVERY = timedelta(seconds=1.2)
"""Between two updates, over all channels."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Pace:
    """When the next call to each place may be made."""

    _posts: dict[str, datetime] = field(default_factory=dict)
    _update: datetime = _LONG_AGO
    _all: datetime = _LONG_AGO

    def post_at(self, channel: str) -> datetime:
        """Earliest instant for a post to this channel."""
        return max(self._posts.get(channel, _LONG_AGO), self._all)

    def update_at(self) -> datetime:
        """Earliest instant for an update."""
        return max(self._update, self._all)

    def posted(self, channel: str, at: datetime) -> None:
        """A post to the channel was tried."""
        self._posts[channel] = at + POST_EVERY

    def updated(self, at: datetime) -> None:
        """An update was tried."""
        self._update = at + UPDATE_EVERY

    def hold_channel(self, channel: str, until: datetime) -> None:
        """Slack wants no post to this channel before then."""
        self._posts[channel] = max(self._posts.get(channel, _LONG_AGO), until)

    def hold_updates(self, until: datetime) -> None:
        """Slack wants no update before then."""
        self._update = max(self._update, until)

    def hold_all(self, until: datetime) -> None:
        """Slack does not answer at all."""
        self._all = max(self._all, until)
