"""What a view produces and the chat adapter sends: a message, modal or Home tab; where a message stands once posted."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

Block: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """`text` is one full sentence (the notification and the screen-reader line), `blocks` what is seen."""

    text: str
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Modal:
    """A Slack view of type modal. `metadata` comes back with its submission."""

    callback_id: str
    title: str
    blocks: tuple[Block, ...]
    submit: str | None = None
    close: str = "Close"
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class Home:
    """A Slack view of type home: what one person sees in the app's Home tab."""

    blocks: tuple[Block, ...]
    read_at: datetime
    """When what it says was true: its first line, which is not in `blocks`."""


class MessageRef(NamedTuple):
    """Where a posted message stands: the channel's id (of a DM: D..., never the user's) and its timestamp."""

    channel: str
    ts: str
