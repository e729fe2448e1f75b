"""A request for quota, or for more time with it, the approvals it collects, and the transitions it may take.

Written by flows/submit_request and flows/record_decision; read by verdicts and views. The picture in README.md
shows `TRANSITIONS`, and the store's `update` admits nothing else.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.loans import LoanKind
from bot.core.series import Series


class RequestState(StrEnum):
    """Where a request stands. What happens after approval is the loan's state, not the request's."""

    WAITING = "waiting"
    APPROVED = "approved"
    DENIED = "denied"
    WITHDRAWN = "withdrawn"
    LAPSED = "lapsed"


TRANSITIONS: dict[RequestState, frozenset[RequestState]] = {
    RequestState.WAITING: frozenset(
        {RequestState.APPROVED, RequestState.DENIED, RequestState.WITHDRAWN, RequestState.LAPSED}
    ),
    RequestState.APPROVED: frozenset(),
    RequestState.DENIED: frozenset(),
    RequestState.WITHDRAWN: frozenset(),
    RequestState.LAPSED: frozenset(),
}


@dataclass(frozen=True, slots=True)
class ApprovalStep:
    """One step of an approval: how many distinct people of `who` it takes."""

    who: str
    """`group:NAME` for an approver group of approvals.yaml, `leads:TEAM` for a team's leads."""
    count: int = 1
    also: str | None = None
    """Who may give it too, since nobody answered (core/escalations). Never stored with the request."""


@dataclass(frozen=True, slots=True)
class Ask:
    """What somebody asks for, complete and understood, before any policy has seen it."""

    cluster: str
    team: str
    queue: str
    flavor: str
    resource: str
    amount: int
    kind: LoanKind
    lender: str | None
    start: datetime | None
    """None: at approval."""
    duration: timedelta | None
    """Counts from the start. Exactly one of `duration` and `until` is set."""
    until: datetime | None
    reason: str
    requester: str
    series: Series | None = None
    """It repeats: start and until are those of the first time, and each time is a loan of its own."""


@dataclass(frozen=True, slots=True)
class QuotaRequest:
    """A stored request. `id` is the number people see (Q-142); its loan keeps that number.

    A series has no loan itself: each of its times is a request of its own, approved with it, whose loan has that
    number.
    """

    id: int
    ask: Ask
    state: RequestState
    created_at: datetime
    lapses_at: datetime
    origin: str
    """The inbox key it came from: unique, so a redelivered submission makes no second request."""
    revision: int = 0
    """Rises with every change that people see; the card's block_id carries it."""
    rule: str | None = None
    """The policy rule that decided what it takes."""
    steps: tuple[ApprovalStep, ...] = ()
    picture: str | None = None
    """What the card showed (impact, as canonical JSON): compared again at the click."""
    decided_by: str | None = None
    """User id, `rule:NAME` for a policy decision; None while it waits."""
    decided_at: datetime | None = None
    words: str | None = None
    """The reason of a denial, as its author wrote it."""
    extends: int | None = None
    """The loan that is to end later: then the ask is for the time from its end on. None: it asks for a new loan."""
    series: int | None = None
    """The series that it is one time of: its decision is this one's, and its cards speak of this one too."""
    terms: int = 0
    """How many accepted offers have changed what it asks for. Approvals are of one of these."""
    judged_at: datetime | None = None
    """When policy judged the terms it has now; None: when it was made."""
    version: int = 0
    """For compare-and-set of the row."""

    @property
    def number(self) -> int:
        """The number that people know it by: an extension is an event of its loan."""
        return self.id if self.extends is None else self.extends

    @property
    def subject(self) -> str:
        """What the audit files it under."""
        return f"Q-{self.number}"

    @property
    def name(self) -> str:
        """What sentences call it."""
        return self.subject if self.extends is None else f"{self.subject}'s extension"

    def verb(self, what: str) -> str:
        """How the audit tells what is done to an extension from what is done to its loan."""
        return what if self.extends is None else f"{what} extension"


@dataclass(frozen=True, slots=True)
class Approval:
    """One person's yes. Unique per request, terms and person."""

    request: int
    step: int
    """Index into the request's steps."""
    who: str
    at: datetime
    self_approved: bool = False
    terms: int = 0
    """Which terms of the request were approved."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what and what came of it; append-only."""

    at: datetime
    who: str
    """User id, or `bot` for what it did by itself."""
    what: str
    """A verb of the interface: request, approve, deny, offer, accept, withdraw, extend, deny extension ..."""
    subject: str
    """Q-142, or a field such as `default/vision/a100/nvidia.com/gpu/nominal`."""
    outcome: str
    """One sentence, or `ok`."""


def ways_into(state: RequestState) -> frozenset[RequestState]:
    """The states a request may have been in when it is stored in `state`: itself, and those that lead to it."""
    return frozenset({state, *(one for one, ends in TRANSITIONS.items() if state in ends)})
