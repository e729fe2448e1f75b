"""WHEN as people type it (`fri 18:00`, `4 Dec`, `2026-12-04T18:00+01:00`), read in their time zone into UTC instants.

Called by the parser of the request line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from bot.core.durations import take_duration
from bot.core.wording.clock_changes import (
    MONTHS,
    WEEKDAYS,
    day_text,
    day_with_year,
    offset_text,
    settle_local,
)
from bot.core.wording.faults import Misread, Taken, shown
from bot.core.wording.when import FULL_DAYS, FULL_MONTHS, HYPHENS, Clock, Day, last_day, take_piece

END_OF_WORKING_DAY = time(18)
YEARS_AHEAD = 10

_SLASHED = re.compile(r"([0-9]{1,2})[/.-]([0-9]{1,2})(?:[/.-](?:[0-9]{2}|[0-9]{4}))?\.?")
_BARE_HOUR = re.compile(r"[0-9]{1,2}")


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time: `at` is aware and in UTC; `notes` are sentences about how it was read, to be repeated."""

    at: datetime
    notes: tuple[str, ...] = ()
    dated: bool = False
    """Whether only a day was said, and no time of it."""


@dataclass(frozen=True, slots=True)
class _Asker:
    now: datetime
    zone: tzinfo
    workday_end: time


def take_instant(
    words: Sequence[str], now: datetime, zone: ZoneInfo, workday_end: time = END_OF_WORKING_DAY
) -> Taken[Instant]:
    """The instant that `words` begin with: a day, a time of day, or both in either order."""
    day: Day | None = None
    clock: Clock | None = None
    used = 0
    while used < len(words):
        taken = take_piece(words[used:], day, clock)
        if taken is None:
            break
        if isinstance(taken.value, Misread):
            whole = tuple(" ".join((*words[:used], instead)) for instead in taken.value.instead)
            return Taken(replace(taken.value, instead=whole), used + taken.used, since=used)
        found_day, found_clock = taken.value
        if day and found_day:
            found_day = replace(found_day, weekday=day.weekday)
        day, clock = found_day or day, found_clock or clock
        used += taken.used
    if clock is None and day is not None and len(words) == used + 1 and _BARE_HOUR.fullmatch(words[used]):
        return Taken(_bare_hour(words[:used], words[used]), used + 1, since=used)
    if day is None and clock is None:
        return Taken(_no_time_at_all(words, now, zone), min(1, len(words)))
    return Taken(_settle(day, clock, _Asker(now, zone, workday_end)), used)


def _settle(day: Day | None, clock: Clock | None, asker: _Asker) -> Instant | Misread:
    zone = (clock and clock.offset) or asker.zone
    at_time = clock.time if clock else asker.workday_end
    local = datetime.combine(_date_of(day, asker.now.astimezone(zone).date()), at_time)
    if refused := _out_of_reach(local, asker.now) or _wrong_weekday(day, local):
        return refused
    offset = offset_text(datetime.combine(local, at_time, zone)) if clock and clock.offset else ""
    at, note = settle_local(local, zone, asker.now)
    notes = [] if clock else [f"A day without a time means {at_time:%H:%M}, the end of the working day."]
    if day and day.weekday is not None and day.month is None and at <= asker.now:
        local += timedelta(days=7)
        at, note = settle_local(local, zone, asker.now)
        means = f"{local.day} {MONTHS[local.month - 1]}"
        notes.append(f"{WEEKDAYS[day.weekday]} means {means}: today's {at_time:%H:%M} has passed.")
    if at <= asker.now:
        return _passed(local, asker.now, offset)
    return Instant(at, (*notes, note) if note else tuple(notes), dated=clock is None)


def _date_of(day: Day | None, today: date) -> date:
    """The date that is meant; for a day of the month without a year the nearest one, passed or not."""
    if day is None:
        return today
    if day.weekday is not None and day.month is None:
        return today + timedelta(days=(day.weekday - today.weekday()) % 7)
    if day.ahead is not None:
        return today + timedelta(days=day.ahead)
    assert day.month is not None
    if day.year is not None:
        return date(day.year, day.month, day.day)
    years = (today.year + n for n in range(-1, 9))
    dates = [date(year, day.month, day.day) for year in years if day.day <= last_day(year, day.month)]
    return min(dates, key=lambda one: abs(one - today))


