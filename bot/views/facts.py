"""What the views of a request and its loan are given: one frozen picture, read once, rendered for any reader.

Built by flows/render_notices from the database, the people behind the ids and the loan's standing. Cards, direct
messages, thread lines and the details all take the same facts, so that no two of them can say different things.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.impact import AtRisk, Impact
from bot.core.loans import Loan
from bot.core.offers import Offer, Terms
from bot.core.past_use import PastUse
from bot.core.pause import Pause
from bot.core.people import Person
from bot.core.requests import QuotaRequest
from bot.core.standing import LoanStanding
from bot.views.amounts import GPU, Unit
from bot.views.parts import Group


class Surface(StrEnum):
    """Whose copy of a card it is: that decides which buttons it has."""

    CHANNEL = "channel"
    LEAD = "lead"
    REQUESTER = "requester"


@dataclass(frozen=True, slots=True)
class Step:
    """One approval step, in words."""

    label: str
    """Who decides: "nlp lead", "gpu-admins"."""
    count: int = 1
    """How many people it takes."""
    lends: bool = False
    """Whether this is the lender's consent."""


@dataclass(frozen=True, slots=True)
class Given:
    """One approval that was given."""

    who: Person
    at: datetime
    lends: bool = False
    self_approved: bool = False
    step: int = 0
    """Index of the step it was given for."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A counter-offer and the people of it."""

    offer: Offer
    by: Person
    settled_by: Person | None = None
    """None: nobody yet, or the bot."""


@dataclass(frozen=True, slots=True)
class Escalated:
    """Others may decide the open step too, since nobody answered."""

    label: str
    """What the policy calls them."""
    at: datetime
    why: str
    """A clause: "8 h without an answer"."""
    group: Group | None = None
    """Slack's user group, if they are one."""


@dataclass(frozen=True, slots=True)
class Pressed:
    """Somebody pressed Approve and the cluster is being asked."""

    who: Person
    at: datetime


@dataclass(frozen=True, slots=True)
class Worse:
    """The picture got worse between card and click. Nothing was approved."""

    pressed: Pressed
    shown_at: datetime
    """When the picture that was pressed had been read."""
    free: tuple[int, int] | None = None
    """Free then and now, if it fell."""
    at_risk: tuple[AtRisk, ...] = ()
    """Workloads that become preemptible now and did not then."""
    other: tuple[str, ...] = ()
    """Further lines, each a full clause: "nlp lends at most 4 now"."""


@dataclass(frozen=True, slots=True)
class Returned:
    """Devices given back before the end."""

    who: Person
    at: datetime
    amount: int


@dataclass(frozen=True, slots=True)
class Late:
    """Something happened later than it should have."""

    at: datetime
    """When it happened at last."""
    by: timedelta
    why: str
    """A clause: "the bot was down", "the API server was not answering"."""


@dataclass(frozen=True, slots=True)
class SeriesFacts:
    """How a series stands."""

    number: int
    """Of the request that asked for it."""
    place: int
    """Which time `CardFacts.loan` is, from 1."""
    times: int
    """How many were approved."""
    to_come: int
    """How many have not begun and are not called off, beside that loan."""
    following: datetime | None
    """When the next of those begins."""
    last_end: datetime
    """Of what is left, else of all."""


@dataclass(frozen=True, slots=True)
class CardFacts:
    """A request with all that came of it, or an extension with the loan that it is about.

    Which state the card shows follows from these values alone.
    """

    request: QuotaRequest
    requester: Person
    steps: tuple[Step, ...] = ()
    approvals: tuple[Given, ...] = ()
    """In the order given."""
    impact: Impact | None = None
    """What it means now; None if there are no live figures."""
    no_figures_since: datetime | None = None
    decider: Person | None = None
    """Who denied, withdrew, or ended it; None for a rule."""
    checking: Pressed | None = None
    worse: Worse | None = None
    offered: Offered | None = None
    """The open counter-offer."""
    asked_first: Terms | None = None
    """What was asked for at first, if an accepted offer changed it."""
    loan: Loan | None = None
    standing: LoanStanding | None = None
    """How the loan stands now; None without a loan or without live figures."""
    last_try: datetime | None = None
    """When the bot last tried to put a blocked loan in force."""
    returned: tuple[Returned, ...] = ()
    late: Late | None = None
    """Set if the start or the end came late."""
    clear_since: datetime | None = None
    """Since when nothing runs above quota after the end, once that is true."""
    unit: Unit = GPU
    cluster: str | None = None
    """Shown if there are several."""
    observe: bool = False
    """The bot only observes: approving writes nothing."""
    unreachable: str | None = None
    """Name of the approvals channel if the card goes to approvers by DM instead."""
    end_words: str = ""
    """Why an admin ended the loan, as they wrote it."""
    extension: QuotaRequest | None = None
    """One of the loan that waits for a decision."""
    pause: Pause | None = None
    """Quota changes are paused: an approval waits."""
    past: PastUse | None = None
    """Of earlier loans, while somebody decides; None if too little was seen."""
    grace: timedelta | None = None
    """How long after the end the work above quota is evicted; None if it runs on."""
    series: SeriesFacts | None = None
    """Of a request that repeats and was approved: `loan` is the time that runs or comes next, else the last one. Of
    one such time: which it is."""
    escalated: Escalated | None = None
    notes: tuple[str, ...] = field(default=())
    """Further lines of our words for a waiting card."""
