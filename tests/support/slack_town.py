"""A simulated workspace on a clock that only tests move, and the adapter that speaks to it. For its tests."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.adapters.slack.calls import web_client
from bot.adapters.slack.chat import SlackChat
from bot.adapters.slack.directory import Directory
from bot.core.messages import Message, Modal
from bot.demo.slack import Clocks, Setup, SlackSim


@dataclass
class Clock:
    """Stands still until it is moved."""

    at: datetime = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def move(self, **gap: float) -> None:
        self.at += timedelta(**gap)


@dataclass
class Town:
    """The workspace, with one person and one channel in it, and the Chat role."""

    slack: SlackSim
    clock: Clock
    chat: SlackChat = field(init=False)
    ada: str = field(init=False)
    room: str = field(init=False)

    def __post_init__(self) -> None:
        self.ada = self.slack.add_person("ada", tz="Europe/Zurich").id
        self.room = self.slack.add_channel("gpu", self.ada).id
        self.chat = self.new_chat()

    def new_chat(self, token: str | None = None) -> SlackChat:
        """As a new process has it."""
        client = web_client(token or self.slack.bot_token, self.slack.api_url)
        return SlackChat(client, Directory(client, self.clock))

    def count(self, method: str) -> int:
        """How often the bot called this."""
        return len(self.slack.calls(method))


def workspace(clock: Clock, **setup: Any) -> SlackSim:
    """Unstarted. Rate limits are off unless they are asked for."""
    return SlackSim(Setup(**{"pacing": False, **setup}), Clocks(now=clock))


def words(text: str) -> Message:
    """A plain message."""
    return Message(text, ({"type": "section", "text": {"type": "plain_text", "text": text}},))


def form(*blocks: dict[str, Any]) -> Modal:
    """A plain modal."""
    return Modal("gpuq_form", "A form", blocks or words("hello").blocks)