def _out_of_reach(local: datetime, now: datetime) -> Misread | None:
    """Refuses far years before any arithmetic in them could overflow."""
    if local.year < now.year - 1:
        return _passed(local, now)
    if local.year > now.year + YEARS_AHEAD:
        return Misread(f"{day_with_year(local)} is more than {YEARS_AHEAD} years away.", ("tomorrow",))
    return None


def _wrong_weekday(day: Day | None, local: datetime) -> Misread | None:
    if day is None or day.month is None or day.weekday in (None, local.weekday()):
        return None
    said = f"{local.day} {MONTHS[local.month - 1]} {local.year} is a {FULL_DAYS[local.weekday()]}."
    return Misread(said, (f"{day_with_year(local)} {local:%H:%M}",))


def _passed(local: datetime, now: datetime, offset: str = "") -> Misread:
    return Misread(f"{_moment_text(local, now)} has passed.", (f"tomorrow {local:%H:%M}{offset}",))


def _moment_text(local: datetime, now: datetime) -> str:
    day = day_text(local) if local.year == now.year else day_with_year(local)
    return f"{day} {local:%H:%M}"


def _no_time_at_all(words: Sequence[str], now: datetime, zone: tzinfo) -> Misread:
    """What a word that is no WHEN may have meant: two days, an hour or a day, a duration."""
    word = words[0] if words else ""
    if slashed := _SLASHED.fullmatch(word.translate(HYPHENS)):
        return _slashed_date(word, int(slashed[1]), int(slashed[2]))
    if (taken := take_duration(words)) and not isinstance(taken.value, Misread):
        return Misread(f'"{shown(" ".join(words[: taken.used]))}" is a duration: write it after for.')
    if _BARE_HOUR.fullmatch(word):
        return _bare_number(int(word), now.astimezone(zone).date())
    return _not_a_time(word)


def _slashed_date(word: str, one: int, other: int) -> Misread:
    readings = dict.fromkeys((day, month) for day, month in ((one, other), (other, one)) if _exists(day, month))
    names = [f"{day} {FULL_MONTHS[month - 1]}" for day, month in readings]
    instead = tuple(f"{day} {MONTHS[month - 1]}" for day, month in readings)
    if len(names) == 2:
        return Misread(f'"{shown(word)}" can be {names[0]} or {names[1]}.', instead)
    if names:
        return Misread(f'"{shown(word)}" is {names[0]}: write {instead[0]}.', instead)
    return _not_a_time(word)


def _exists(day: int, month: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= last_day(2000, month)


def _bare_number(number: int, today: date) -> Misread:
    if number > 31:
        return _not_a_time(str(number))
    hour = f"{number}:00"
    month = today.month if number > today.day else today.month % 12 + 1
    dated = (f"{number} {MONTHS[month - 1]}",) if number and _exists(number, month) else ()
    if number > 23:
        return Misread(f"{number} is not a time of day. For the {_ordinal(number)} write the month too.", dated)
    if not number:
        return Misread("0 is not a time. Midnight is 0:00.", ("tomorrow 0:00",))
    return Misread(f"{number} can be {hour} or the {_ordinal(number)}.", (hour, *dated))


def _bare_hour(day: Sequence[str], number: str) -> Misread:
    """`fri 18`: neither read as an hour nor left to be taken for an amount."""
    clock = f"{int(number)}:00" if int(number) < 24 else "18:00"
    return Misread(f"{number} alone is not a time of day. Write {clock}.", (" ".join((*day, clock)),))


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _not_a_time(word: str) -> Misread:
    return Misread(
        f'"{shown(word)}" is not a time. Times look like fri 18:00, 4 Dec or 2026-12-04 18:00.', ("tomorrow",)
    )
