"""What a workspace is made of: people, channels, user groups, messages, views and files, as plain values.

State changes by replacing a value in its store (`workspace`, `timeline`, `surfaces`), never by editing one in place,
so whoever holds a message holds the picture as it was, which is what a person with an old screen has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]

HOME_TEAM = "T0SIMULATED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Someone, or some bot, with an account. Guests are restricted; strangers come over Slack Connect."""

    id: str
    name: str
    real_name: str
    email: str | None = None
    tz: str = "Europe/Berlin"
    locale: str = "en-US"
    team_id: str = HOME_TEAM
    enterprise_id: str | None = None
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_stranger: bool = False
    is_bot: bool = False
    deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """A public or private channel, or, when `dm_with` names a person, that person's DM with the bot."""

    id: str
    name: str
    members: frozenset[str] = frozenset()
    is_private: bool = False
    is_archived: bool = False
    dm_with: str | None = None

    @property
    def is_dm(self) -> bool:
        return self.dm_with is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class UserGroup:
    id: str
    handle: str
    name: str
    members: tuple[str, ...] = ()
    is_disabled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFile:
    """An uploaded file. `content` is empty until the upload came in."""

    id: str
    name: str
    title: str
    length: int
    content: bytes = b""
    channel: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One post as it stands. `only_for` is the one person who sees an ephemeral message."""

    channel: str
    ts: str
    author: str
    text: str = ""
    blocks: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()
    metadata: Json | None = None
    thread_ts: str | None = None
    broadcast: bool = False
    edited_ts: str | None = None
    only_for: str | None = None
    files: tuple[SharedFile, ...] = ()

    @property
    def is_reply(self) -> bool:
        return self.thread_ts is not None and self.thread_ts != self.ts


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A ping: `user` was notified of `message` because of a mention, a group, a broadcast or a DM."""

    user: str
    message: Message
    why: Literal["mention", "group", "broadcast", "dm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A modal or an App Home, with what the person has typed so far in `state` (block_id -> action_id -> value)."""

    id: str
    user: str
    body: Json
    hash: str
    root_id: str
    previous_id: str | None = None
    state: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return str(self.body["type"])

    @property
    def blocks(self) -> tuple[Json, ...]:
        return tuple(self.body.get("blocks", ()))

    @property
    def external_id(self) -> str:
        return str(self.body.get("external_id") or "")
