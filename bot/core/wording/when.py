"""The words of a WHEN taken apart: which day and which time of day they name, before any zone or clock is looked at.

Only `bot.core.instants` calls this.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, time, timedelta, timezone

from bot.core.wording.clock_changes import MONTHS, WEEKDAYS
from bot.core.wording.faults import Misread, Taken, shown
from bot.core.wording.text import DASHES

FULL_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTH_WORDS = {name.lower(): n for n, name in enumerate(MONTHS, start=1)}
_MONTH_WORDS |= {name.lower(): n for n, name in enumerate(FULL_MONTHS, start=1)} | {"sept": 9}
FULL_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKDAY_WORDS = {name.lower(): n for n, name in enumerate(WEEKDAYS)} | {
    name.lower(): n for n, name in enumerate(FULL_DAYS)
}
_WEEKDAY_WORDS |= {"tues": 1, "weds": 2, "thur": 3, "thurs": 3}
_AHEAD_WORDS = {"today": 0, "tomorrow": 1}

_DAY_NUMBER = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th|\.)?")
_YEAR = re.compile(r"[0-9]{4}")
_ISO_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt](.+))?")
_CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2})(?::([0-9]{2}))?)?(am|pm)?(z|utc|[+-][0-9]{2}:?[0-9]{2})?")
_OFFSET = re.compile(r"z|utc|[+-][0-9]{2}:?[0-9]{2}")
HYPHENS = str.maketrans(dict.fromkeys(DASHES, "-"))
"""Every dash as a hyphen, for `str.translate`."""


@dataclass(frozen=True, slots=True)
class Day:
    """A day as typed: a weekday, so many days ahead, or a day of a month (`year` None: the nearest).

    Of a day of a month `weekday` may say again which one it is, as the bot itself writes it: "Fri 4 Dec".
    """

    words: str
    weekday: int | None = None
    ahead: int | None = None
    month: int | None = None
    day: int = 1
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day as typed, with the offset if one was written."""

    time: time
    offset: timezone | None = None


WhenPiece = tuple[Day | None, Clock | None]


def take_piece(words: Sequence[str], day: Day | None, clock: Clock | None) -> Taken[WhenPiece] | None:
    """What the head of `words` adds to a day and a time of day that may be known already; None if nothing."""
    takers: list[Callable[[Sequence[str]], Taken[WhenPiece] | None]] = []
    if day is None:
        takers += [_take_named_day]
    if day is None or (day.weekday is not None and day.month is None):
        takers += [_take_iso, _take_day_of_month]
    if clock is None:
        takers += [_take_clock]
    return next((taken for taker in takers if (taken := taker(words))), None)


def _take_iso(words: Sequence[str]) -> Taken[WhenPiece] | None:
    match = _ISO_DAY.fullmatch(words[0].translate(HYPHENS))
    if not match:
        return None
    year, month, number, rest = int(match[1]), int(match[2]), int(match[3]), match[4]
    day = _valid_day(words[0][:10], month, number, year)
    if isinstance(day, Misread) or rest is None:
        return Taken(day if isinstance(day, Misread) else (day, None), 1)
    clock = _take_clock([rest, *words[1:]])
    if clock is None or isinstance(clock.value, Misread):
        return Taken(Misread(f'"{shown(rest)}" is not a time of day.', (f"{day.words} 18:00",)), 1)
    return Taken((day, clock.value[1]), clock.used)


def _take_named_day(words: Sequence[str]) -> Taken[WhenPiece] | None:
    word = words[0].lower()
    if word in _WEEKDAY_WORDS:
        return Taken((Day(words[0], weekday=_WEEKDAY_WORDS[word]), None), 1)
    if word in _AHEAD_WORDS:
        return Taken((Day(words[0], ahead=_AHEAD_WORDS[word]), None), 1)
    return None


def _take_day_of_month(words: Sequence[str]) -> Taken[WhenPiece] | None:
    """`4 Dec`, `Dec 4`, each with or without a year."""
    if len(words) < 2:
        return None
    number, month = words[0].lower(), words[1].lower()
    if number in _MONTH_WORDS:
        number, month = month, number
    match = _DAY_NUMBER.fullmatch(number)
    if not match or month not in _MONTH_WORDS:
        return None
    has_year = len(words) > 2 and _YEAR.fullmatch(words[2])
    used = 3 if has_year else 2
    day = _valid_day(" ".join(words[:used]), _MONTH_WORDS[month], int(match[1]), int(words[2]) if has_year else None)
    return Taken(day if isinstance(day, Misread) else (day, None), used)


def _valid_day(words: str, month: int, number: int, year: int | None) -> Day | Misread:
    if year == 0 or not 1 <= month <= 12 or not 1 <= number <= 31:
        return Misread(f'"{shown(words)}" is not a date.', ("tomorrow",))
    last = last_day(year or 2000, month)
    if number > last:
        when = f"{MONTHS[month - 1]} {year}" if year else MONTHS[month - 1]
        return Misread(f"There is no {number} {when}.", (f"{last} {when}",))
    return Day(words, month=month, day=number, year=year)


def last_day(year: int, month: int) -> int:
    """The number of days of a month."""
    return 31 if month == 12 else (date(year, month + 1, 1) - timedelta(days=1)).day


def _take_clock(words: Sequence[str]) -> Taken[WhenPiece] | None:
    """`18:00`, `at 18:00`, `6pm`, `6 pm`, each with or without an offset, glued or apart."""
    if words[0].lower() == "at" and len(words) > 1:
        later = _take_clock(words[1:])
        return replace(later, used=later.used + 1) if later else None
    text, used = words[0].lower().translate(HYPHENS), 1
    if len(words) > used and words[used].lower() in ("am", "pm"):
        text, used = text + words[used].lower(), used + 1
    match = _CLOCK.fullmatch(text)
    if not match or (match[2] is None and match[4] is None):
        return None
    apart = words[used].lower().translate(HYPHENS) if len(words) > used else ""
    if not match[5] and _OFFSET.fullmatch(apart):
        text, used = text + apart, used + 1
    clock = _clock(text)
    if clock is None:
        return Taken(Misread(f'"{shown(" ".join(words[:used]))}" is not a time of day.', ("18:00",)), used)
    return Taken((None, clock), used)


def _clock(text: str) -> Clock | None:
    match = _CLOCK.fullmatch(text)
    assert match is not None
    hour, minute, second = (int(match[group] or 0) for group in (1, 2, 3))
    if match[4]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match[4] == "pm" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    offset = _offset(match[5])
    return None if offset is None and match[5] else Clock(time(hour, minute, second), offset)


def _offset(text: str | None) -> timezone | None:
    if text is None:
        return None
    if text in ("z", "utc"):
        return UTC
    hours, minutes = int(text[1:3]), int(text[-2:])
    if hours > 14 or minutes > 59:
        return None
    return timezone(timedelta(hours=hours, minutes=minutes) * (-1 if text[0] == "-" else 1))
