"""The times of a loan that repeats, from what was said in wall time: `every week fri 18:00 to mon 08:00 until 31 Jan`.

`expand` turns it into instants once, when it is asked for, by the rules for single times: one that a clock change skips
or doubles is settled and said (core/wording/clock_changes). Called by the parser of the request line, and by
flows/submit_request for the form. How many times and how far ahead is for core/limits to say.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from bot.core.drafts import AskField
from bot.core.durations import format_duration
from bot.core.errors import Refused
from bot.core.series import Every, Repeated, Series, Span
from bot.core.wording.clock_changes import MONTHS, WEEKDAYS, day_text, settle_local

DAY = timedelta(days=1)
MOST_TIMES = 366
"""Whatever policy says: no more are ever worked out."""
_MOST_NOTES = 2
_WORKING_DAYS = 5


@dataclass(frozen=True, slots=True)
class Pattern:
    """What repeats, in wall time. Exactly one of `ends` and `length` is set."""

    every: Every
    first: date
    """None begins before; of `Every.WEEK` its weekday is the one."""
    last: date
    """None begins after."""
    begins: time
    ends: time | None = None
    nights: int = 0
    """Days from the start to `ends`."""
    length: timedelta | None = None


def expand(pattern: Pattern, zone: ZoneInfo, now: datetime) -> tuple[Series, tuple[str, ...]]:
    """The series with sentences on how its times were read. Raises Refused, with words that say what to type."""
    spans: list[Span] = []
    notes: list[str] = []
    for day in _days(pattern):
        span, said = _span(pattern, day, zone, now)
        if span.start <= now:
            continue
        if not spans and day > pattern.last:
            raise Refused(_ends_too_soon(day, pattern.begins), AskField.REPEAT_UNTIL)
        if day > pattern.last:
            break
        spans.append(span)
        notes += said
        if len(spans) > MOST_TIMES:
            raise Refused(f"That is more than {MOST_TIMES} times. Say an earlier until.", AskField.REPEAT_UNTIL)
    _check_apart(pattern, spans)
    series = Series(pattern.every, described(pattern), zone.key, tuple(spans))
    return series, tuple(dict.fromkeys(notes))[:_MOST_NOTES]


def repeated(said: Repeated, first: Span, zone: ZoneInfo) -> Pattern:
    """The pattern whose first time is this one, seen in the asker's zone. Raises Refused."""
    start, end = first.start.astimezone(zone), first.end.astimezone(zone)
    if said.every is Every.WEEKDAY and start.weekday() >= _WORKING_DAYS:
        raise Refused(f"{day_text(start)} is no weekday: choose a start from Mon to Fri.", AskField.START_AT)
    last = said.last.astimezone(zone)
    return Pattern(
        every=said.every,
        first=start.date(),
        last=last.date() - (DAY if last.time() < start.time() else timedelta()),
        begins=start.time(),
        ends=end.time(),
        nights=(end.date() - start.date()).days,
    )


def described(pattern: Pattern) -> str:
    """In words: "every Fri 18:00 to Mon 08:00", "every day 20:00 to 06:00", "every weekday 9:00 for 8 h"."""
    weekly = pattern.every is Every.WEEK
    day = WEEKDAYS[pattern.first.weekday()] if weekly else pattern.every.value
    if pattern.ends is None:
        assert pattern.length is not None
        return f"every {day} {pattern.begins:%H:%M} for {format_duration(pattern.length)}"
    ends = f"{pattern.ends:%H:%M}"
    if weekly and pattern.nights:
        ends = f"{WEEKDAYS[(pattern.first + pattern.nights * DAY).weekday()]} {ends}"
    return f"every {day} {pattern.begins:%H:%M} to {ends}"


def date_words(day: date) -> str:
    """As people type it: "31 Jan 2027"."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _days(pattern: Pattern) -> Iterator[date]:
    """Local days on which it begins, without end."""
    day = pattern.first
    step = 7 * DAY if pattern.every is Every.WEEK else DAY
    while True:
        if pattern.every is not Every.WEEKDAY or day.weekday() < _WORKING_DAYS:
            yield day
        day += step


def _span(pattern: Pattern, day: date, zone: ZoneInfo, now: datetime) -> tuple[Span, list[str]]:
    """One time, with what a clock change made of it."""
    start, note = settle_local(datetime.combine(day, pattern.begins), zone, now)
    notes = [note] if note else []
    if pattern.ends is None:
        assert pattern.length is not None
        return Span(start, start + pattern.length), [_plain(one) for one in notes]
    end, note = settle_local(datetime.combine(day + pattern.nights * DAY, pattern.ends), zone, now)
    notes += [note] if note else []
    return Span(start, end), [_plain(one) for one in notes]


def _plain(note: str) -> str:
    """Without the advice to write an offset: that is for a single time."""
    return note.partition(" For the second")[0]


def _ends_too_soon(first: date, begins: time) -> str:
    return (
        f"The first would begin {day_text(datetime.combine(first, begins))} {begins:%H:%M}, after the end. "
        f"Say a later one, like until {date_words(first + 28 * DAY)}."
    )


def _check_apart(pattern: Pattern, spans: list[Span]) -> None:
    if any(span.end <= span.start for span in spans):
        raise Refused("Each would end before it begins. Say a later end, like to 08:00.", AskField.UNTIL)
    for one, following in pairwise(spans):
        if one.end > following.start:
            lasts, apart = format_duration(one.end - one.start), format_duration(following.start - one.start)
            instead = "Make each shorter" if pattern.every is Every.WEEK else "Make each shorter, or repeat every week"
            overlap = f"Each lasts {lasts} and the next begins after {apart}: they overlap."
            raise Refused(f"{overlap} {instead}.", AskField.UNTIL)
