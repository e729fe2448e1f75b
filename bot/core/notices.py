"""A message owed to someone: written with the state it speaks of, delivered and kept up to date by one deliverer.

A notice is one message for its whole life. `wanted` rises each time its content should change, `shown` is what the
reader has; `shown == 0` means it must be posted, `0 < shown < wanted` that it must be updated. Waiting updates merge by
themselves. Written by flows, read by flows/deliver_notices.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Any

from bot.core.messages import MessageRef


class Priority(IntEnum):
    """Smaller goes first."""

    APPROVAL = 0
    PERSON = 1
    ALERT = 2


class NoticeState(StrEnum):
    """Where delivery stands."""

    OWED = "owed"
    """Something is to be posted or updated."""
    CLAIMED = "claimed"
    """A deliverer is at it; after a crash the channel's history is asked before it is posted again."""
    SETTLED = "settled"
    """The reader has what is wanted."""
    GIVEN_UP = "given up"
    """Slack says no for good; `failure` has its code."""


@dataclass(frozen=True, slots=True)
class NoticeDraft:
    """What a flow owes. Owing the same `key` again makes the one message change instead of posting a second."""

    key: str
    """Unique: what it is about and for whom, such as `card:142:C0APPROVALS`."""
    kind: str
    """Which view renders it, see views."""
    to: str
    """Channel id or user id."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """JSON values; the rest is read from the database when it is rendered."""
    priority: Priority = Priority.PERSON
    thread_of: str | None = None
    """Key of the notice whose thread it goes to, in the same channel."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A stored notice."""

    id: str
    """Opaque; travels in the message's metadata, so that a lost answer can be looked up in the history."""
    draft: NoticeDraft
    created_at: datetime
    state: NoticeState = NoticeState.OWED
    wanted: int = 1
    shown: int = 0
    ref: MessageRef | None = None
    claimed_epoch: int | None = None
    claimed_at: datetime | None = None
    not_before: datetime | None = None
    attempts: int = 0
    doubtful: bool = False
    """A post was tried and its answer was lost: look before posting again."""
    failure: str | None = None
