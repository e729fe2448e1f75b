"""What arrived from Slack and was acknowledged: a command, a press, a submission. Stored first, handled after.

Written by chat/listeners before the acknowledgement, taken by workers.
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


@dataclass(frozen=True, slots=True)
class InboxItem:
    """One stored arrival."""

    key: str
    """Unique by Slack's own ids: a redelivery has the same key."""
    arrival: Arrival
    name: str
    """Subcommand text, action_id or callback_id."""
    payload: Mapping[str, Any]
    received_at: datetime
    attempts: int = 0
