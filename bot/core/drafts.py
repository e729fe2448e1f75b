"""A request before it is complete: what somebody has said so far, and the names of its fields.

Filled from a typed line or the form by flows/submit_request; completed by core/proposal.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.loans import LoanKind
from bot.core.series import Repeated, Series


class AskField(StrEnum):
    """Fields that a refusal or a question belongs to. The form's block_id is `gpuq_form_` and this."""

    QUEUE = "queue"
    FLAVOR = "flavor"
    AMOUNT = "amount"
    KIND = "kind"
    UNTIL = "until"
    LENDER = "lender"
    START_AT = "start_at"
    REASON = "reason"
    REPEAT = "repeat"
    REPEAT_UNTIL = "repeat_until"
    CLUSTER = "cluster"
    """Only typed; the form offers the queues of all clusters."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What was said; None is what was not. At most one of `duration` and `until` is set."""

    requester: str
    cluster: str | None = None
    team: str | None = None
    queue: str | None = None
    flavor: str | None = None
    resource: str | None = None
    amount: int | None = None
    kind: LoanKind | None = None
    """None: let the bot choose."""
    lender: str | None = None
    start: datetime | None = None
    """None: at approval."""
    duration: timedelta | None = None
    until: datetime | None = None
    series: Series | Repeated | None = None
    """It repeats; start and end are those of the first time. A form does not know the zone of who fills it in."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """Something that must be known and cannot be guessed, with what could be answered."""

    field: AskField
    sentence: str
    options: tuple[str, ...] = ()
    """Empty if it is no choice: open the form, filled with what was said."""
