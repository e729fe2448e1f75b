"""Faults of a typed line, as values: what is wrong, where it stands, and a line that works.

The parsers of single values (`bot.core.amounts`, `durations`, `instants`) return a `Misread`, which knows no line. The
parsers of lines turn the first of them into the `UsageFault` that the views show. Nothing here is ever raised.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

WINDOW_COLUMNS = 40
"""Columns of the shown part of a line: a caret under it survives the width of a phone."""
SHOWN_CHARACTERS = 32
"""Characters of somebody's word that a sentence repeats."""

LISTED_NAMES = 3
LISTED_CHARACTERS = 22

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Misread:
    """Why words were not understood: a full sentence, and what could stand in their place, the best first."""

    sentence: str
    instead: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken(Generic[_T]):
    """What the head of a list of words says: a value or a `Misread`, read from `words[since:used]`."""

    value: _T | Misread
    used: int
    since: int = 0


@dataclass(frozen=True, slots=True)
class UsageFault:
    """A line that was not understood.

    `window` is the part of the line around the fault, at most 40 columns; `caret` a line of spaces and `^` to be set
    under it; `try_line` a line that works; `choices` all such lines if there are several readings (one button each).
    """

    sentence: str
    window: str
    caret: str
    try_line: str
    choices: tuple[str, ...] = ()


def listed(names: Sequence[str]) -> str:
    """The first few of some names, for a sentence that fits a notification."""
    few = ", ".join(shown(name, most=LISTED_CHARACTERS) for name in names[:LISTED_NAMES])
    return few + (", …" if len(names) > LISTED_NAMES else "")


def is_gap(char: str) -> bool:
    """Whether a character separates words: any space, and what cannot be seen (control and direction marks)."""
    return char.isspace() or unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zs", "Zl", "Zp"}


def flat(text: str) -> str:
    """The text with every gap as one plain space, so that it stays on one line and no mark turns it around."""
    return "".join(" " if is_gap(char) else char for char in text)


def shown(text: str, most: int = SHOWN_CHARACTERS) -> str:
    """Somebody's word as a sentence repeats it: flat, and cut in the middle if it is long."""
    if len(text) <= most:
        return flat(text)
    head = most // 2
    return flat(text[:head] + "…" + text[len(text) - (most - head - 1) :])


def columns(text: str) -> int:
    """Columns that a text takes in a fixed-width font: two for wide characters, as in Chinese."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def point_at(text: str, start: int, end: int) -> tuple[str, str]:
    """The window around `text[start:end]` (not empty) and the carets under it."""
    left, right = 0, len(text)
    if columns(text[: WINDOW_COLUMNS + 1]) > WINDOW_COLUMNS:
        end = _fitting_end(text, start, end)
        left, right = _grown(text, start, end)
    before = ("…" if left else "") + text[left:start]
    window = before + text[start:right] + ("…" if right < len(text) else "")
    return flat(window), " " * columns(before) + "^" * columns(text[start:end])


def _grown(text: str, left: int, right: int) -> tuple[int, int]:
    """The part with as much around it, on both sides alike, as fits between two dots."""
    room = WINDOW_COLUMNS - 2 - columns(text[left:right])
    while True:
        before, after = text[left - 1 : left] if left else "", text[right : right + 1]
        if before and columns(before) <= room:
            left, room = left - 1, room - columns(before)
        else:
            before = ""
        if after and columns(after) <= room:
            right, room = right + 1, room - columns(after)
        elif not before:
            return left, right


def _fitting_end(text: str, start: int, end: int) -> int:
    """Where to stop pointing so that the offending part itself fits into the window between two dots."""
    room = WINDOW_COLUMNS - 2
    for index in range(start, end):
        room -= columns(text[index])
        if room < 0:
            return index
    return end
