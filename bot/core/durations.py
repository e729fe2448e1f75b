"""Lengths of time as people type and read them: `3d`, `1d12h`, `3 days`. A day is 24 hours, a week 168, always.

The parser of the request line and the forms call `parse_duration`; every message calls `format_duration`.
"""

import re
from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction
from itertools import pairwise

from bot.core.wording.faults import Misread, Taken, flat, shown

LONGEST = timedelta(days=3650)

_MINUTES = {"w": 7 * 24 * 60, "d": 24 * 60, "h": 60, "min": 1}
_WORDS = {
    "w": ("w", "wk", "wks", "week", "weeks"),
    "d": ("d", "day", "days"),
    "h": ("h", "hr", "hrs", "hour", "hours"),
    "min": ("min", "mins", "minute", "minutes"),
    "m": ("m",),
    "mo": ("mo", "month", "months"),
}
UNIT_WORDS = {word: unit for unit, words in _WORDS.items() for word in words}
"""Every word for a unit, with the unit; `m` and `mo` are known so that they can be refused in words."""
_NAMES = {"w": "weeks", "d": "days", "h": "hours", "min": "minutes", "m": "minutes", "mo": "months"}

_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
_GLUED = re.compile(rf"(?:{_NUMBER}[a-z]+)+", re.IGNORECASE | re.ASCII)
_PAIR = re.compile(rf"({_NUMBER})([a-z]+)", re.IGNORECASE | re.ASCII)
_BARE_NUMBER = re.compile(_NUMBER)


def unit_name(word: str) -> str:
    """The plural that a sentence uses for a unit word: `h` is "hours"."""
    return _NAMES[UNIT_WORDS[word.lower()]]


def parse_duration(text: str) -> timedelta | Misread:
    """`30min`, `12h`, `3d`, `2w`, `1d12h`, `3 days`: more than nothing and at most ten years, or why not."""
    words = flat(text).split()
    taken = take_duration(words)
    if taken is None or (taken.used < len(words) and not isinstance(taken.value, Misread)):
        return not_a_duration(text.strip())
    return taken.value


def take_duration(words: Sequence[str]) -> Taken[timedelta] | None:
    """The duration that `words` begin with, units getting smaller; None if they begin with no number and unit."""
    pairs: list[tuple[str, str]] = []
    used = 0
    while found := _pairs_at(words, used):
        more, count = found
        if pairs and not _smaller(pairs[-1][1], more[0][1]):
            break
        pairs += more
        used += count
    return Taken(_sum(pairs, " ".join(words[:used])), used) if pairs else None


def format_duration(length: timedelta) -> str:
    """A length in the words of messages: "3 days", "36 h", "1 h 52 min", "20 min"; seconds only below a minute.

    Raises ValueError for a negative length: say "late" or "early" with its opposite.
    """
    if length < timedelta(0):
        raise ValueError(f"a duration cannot be negative: {length}")
    minutes, seconds = divmod(int(length.total_seconds()), 60)
    days, rest = divmod(minutes, 24 * 60)
    if days and not rest:
        return "1 day" if days == 1 else f"{days} days"
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min" if minutes else f"{seconds} s"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def _pairs_at(words: Sequence[str], at: int) -> tuple[list[tuple[str, str]], int] | None:
    """Numbers with their unit words, and how many words they took: `1d12h` is one, `3 days` is two."""
    if at >= len(words):
        return None
    if _GLUED.fullmatch(words[at]):
        pairs = [(number, unit.lower()) for number, unit in _PAIR.findall(words[at])]
        return (pairs, 1) if all(unit in UNIT_WORDS for _, unit in pairs) else None
    if _BARE_NUMBER.fullmatch(words[at]) and at + 1 < len(words) and words[at + 1].lower() in UNIT_WORDS:
        return [(words[at], words[at + 1].lower())], 2
    return None


def _smaller(unit: str, following: str) -> bool:
    order = list(_WORDS)
    return order.index(UNIT_WORDS[following]) > order.index(UNIT_WORDS[unit])


def _sum(pairs: list[tuple[str, str]], text: str) -> timedelta | Misread:
    units = [UNIT_WORDS[unit] for _, unit in pairs]
    if "m" in units:
        return Misread("m can be minutes or months. Try 30min or 4w.", _readings_of_m(pairs))
    if "mo" in units:
        days = max(1, min(30 * int(Fraction(pairs[units.index("mo")][0])), LONGEST.days))
        return Misread(f"Months differ in length. Try {days}d.", (f"{days}d",))
    if any(not _smaller(one, other) for (_, one), (_, other) in pairwise(pairs)):
        return not_a_duration(text)
    minutes = sum(
        (Fraction(number) * _MINUTES[unit] for (number, _), unit in zip(pairs, units, strict=True)), Fraction(0)
    )
    return _checked(minutes, pairs, text)


def _checked(minutes: Fraction, pairs: list[tuple[str, str]], text: str) -> timedelta | Misread:
    if minutes > LONGEST / timedelta(minutes=1):
        return Misread(f'"{shown(text)}" is longer than ten years.', ("14d",))
    if not minutes:
        return Misread(f'"{shown(text)}" is no time at all.', ("3d",))
    broken = next((pair for pair in pairs if "." in pair[0]), None)
    if broken:
        whole = compact_duration(timedelta(minutes=max(1, int(minutes))))
        return Misread(f"{broken[0]} is not a whole number of {unit_name(broken[1])}. Try {whole}.", (whole,))
    return timedelta(minutes=int(minutes))


def _readings_of_m(pairs: list[tuple[str, str]]) -> tuple[str, ...]:
    minutes = "".join(f"{number}{'min' if unit == 'm' else unit}" for number, unit in pairs)
    if len(pairs) > 1 or "." in pairs[0][0]:
        return (minutes,)
    return minutes, f"{4 * int(pairs[0][0])}w"


def compact_duration(length: timedelta) -> str:
    """As people type it: "3d", "1h52min"."""
    return format_duration(length).replace(" days", "d").replace(" day", "d").replace(" h", "h").replace(" ", "")


def not_a_duration(text: str) -> Misread:
    """What to say of a word that is no duration."""
    return Misread(f'"{shown(text)}" is not a duration. Durations look like 3d, 12h or 1d12h.', ("3d",))
