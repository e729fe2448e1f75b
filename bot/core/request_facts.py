"""What a verdict and the limits look at besides the policy, gathered once by a flow, and the sums they need."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.loans import Loan, LoanState
from bot.core.requests import Ask, QuotaRequest, RequestState

WEEK = timedelta(days=7)
OPEN_LOANS = (LoanState.SCHEDULED, LoanState.RUNNING)


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """One request and what its team has already."""

    now: datetime
    ask: Ask
    loans: Sequence[Loan] = ()
    """Of the team's queues: all that are not closed, and those that began in the last 7 days."""
    requests: Sequence[QuotaRequest] = ()
    """Waiting ones of the team."""
    request_id: int | None = None
    """The request itself, if it is stored already: it and its loan are not counted twice."""
    extends: Loan | None = None
    """The loan that is to end later. It is judged as if it were asked for now, from its start to its new end, so that
    asking for a short loan and extending it gains nothing."""
    overcommits: bool = False
    """Whether it is an extra loan that may promise more than the nodes have: no rule approves that by itself."""

    @property
    def duration(self) -> timedelta:
        """How long the loan is if it is approved now, of a series the longest; not positive if its end has passed."""
        if self.extends is not None:
            assert self.ask.until is not None
            return self.ask.until - self.extends.start
        if self.ask.series is not None:
            return self.ask.series.longest(self.now)
        if self.ask.until is None:
            assert self.ask.duration is not None
            return self.ask.duration
        return self.ask.until - max(self.now, self.ask.start or self.now)

    @property
    def others_on_loan(self) -> int:
        """Devices of the same resource that the team has on loan or asks for elsewhere."""
        lent = sum(loan.amount for loan in self._other_loans() if self._counts(loan))
        others = [one.ask for one in self._other_requests() if one.ask.resource == self.ask.resource]
        asked = sum(ask.amount * self._times(ask) for ask in others)
        return lent + asked

    @property
    def on_loan(self) -> int:
        """The same with this request."""
        return self.others_on_loan + self.ask.amount * self.times

    @property
    def loans_per_week(self) -> int:
        """Loans of the team that began in the last 7 days or will begin, what it waits for, and this one."""
        begun = [loan for loan in self._other_loans() if loan.start > self.now - WEEK]
        return self.times + len(begun) + sum(self._times(one.ask) for one in self._other_requests())

    @property
    def times(self) -> int:
        """How many loans it would be: a series counts as if each of its times was asked for by itself."""
        return self._times(self.ask)

    def _times(self, ask: Ask) -> int:
        return len(ask.series.left(self.now)) if ask.series is not None else 1

    def _counts(self, loan: Loan) -> bool:
        return loan.resource == self.ask.resource and loan.state in OPEN_LOANS and loan.end > self.now

    def _other_loans(self) -> list[Loan]:
        own = {self.request_id, self.extends.id if self.extends else None}
        return [loan for loan in self.loans if loan.id not in own]

    def _other_requests(self) -> list[QuotaRequest]:
        """Those that ask for devices: what an extension is about is on loan already."""
        waiting = [one for one in self.requests if one.state is RequestState.WAITING and one.extends is None]
        return [one for one in waiting if one.id != self.request_id]


@dataclass(frozen=True, slots=True)
class Pace:
    """How much one person has asked for lately."""

    open_requests: int
    """Waiting ones of this person."""
    last_hour: Sequence[datetime]
    """When this person made requests in the last 60 minutes, in any order."""
    timezone: str = "UTC"
    """The person's, for the time in the answer."""
