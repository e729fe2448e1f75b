"""What is sent to the bot and what came of it. `socket_mode` and `http_mode` carry parcels and give receipts;
`acting` turns a receipt into the `Delivery` a test or the demo reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from bot.demo.slack.entities import Json

Kind: TypeAlias = Literal["slash_commands", "interactive", "events_api"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tamper:
    """How an HTTP request is to be wrong: signed with another secret, dated `age` seconds back (and signed so), or
    with bytes added to the body after signing."""

    secret: str | None = None
    age: float = 0
    suffix: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """One payload for the bot. `accepts_payload`: the acknowledgement may carry an answer.

    `envelope_id` and `signed` pin the envelope or the exact signed request, to send the very same thing once more.
    """

    kind: Kind
    payload: Json
    accepts_payload: bool = True
    retry_attempt: int = 0
    retry_reason: str | None = None
    tamper: Tamper = field(default_factory=Tamper)
    envelope_id: str | None = None
    signed: tuple[Mapping[str, str], bytes] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """`error`: `operation_timeout` (no acknowledgement within the limit), `dispatch_failed` (nobody there, or a
    status other than 200), or None. `answer` is the payload of the acknowledgement: an object, or text."""

    acked: bool
    elapsed: float
    error: str | None = None
    status: int | None = None
    answer: Json | str | None = None
    sent_as: Parcel


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What one act of a person led to, as far as Slack itself shows it.

    `acked`: acknowledged within the limit. `shown`: the sentence Slack showed the person, if any. `field_errors`: by
    block_id, from the form itself (then `sent` is false) or from the bot. `dialog`: the confirm dialog agreed to.
    """

    parcel: Parcel
    sent: bool = True
    acked: bool = False
    status: int | None = None
    answer: Json | str | None = None
    elapsed: float = 0
    error: str | None = None
    shown: str | None = None
    field_errors: Mapping[str, str] = field(default_factory=dict)
    dialog: str | None = None

    @property
    def payload(self) -> Mapping[str, Any]:
        return self.parcel.payload


class Courier(Protocol):
    """A way to the bot."""

    def carry(self, parcel: Parcel) -> Receipt: ...
