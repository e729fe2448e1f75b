"""How a loan stands in the live numbers: what people are told about it. Derived, never stored.

Computed by flows/loan_standing from records (embodied legs) and a live picture; rendered by the cards, DMs and
commands. The stored state of a loan is not what it says: a running loan may not be in force.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter

from bot.core.impact import AtRisk, Move


class Blocker(StrEnum):
    """Why the numbers are not (yet) what the loan wants."""

    API_DOWN = "api down"
    KUEUE_DOWN = "kueue down"
    NO_RIGHT = "no right"
    CANNOT_READ = "cannot read"
    """The cluster answers and does not let the bot read its queues, or has none."""
    REFUSED = "refused"
    IN_QUESTION = "in question"
    """Somebody changed the number outside the bot and nobody has said what it means."""
    AUTOMATED = "automated"
    """Kueue itself writes a queue of the loan: the words say by what. Nobody can tell what of the loan counts."""
    SUSPENDED = "suspended"
    SHORT = "short"
    """The lender has not that much."""
    PROPOSED = "proposed"
    """A queue of the loan is written in Git, and the change is not merged yet; `queue` says which."""
    PAUSED = "paused"
    """By an admin; the words are whose name."""
    WAITS = "waits"
    """For another queue's number, or for Kueue's controller to see the change."""


@dataclass(frozen=True, slots=True)
class RoomStanding:
    """The ResourceQuota that goes up and down with a loan."""

    quota: Move
    """Its number without this loan, and as it is now; `queue` is namespace/name."""
    raised: int
    """How much of the amount is in it."""
    blocked: str | None = None
    """Why it is not written (other people's text, unescaped)."""
    in_question: bool = False
    """Somebody changed it outside the bot."""


@dataclass(frozen=True, slots=True)
class LoanStanding:
    """One loan against the live numbers. Devices are whole."""

    raised: int
    """How much of the amount is in the borrower's live number."""
    lowered: int
    """How much is out of the lender's live number; 0 for other kinds than transfer."""
    borrower: Move
    """The field's base and its live value: nominalQuota, or borrowingLimit for a borrow."""
    lender: Move | None = None
    blocker: Blocker | None = None
    words: str = ""
    """Detail of the blocker: who changed what, which right is missing (other people's text, unescaped)."""
    queue: str = ""
    """The one that cannot be written, or whose change somebody is to merge, where the blocker is one queue's."""
    since: datetime | None = None
    """Since when it is blocked, where known."""
    free: int | None = None
    """Free by quota in the cohort at `read_at`; None if there are no live figures."""
    read_at: datetime | None = None
    above: int = 0
    """Devices in use above the borrower's nominalQuota at `read_at`."""
    above_workloads: tuple[AtRisk, ...] = ()
    """Likely those, in the order Kueue would take them."""
    taken_back_by_kueue: bool = True
    """Whether any other queue of the cohort may reclaim what runs on above quota."""
    in_no_cohort: bool = False
    """Whether the borrower has no cohort, so that nobody could."""
    beside: RoomStanding | None = None
    """None: the borrower's team has no ResourceQuota."""


_ADAPTER = TypeAdapter(LoanStanding)


def to_json(standing: LoanStanding) -> dict[str, Any]:
    """As JSON values, for a notice's facts."""
    values: dict[str, Any] = _ADAPTER.dump_python(standing, mode="json")
    return values


def from_json(values: Any) -> LoanStanding:
    """The inverse of `to_json`."""
    return _ADAPTER.validate_python(values)
