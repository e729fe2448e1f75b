"""What approvals.yaml may say: approver groups, limits, and ordered rules with what they ask for."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic.functional_validators import AfterValidator

from bot.core.loans import LoanKind
from bot.core.policy.idle import IdleLoans
from bot.core.policy.scalars import (
    LISTED,
    NOT_EMPTY,
    Channel,
    Count,
    CountOrNone,
    Day,
    Duration,
    KubernetesNames,
    Name,
    Names,
    People,
    PersonId,
    Strict,
    Switch,
    TimeOfDay,
    TimeZone,
    Words,
)

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
Kind = Literal["borrow", "transfer", "extra"]
"""Kinds of loan that can be on."""
LENDER_LEADS = "lender-leads"
TEAM_LEADS = "team-leads"
GRACE = timedelta(hours=1)
"""Of a rule with `at_end: evict` that says no other."""
_GROUP = "group "


class Range(Strict):
    """A number of whole things: more than one bound, at most the other."""

    more_than: CountOrNone | None = None
    at_most: CountOrNone | None = None

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        _check_bounds(self.more_than, self.at_most)
        return self


class DurationRange(Strict):
    """A length of time: more than one bound, at most the other."""

    more_than: Duration | None = None
    at_most: Duration | None = None

    @model_validator(mode="after")
    def _bounds(self) -> Self:
        _check_bounds(self.more_than, self.at_most)
        return self


def _check_bounds(more_than: int | timedelta | None, at_most: int | timedelta | None) -> None:
    if more_than is None and at_most is None:
        raise ValueError("needs more_than, at_most or both")
    if more_than is not None and at_most is not None and more_than >= at_most:  # type: ignore[operator]
        raise ValueError("more_than must be smaller than at_most: nothing is between them")


class Hours(Strict):
    """A daily stretch of time; `until` before `after` goes past midnight."""

    after: TimeOfDay
    until: TimeOfDay
    days: Annotated[tuple[Weekday, ...], *LISTED, NOT_EMPTY] = WEEKDAYS
    """The day on which the stretch begins."""
    timezone: TimeZone | None = None
    """None: the team's own."""

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.after == self.until:
            raise ValueError("after and until are the same time")
        return self


class Conditions(Strict):
    """What a rule looks at; all that are given must hold."""

    team: Names | None = None
    flavor: Annotated[KubernetesNames, NOT_EMPTY] | None = None
    kind: Annotated[tuple[Kind, ...], *LISTED, NOT_EMPTY] | None = None
    amount: Range | None = None
    duration: DurationRange | None = None
    on_loan: Range | None = None
    """Of the team, same resource: running and scheduled loans, waiting requests and this one; a series once for each
    time."""
    loans_per_week: Range | None = None
    """Of the team: loans begun in the last 7 days or still to begin, waiting requests and this one; a series once for
    each time."""
    hours: Hours | None = None
    """When the request is made."""


def _who(value: str) -> str:
    if value in (LENDER_LEADS, TEAM_LEADS) or (value.startswith(_GROUP) and value[len(_GROUP) :].strip()):
        return value
    raise ValueError(f'"{value}" is nobody. Write lender-leads, team-leads or group NAME')


class Step(Strict):
    """One approval step: how many distinct people of whom."""

    who: Annotated[str, AfterValidator(_who)]
    count: Count = 1

    @property
    def group(self) -> str | None:
        """Name of the approver group; None for leads."""
        return self.who[len(_GROUP) :].strip() if self.who.startswith(_GROUP) else None


class Then(Strict):
    """What a rule gives: exactly one of the three."""

    approve: Literal["auto"] | None = None
    deny: Words | None = None
    steps: Annotated[tuple[Step, ...], NOT_EMPTY] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(choice is not None for choice in (self.approve, self.deny, self.steps)) != 1:
            raise ValueError("needs exactly one of approve, deny and steps")
        return self


class Rule(Strict):
    """If all conditions hold, this is what it takes."""

    name: Name
    when: Conditions = Field(default_factory=Conditions, alias="if")
    then: Then
    at_end: Literal["run", "evict"] = "run"
    """What becomes of work above the quota once a loan is over that came to be by this rule."""
    grace: Duration | None = None
    """How long after the announcement work is evicted; None: an hour."""
    escalate_to: Name | None = None
    """A group, in place of `unanswered.escalate_to`."""

    @model_validator(mode="after")
    def _grace_of_what(self) -> Self:
        if self.grace is not None and self.at_end != "evict":
            raise ValueError("grace is for at_end: evict; work that runs on needs none")
        return self

    @property
    def grace_at_end(self) -> timedelta | None:
        """None: the work runs on."""
        return (self.grace or GRACE) if self.at_end == "evict" else None


class Unanswered(Strict):
    """What happens to a request that its approvers do not answer. Times are of working hours."""

    remind_after: Duration = timedelta(hours=4)
    escalate_after: Duration = timedelta(hours=8)
    escalate_to: Name | None = None
    """A group whose people may then decide too. None: nobody, it is only reminded."""
    hours: Hours | None = None
    """Working hours of approvers. None: all hours count."""
    hours_of: Mapping[Name, Hours] = Field(default_factory=dict)
    """The same of a group, goes first."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.remind_after >= self.escalate_after:
            raise ValueError("remind_after must be shorter than escalate_after")
        return self


class Limits(Strict):
    """What no rule can exceed."""

    most_per_request: Count = 16
    longest: Duration = timedelta(days=14)
    most_times_per_series: Count = 26
    """How often a request may repeat."""
    longest_series: Duration = timedelta(days=91)
    """From its making to the end of the last time of a series."""
    most_on_loan_per_team: Count = 24
    """Same counting as the condition on_loan."""
    open_requests_per_person: Count = 5
    requests_per_hour: Count = 20
    """Per person."""
    reason_required: Switch = True


class ApprovalsFile(Strict):
    """The whole of approvals.yaml."""

    groups: Mapping[Name, People]
    """Approver groups. An empty one is nobody, never everybody."""
    admins: Name
    """The group whose people may do everything but approve what they asked for themselves."""
    approvals_channel: Channel
    platform_channel: Channel
    kinds: Annotated[tuple[Kind, ...], *LISTED, NOT_EMPTY] = ("borrow", "transfer")
    """Kinds of loan that are on here. `extra`, which makes quota from nowhere, only where somebody turned it on."""
    rules: Annotated[tuple[Rule, ...], NOT_EMPTY]
    limits: Limits = Field(default_factory=Limits)
    self_approval: Switch = False
    lapse_after: Duration = timedelta(days=3)
    idle_loans: IdleLoans = Field(default_factory=IdleLoans)
    unanswered: Unanswered = Field(default_factory=Unanswered)
    away: Mapping[PersonId, Day] = Field(default_factory=dict)
    """People whom nobody should wait for, with the last day of it (UTC)."""

    def is_away(self, user: str, now: datetime) -> bool:
        """Whether nobody should wait for this person."""
        until: date | None = self.away.get(user)
        return until is not None and now.astimezone(UTC).date() <= until

    def allows(self, kind: LoanKind) -> bool:
        """Whether loans of this kind may be asked for at all."""
        return kind.value in self.kinds
