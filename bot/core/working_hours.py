"""How much of a stretch of time lies in somebody's working hours. Asked by core/escalations."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from bot.core.policy.approvals import WEEKDAYS, Hours

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Shift:
    """Working hours, and the zone they are in."""

    hours: Hours
    zone: str


def worked(since: datetime, until: datetime, shift: Shift | None) -> timedelta:
    """The part of `since` to `until` that is working time, in elapsed time; all of it without a shift."""
    if until <= since:
        return timedelta(0)
    if shift is None:
        return until - since
    parts = (min(until, end) - max(since, begin) for begin, end in _stretches(since, until, shift))
    return sum((part for part in parts if part > timedelta(0)), timedelta(0))


def _stretches(since: datetime, until: datetime, shift: Shift) -> Iterator[tuple[datetime, datetime]]:
    """Begin and end of each working day that may touch the time, as instants: a day's clocks may change in between."""
    hours, zone = shift.hours, ZoneInfo(shift.zone)
    day, last = since.astimezone(zone).date() - _DAY, until.astimezone(zone).date()
    while day <= last:
        if WEEKDAYS[day.weekday()] in hours.days:
            ends = day if hours.after < hours.until else day + _DAY
            begin = datetime.combine(day, hours.after, zone).astimezone(UTC)
            yield begin, datetime.combine(ends, hours.until, zone).astimezone(UTC)
        day += _DAY
