"""The conditions of a rule, each saying in a phrase why it holds or not. Used by core/verdict.

A phrase completes "rule X, because ..." and "rule X: ...". To add a condition: a key in approvals.Conditions, a
function here, a line in CHECKS, a paragraph in docs/policies.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bot.core.durations import format_duration
from bot.core.policy.approvals import WEEKDAYS, DurationRange, Hours, Range


@dataclass(frozen=True, slots=True)
class Subject:
    """What rules look at: a request in plain numbers and names."""

    team: str
    flavor: str
    kind: str
    amount: int
    duration: timedelta
    on_loan: int
    """Of the team, with this one."""
    loans_per_week: int
    """Of the team, with this one."""
    now: datetime
    timezone: str
    """Of the team."""


@dataclass(frozen=True, slots=True)
class Holds:
    """Whether one condition holds, and the phrase that says why."""

    matched: bool
    because: str


def _named(allowed: tuple[str, ...], value: str, what: str) -> Holds:
    if value in allowed:
        return Holds(matched=True, because=f"the {what} is {value}")
    return Holds(matched=False, because=f"the {what} is {value}, not {' or '.join(allowed)}")


def _team(allowed: tuple[str, ...], subject: Subject) -> Holds:
    return _named(allowed, subject.team, "team")


def _flavor(allowed: tuple[str, ...], subject: Subject) -> Holds:
    return _named(allowed, subject.flavor, "flavor")


def _kind(allowed: tuple[str, ...], subject: Subject) -> Holds:
    return _named(allowed, subject.kind, "kind")


def _within(bounds: Range | DurationRange, value: Any, words: Callable[[Any], str], of: str = "") -> Holds:
    """Compare with both bounds; the one that fails is named, else all that are given."""
    said = words(value) + of
    more_than, at_most = bounds.more_than, bounds.at_most
    if more_than is not None and value <= more_than:
        return Holds(matched=False, because=f"{said} is not more than {words(more_than)}")
    if at_most is not None and value > at_most:
        return Holds(matched=False, because=f"{said} is more than {words(at_most)}")
    over = [f"more than {words(more_than)}"] if more_than is not None else []
    under = [f"at most {words(at_most)}"] if at_most is not None else []
    return Holds(matched=True, because=f"{said} is {' and '.join(over + under)}")


def _amount(bounds: Range, subject: Subject) -> Holds:
    return _within(bounds, subject.amount, "{:,}".format)


def _duration(bounds: DurationRange, subject: Subject) -> Holds:
    return _within(bounds, subject.duration, format_duration)


def _on_loan(bounds: Range, subject: Subject) -> Holds:
    most = bounds.at_most
    if most is not None and subject.on_loan > most:
        return Holds(matched=False, because=f"covers {most:,} on loan; with this it is {subject.on_loan:,}")
    return _within(bounds, subject.on_loan, "{:,}".format, " on loan")


def _loans_per_week(bounds: Range, subject: Subject) -> Holds:
    most = bounds.at_most
    if most is not None and subject.loans_per_week > most:
        because = f"covers {most:,} loans in 7 days; with this it is {subject.loans_per_week:,}"
        return Holds(matched=False, because=because)
    return _within(bounds, subject.loans_per_week, "{:,}".format, " in 7 days")


def _hours(hours: Hours, subject: Subject) -> Holds:
    zone = hours.timezone or subject.timezone
    local = subject.now.astimezone(ZoneInfo(zone))
    matched = _begun_on(hours, local) in hours.days
    stretch = f"{hours.after:%H:%M} to {hours.until:%H:%M}"
    days = "" if hours.days == WEEKDAYS else f" on {', '.join(hours.days)}"
    at = f"{WEEKDAYS[local.weekday()]} {local:%H:%M}"
    return Holds(matched=matched, because=f"{at} is {'in' if matched else 'outside'} {stretch}{days} ({zone})")


def _begun_on(hours: Hours, local: datetime) -> str | None:
    """Day on which the stretch that `local` lies in began; None if it lies in none. `until` itself is outside."""
    clock = local.time()
    today, yesterday = WEEKDAYS[local.weekday()], WEEKDAYS[local.weekday() - 1]
    if hours.after < hours.until:
        return today if hours.after <= clock < hours.until else None
    if clock >= hours.after:
        return today
    return yesterday if clock < hours.until else None


CHECKS: Mapping[str, Callable[[Any, Subject], Holds]] = {
    "team": _team,
    "flavor": _flavor,
    "kind": _kind,
    "amount": _amount,
    "duration": _duration,
    "on_loan": _on_loan,
    "loans_per_week": _loans_per_week,
    "hours": _hours,
}
"""By key of approvals.Conditions, in the order in which they are told."""

CUMULATED = frozenset({"on_loan", "loans_per_week"})
"""Conditions that look at more than this one request."""
