"""A loan that repeats: what was said, and the instants at which each time begins and ends.

One request asks for the whole series and one decision covers it; each time becomes a loan of its own. Made by
core/repeating, kept with the request, read by verdicts and views.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple


class Every(StrEnum):
    """How often it begins."""

    DAY = "day"
    WEEKDAY = "weekday"
    """Monday to Friday."""
    WEEK = "week"


class Span(NamedTuple):
    """One time of a series; both are aware."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Repeated:
    """What a form says: the loan that it asks for, again and again."""

    every: Every
    last: datetime
    """None begins after it."""


@dataclass(frozen=True, slots=True)
class Series:
    """What is asked for, stored and decided."""

    every: Every
    words: str
    """Ours: "every Fri 18:00 to Mon 08:00"."""
    zone: str
    """IANA name of the asker's, in which the words are."""
    spans: tuple[Span, ...]
    """At least one, in order, and none begins before the one before it ends."""

    def left(self, now: datetime) -> tuple[Span, ...]:
        """Those that are not over."""
        return tuple(span for span in self.spans if span.end > now)

    def longest(self, now: datetime) -> timedelta:
        """Of those that are not over, as long as each still is; nothing if all are."""
        return max((span.end - max(now, span.start) for span in self.left(now)), default=timedelta())


def times(count: int) -> str:
    """ "9 times", "1 time"."""
    return "1 time" if count == 1 else f"{count:,} times"


def to_json(series: Series) -> dict[str, Any]:
    """As JSON values, for the database."""
    spans = [[one.astimezone(UTC).isoformat() for one in span] for span in series.spans]
    return {"every": series.every.value, "words": series.words, "zone": series.zone, "spans": spans}


def from_json(values: Mapping[str, Any]) -> Series:
    """The inverse of `to_json`."""
    spans = tuple(Span(datetime.fromisoformat(start), datetime.fromisoformat(end)) for start, end in values["spans"])
    return Series(Every(values["every"]), values["words"], values["zone"], spans)
