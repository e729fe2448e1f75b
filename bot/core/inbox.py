"""What arrived from Slack and was acknowledged: a command, a press, a submission, an event.

Stored first, handled after: written by chat/listeners before the acknowledgement, taken by workers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Arrival(StrEnum):
    """How it came."""

    COMMAND = "command"
    ACTION = "action"
    SUBMISSION = "submission"
    EVENT = "event"
    """Nobody waits for an answer to it."""


@dataclass(frozen=True, slots=True)
class InboxItem:
    """One stored arrival."""

    key: str
    """Unique by Slack's own ids: a redelivery has the same key."""
    arrival: Arrival
    name: str
    """Subcommand text, action_id, callback_id or the event's type."""
    payload: Mapping[str, Any]
    received_at: datetime
    attempts: int = 0
