"""A Slack workspace in memory: channels with history, people, user groups, and faults on demand.

`FakeSlack` is the workspace that all processes share; `Session` is the Chat role of one process.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.errors import Rejected, Unavailable
from bot.core.messages import Home, Message, MessageRef, Modal
from bot.core.people import Person
from bot.ports.chat import PostUnknown
from bot.views.home import home_json
from tests.support.fakes.gate import Gate
from tests.support.slack_watch import WATCH


class Trouble(StrEnum):
    """What goes wrong with the next call that it fits."""

    NOT_REACHED = "not reached"
    RATE_LIMITED = "rate limited"
    ANSWER_LOST = "answer lost"
    """It was done, and nobody knows."""
    HISTORY_CLOSED = "history closed"
    """For `find`: the channel's history may not be read."""
    GROUPS_FAIL = "groups fail"
    """For `group_members`."""


@dataclass(slots=True)
class Posted:
    """One message as it stands in a channel."""

    ref: MessageRef
    notice: str
    message: Message
    at: datetime
    thread: MessageRef | None


@dataclass(frozen=True, slots=True)
class Shown:
    """One change that a reader sees: a post or an update."""

    what: str
    to: str
    ref: MessageRef
    notice: str
    message: Message


@dataclass(slots=True)
class FakeSlack:
    """The workspace. `heard` is told of everything that a person could read."""

    clock: Callable[[], datetime]
    people: dict[str, Person] = field(default_factory=dict)
    groups: dict[str, frozenset[str]] = field(default_factory=dict)
    messages: list[Posted] = field(default_factory=list)
    answers: list[tuple[str, Message]] = field(default_factory=list)
    """By response_url."""
    files: list[tuple[str, str, str]] = field(default_factory=list)
    """(to whom, name, content)."""
    homes: dict[str, tuple[Home, str]] = field(default_factory=dict)
    """By person: what they see, and its hash."""
    published: int = 0
    down: bool = False
    refused: int = 0
    """Calls that got nowhere because it was down."""
    troubles: list[Trouble] = field(default_factory=list)
    heard: Callable[[Shown], None] = lambda _shown: None

    def session(self, gate: Gate | None = None) -> "Session":
        """Slack as one process reaches it."""
        return Session(self, gate or Gate())

    def channel_of(self, to: str) -> str:
        """A person's messages stand in their own channel with the bot."""
        return f"D{to[1:]}" if to.startswith("U") else to

    def take(self, *fitting: Trouble) -> Trouble | None:
        """The trouble that happens to this call, if one is planned that fits."""
        for trouble in self.troubles:
            if trouble in fitting:
                self.troubles.remove(trouble)
                return trouble
        return None


class Session:
    """Implements ports.chat.Chat for one process."""

    def __init__(self, slack: FakeSlack, gate: Gate) -> None:
        self._slack = slack
        self._gate = gate

    def post(self, to: str, message: Message, notice_id: str, thread: MessageRef | None = None) -> MessageRef:
        trouble = self._reach("post", Trouble.NOT_REACHED, Trouble.RATE_LIMITED, Trouble.ANSWER_LOST)
        WATCH.saw(message)
        slack = self._slack
        now = slack.clock()
        ref = MessageRef(thread.channel if thread else slack.channel_of(to), f"{now.timestamp():.0f}.{self._number()}")
        slack.messages.append(Posted(ref, notice_id, message, now, thread))
        slack.heard(Shown("post", to, ref, notice_id, message))
        self._gate.passes("chat.posted")
        if trouble is Trouble.ANSWER_LOST:
            raise PostUnknown("no answer")
        return ref

    def update(self, ref: MessageRef, message: Message) -> None:
        trouble = self._reach("update", Trouble.NOT_REACHED, Trouble.RATE_LIMITED, Trouble.ANSWER_LOST)
        posted = next((one for one in self._slack.messages if one.ref == ref), None)
        if posted is None:
            raise Rejected("Slack", "message_not_found")
        WATCH.saw(message)
        posted.message = message
        self._slack.heard(Shown("update", ref.channel, ref, posted.notice, message))
        self._gate.passes("chat.updated")
        if trouble is Trouble.ANSWER_LOST:
            raise Unavailable("Slack", "no answer")

    def find(self, to: str, notice_id: str, since: datetime, thread: MessageRef | None = None) -> MessageRef | None:
        trouble = self._reach("find", Trouble.NOT_REACHED, Trouble.HISTORY_CLOSED)
        if trouble is Trouble.HISTORY_CLOSED:
            raise Rejected("Slack", "missing_scope")
        channel = thread.channel if thread else self._slack.channel_of(to)
        for one in self._slack.messages:
            if one.ref.channel == channel and one.notice == notice_id and one.at >= since and one.thread == thread:
                return one.ref
        return None

    def respond(self, url: str, message: Message) -> None:
        self._reach("respond", Trouble.NOT_REACHED)
        WATCH.saw(message)
        self._slack.answers.append((url, message))

    def send_file(self, user: str, name: str, content: str) -> None:
        self._reach("send_file", Trouble.NOT_REACHED)
        self._slack.files.append((user, name, content))

    def open_view(self, trigger_id: str, modal: Modal) -> str:
        self._reach("open_view", Trouble.NOT_REACHED)
        WATCH.saw(modal)
        return f"V-{trigger_id}"

    def update_view(self, view_id: str, modal: Modal) -> None:
        self._reach("update_view", Trouble.NOT_REACHED)
        WATCH.saw(modal)

    def publish_home(self, user: str, home: Home, known: str | None) -> str:
        trouble = self._reach("publish_home", Trouble.NOT_REACHED, Trouble.RATE_LIMITED, Trouble.ANSWER_LOST)
        WATCH.received("home", home_json(home))
        has = self._slack.homes.get(user)
        if known is not None and (has is None or has[1] != known):
            raise Rejected("Slack", "hash_conflict")
        self._slack.published += 1
        self._slack.homes[user] = (home, f"h{self._slack.published}")
        self._gate.passes("chat.published")
        if trouble is Trouble.ANSWER_LOST:
            raise Unavailable("Slack", "no answer")
        return self._slack.homes[user][1]

    def permalink(self, ref: MessageRef) -> str:
        self._reach("permalink")
        return f"https://test.slack.com/archives/{ref.channel}/p{ref.ts.replace('.', '')}"

    def person(self, user: str) -> Person:
        self._reach("person")
        known = self._slack.people.get(user)
        if known is None:
            raise Rejected("Slack", "user_not_found")
        return known

    def group_members(self, group: str) -> frozenset[str]:
        if self._reach("group_members", Trouble.GROUPS_FAIL) is not None:
            raise Unavailable("Slack", "the user group could not be read")
        known = self._slack.groups.get(group)
        if known is None:
            raise Rejected("Slack", "no_such_subteam")
        return known

    def _reach(self, method: str, *fitting: Trouble) -> Trouble | None:
        """Raises Unavailable if the call gets nowhere; else the trouble that the method itself deals with."""
        self._gate.passes(f"chat.{method}")
        if self._slack.down:
            self._slack.refused += 1
            raise Unavailable("Slack", "not reached")
        trouble = self._slack.take(*fitting)
        if trouble is Trouble.NOT_REACHED:
            raise Unavailable("Slack", "not reached")
        if trouble is Trouble.RATE_LIMITED:
            raise Unavailable("Slack", "ratelimited", timedelta(seconds=30))
        return trouble

    def _number(self) -> str:
        return f"{len(self._slack.messages):06d}"
