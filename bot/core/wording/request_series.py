"""A request that repeats, once its whole line is read: `every`, the end and the start come to a series, or to a fault.

Called by core/wording/request.
"""

from dataclasses import replace
from datetime import date, datetime, timedelta

from bot.core.errors import Refused
from bot.core.repeating import Pattern, date_words, expand
from bot.core.wording.every_words import EveryWords
from bot.core.wording.faults import Misread
from bot.core.wording.line import Line, Reading, stumble
from bot.core.wording.request_words import RequestWords

EVERY = "every"
_DAY = timedelta(days=1)
_FOUR_WEEKS = 28 * _DAY


def with_series(line: Line, reading: Reading[RequestWords]) -> Reading[RequestWords]:
    """The reading with its series; as it is if it stumbled or nothing repeats."""
    said = reading.said
    if reading.stumble is not None or said.every is None:
        return reading
    if said.until is None:
        end = date_words(_today(line) + _FOUR_WEEKS)
        misread = Misread(f"Say until when it repeats, like until {end}.")
        return _faulty(line, said, misread, f"until {end}")
    if said.every.ends is None and said.duration is None:
        return _faulty(line, said, Misread("Say how long each is, like to 08:00 or for 8h."), "for 8h")
    if said.every.ends is not None and said.duration is not None:
        return _faulty(line, said, Misread("Say to or for, not both: each has one end."))
    try:
        series, notes = expand(_pattern(line, said, said.every), line.context.zone, line.context.now)
    except Refused as error:
        return _faulty(line, said, Misread(error.sentence))
    read_as = said.until.notes if said.until.dated else ()  # of a series the whole day counts
    kept = tuple(note for note in said.notes if note not in read_as)
    return replace(reading, said=replace(said, series=series, notes=(*kept, *notes)))


def _pattern(line: Line, said: RequestWords, every: EveryWords) -> Pattern:
    zone = line.context.zone
    earliest = max(line.context.now, said.starting.at) if said.starting else line.context.now
    local = earliest.astimezone(zone)
    first = local.date()
    if said.starting and not said.starting.dated and local.time() > every.begins:
        first += _DAY
    if every.weekday is not None:
        first += (every.weekday - first.weekday()) % 7 * _DAY
    return Pattern(
        every=every.every,
        first=first,
        last=_last(line, said, every),
        begins=every.begins,
        ends=every.ends,
        nights=every.nights,
        length=said.duration,
    )


def _last(line: Line, said: RequestWords, every: EveryWords) -> date:
    """The last day on which it may begin: a day that was said counts whole."""
    assert said.until is not None
    until: datetime = said.until.at.astimezone(line.context.zone)
    return until.date() - (_DAY if not said.until.dated and until.time() < every.begins else timedelta())


def _today(line: Line) -> date:
    return line.context.now.astimezone(line.context.zone).date()


def _faulty(line: Line, said: RequestWords, misread: Misread, more: str = "") -> Reading[RequestWords]:
    """The fault, at `every` and what follows it; the line with `more` in it works, if that is what is missing."""
    at = next(index for index, token in enumerate(line.tokens) if token.keyword == EVERY)
    until = at + 1 + len(line.words(at + 1))
    found = stumble(line, misread, at, until)
    if not more:
        return Reading(said, found)
    whole = line.text[line.tokens[0].start :].strip()
    head, because, reason = _before_the_reason(line, whole)
    return Reading(said, found, (f"/gpu-quota {line.verb} {head.strip()} {more}{because}{reason}",))


def _before_the_reason(line: Line, whole: str) -> tuple[str, str, str]:
    """A reason takes all to the end of the line, so what is added stands before it."""
    token = next((token for token in line.tokens if token.keyword == "because"), None)
    if token is None:
        return whole, "", ""
    cut = token.start - line.tokens[0].start
    return whole[:cut], " ", whole[cut:]
