"""The words after `every` in a request: `week fri 18:00 to mon 08:00`, `day 20:00 to 06:00`, `fri 18:00` with `for 8h`.

Called by the parser of the request line. The words alone; what they come to needs an end, and is core/repeating's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import time

from bot.core.series import Every
from bot.core.wording.clock_changes import WEEKDAYS
from bot.core.wording.faults import Misread, Taken, shown
from bot.core.wording.near import near
from bot.core.wording.when import Clock, Day, take_piece

_PERIODS: dict[str, Every] = {
    **dict.fromkeys(("day", "night", "days", "nights"), Every.DAY),
    **dict.fromkeys(("weekday", "weekdays", "workday"), Every.WEEKDAY),
    **dict.fromkeys(("week", "weeks"), Every.WEEK),
}
_TO = ("to", "till", "til", "-", "–", "—")
_LIKE = {
    Every.WEEK: "week fri 18:00 to mon 08:00",
    Every.DAY: "day 20:00 to 06:00",
    Every.WEEKDAY: "weekday 20:00 to 06:00",
}


@dataclass(frozen=True, slots=True)
class EveryWords:
    """Wall times of the asker's zone. Weekdays are 0 for Monday; only `Every.WEEK` has them."""

    every: Every
    begins: time
    weekday: int | None = None
    ends: time | None = None
    """None: `for` says how long each is."""
    end_weekday: int | None = None
    """None: the first such time after the start."""

    @property
    def nights(self) -> int:
        """Days from the start to the end."""
        overnight = self.ends is not None and self.ends <= self.begins
        if self.weekday is None or self.end_weekday is None:
            return int(overnight)
        days = (self.end_weekday - self.weekday) % 7
        return 7 if not days and overnight else days


@dataclass(frozen=True, slots=True)
class _Moment:
    """A day of the week and a time of day, as far as they were said."""

    weekday: int | None
    clock: time | None
    used: int


def take_every(words: Sequence[str]) -> Taken[EveryWords]:
    """What the head of `words`, which stand behind `every`, says."""
    every, at = _PERIODS.get(words[0].lower()), 1
    if every is None:
        every, at = Every.WEEK, 0  # `every fri`
    start = _moment(words[at:], every)
    if isinstance(start, Misread):
        return Taken(start, min(len(words), at + 1))
    if at == 0 and not start.used:
        return Taken(_no_period(words[0]), 1)
    used = at + start.used
    fault = _checked(every, start)
    if fault or used >= len(words) or words[used].lower() not in _TO:
        return Taken(fault or _said(every, start, None), max(1, used))
    end = _moment(words[used + 1 :], every)
    whole = used + 1 + (0 if isinstance(end, Misread) else end.used)
    if isinstance(end, Misread):
        return Taken(end, min(len(words), whole + 1))
    if end.clock is None or (end.weekday is not None and every is not Every.WEEK):
        return Taken(_like(every, "The end of each needs a time"), whole)
    return Taken(_said(every, start, end), whole)


def _said(every: Every, start: _Moment, end: _Moment | None) -> EveryWords:
    assert start.clock is not None
    return EveryWords(
        every, start.clock, start.weekday, end.clock if end else None, end.weekday if end is not None else None
    )


def _checked(every: Every, start: _Moment) -> Misread | None:
    if every is not Every.WEEK and start.weekday is not None:
        day = WEEKDAYS[start.weekday].lower()
        clock = f"{start.clock:%H:%M}" if start.clock else "18:00"
        sentence = f"every {every.value} has no day of the week. For one day write every week {day}."
        return Misread(sentence, (f"week {day} {clock} to 08:00",))
    if every is Every.WEEK and start.weekday is None:
        return _like(every, "Say the day of the week")
    return None if start.clock else _like(every, "Say the time of day")


def _moment(words: Sequence[str], every: Every) -> _Moment | Misread:
    """As much of `words` as is a day of the week or a time of day."""
    day: Day | None = None
    clock: Clock | None = None
    used = 0
    while used < len(words) and words[used].lower() not in _TO:
        taken = take_piece(words[used:], day, clock)
        if taken is None:
            break
        if isinstance(taken.value, Misread):
            return taken.value
        found, at_time = taken.value
        if (found and found.weekday is None) or (at_time and at_time.offset):
            return _like(every, "A series takes days of the week and times of your own zone")
        day, clock = found or day, at_time or clock
        used += taken.used
    return _Moment(day.weekday if day else None, clock.time if clock else None, used)


def _no_period(word: str) -> Misread:
    """A word that is neither a period nor a day of the week."""
    found = near(word.lower(), (*_PERIODS, *(day.lower() for day in WEEKDAYS)))
    meant = next((_PERIODS[one] for one in found if one in _PERIODS), Every.WEEK)
    sentence = f'"{shown(word)}" is no day of the week and no period: week, weekday or day.'
    return Misread(sentence, (_LIKE[meant],))


def _like(every: Every, what: str) -> Misread:
    return Misread(f"{what}, like every {_LIKE[every]}.", (_LIKE[every],))
