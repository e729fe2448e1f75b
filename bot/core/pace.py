"""How fast messages may go out. Pure bookkeeping of instants; kept by flows/deliver_notices between its steps.

Slack takes about one new message a second in each channel and some fifty updates a minute in all, and says with
"Retry-After" when it has had enough. When it does not answer at all, nothing goes out for a while, longer each time.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.core.backoff import longer_each_time

FIRST_SILENCE = timedelta(seconds=2)
LONGEST_SILENCE = timedelta(seconds=30)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Pace:
    """When the next call to each place may be made."""

    post_every: timedelta = timedelta(seconds=1)
    """Between two posts to one channel."""
    update_every: timedelta = timedelta(seconds=1.2)
    """Between two updates, over all channels."""
    silent_since: datetime | None = None
    """Since when Slack has answered nothing at all."""
    _posts: dict[str, datetime] = field(default_factory=dict)
    _update: datetime = _LONG_AGO
    _all: datetime = _LONG_AGO
    _silences: int = 0
    _again: set[datetime] = field(default_factory=set)

    def post_at(self, channel: str) -> datetime:
        """Earliest instant for a post to this channel."""
        return max(self._posts.get(channel, _LONG_AGO), self._all)

    def update_at(self) -> datetime:
        """Earliest instant for an update."""
        return max(self._update, self._all)

    def posted(self, channel: str, at: datetime) -> None:
        """A post to the channel was tried."""
        self._posts[channel] = at + self.post_every

    def updated(self, at: datetime) -> None:
        """An update was tried."""
        self._update = at + self.update_every

    def hold_channel(self, channel: str, until: datetime) -> None:
        """Slack wants no post to this channel before then."""
        self._posts[channel] = max(self._posts.get(channel, _LONG_AGO), until)

    def hold_updates(self, until: datetime) -> None:
        """Slack wants no update before then."""
        self._update = max(self._update, until)

    def silent(self, at: datetime) -> datetime:
        """Slack does not answer at all: when to try the next call."""
        self.silent_since = self.silent_since or at
        self._all = at + longer_each_time(FIRST_SILENCE, self._silences, LONGEST_SILENCE)
        self._silences += 1
        return self._all

    def answered(self) -> datetime | None:
        """Slack answers, with a yes or a no. Since when it had not, None if it had."""
        since, self.silent_since, self._silences = self.silent_since, None, 0
        return since

    def put_off(self, until: datetime) -> None:
        """Something is due again at that instant."""
        self._again.add(until)

    def next_due(self, now: datetime) -> datetime | None:
        """The earliest instant after `now` at which something that was put off is due."""
        self._again = {instant for instant in self._again if instant > now}
        return min(self._again, default=None)
