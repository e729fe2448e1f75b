"""Reading the words after a subcommand one part at a time; what every subcommand's parser shares.

A parser is one function that reads the part at a position and says either what is known then, or where it stumbled.
`read_parts` calls it until the line ends. After the first stumble it goes on, only to keep what else is understood for
the corrected line.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time
from typing import Generic, TypeVar
from zoneinfo import ZoneInfo

from bot.core.instants import END_OF_WORKING_DAY
from bot.core.wording.faults import Misread, flat, shown
from bot.core.wording.text import clip_reason
from bot.core.wording.tokens import REASON, Token
from bot.core.wording.vocabulary import NO_NAMES, Vocabulary

COMMAND = "/gpu-quota"
_LOOKED_AT_AFTER_A_STUMBLE = 24

W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Context:
    """What a line is read against: the aware `now`, the asker's zone and names, policy's most per request."""

    now: datetime
    zone: ZoneInfo
    vocabulary: Vocabulary = NO_NAMES
    limit: int | None = None
    workday_end: time = END_OF_WORKING_DAY


@dataclass(frozen=True, slots=True)
class Line:
    """The words after a subcommand (`verb`), with the whole text for positions."""

    text: str
    verb: str
    tokens: tuple[Token, ...]
    context: Context

    def words(self, at: int) -> list[str]:
        """The words from token `at` up to the next keyword."""
        found: list[str] = []
        for token in self.tokens[at:]:
            if token.keyword:
                break
            found.append(token.text)
        return found


@dataclass(frozen=True, slots=True)
class Step(Generic[W]):
    """A part was understood: all that is known now, the token to go on with, and the part as the bot would write it."""

    said: W
    at: int
    piece: str


@dataclass(frozen=True, slots=True)
class Stumble:
    """A part was not understood: why, where it stands in the text, where to go on, and parts that would work."""

    misread: Misread
    start: int
    end: int
    at: int
    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading(Generic[W]):
    """All that was understood, the first stumble if there was one, and then the corrected lines, the best first."""

    said: W
    stumble: Stumble | None = None
    lines: tuple[str, ...] = ()


def read_parts(line: Line, nothing: W, read: Callable[[Line, W, int], Step[W] | Stumble]) -> Reading[W]:
    """Reads the whole line, beginning with `nothing` said."""
    said, at = nothing, 0
    first: Stumble | None = None
    before: list[str] = []
    after: list[str] = []
    end = len(line.tokens)
    while at < end:
        part = read(line, said, at)
        at = part.at
        if isinstance(part, Step):
            said = part.said
            (after if first else before).append(part.piece)
        elif first is None:
            first = part
            end = min(end, at + _LOOKED_AT_AFTER_A_STUMBLE)
    if first is None:
        return Reading(said)
    lines = tuple(_write(line.verb, [*before, piece, *after]) for piece in first.pieces or ("",))
    return Reading(said, first, lines)


def stumble(line: Line, misread: Misread, at: int, until: int, prefix: str = "") -> Stumble:
    """A stumble over tokens `at` to `until`, after which the line goes on; `prefix` is the keyword to repeat."""
    tokens = line.tokens[at:until]
    pieces = tuple(f"{prefix} {instead}".strip() for instead in misread.instead)
    return Stumble(misread, tokens[0].start, tokens[-1].end, until, pieces)


def not_understood(line: Line, at: int) -> Stumble:
    """The stumble over a word that means nothing here."""
    return stumble(line, Misread(f'"{shown(line.tokens[at].text)}" is not understood here.'), at, at + 1)


def reason_piece(reason: str) -> str:
    """A reason as the corrected line repeats it."""
    return f"{REASON} {flat(clip_reason(reason))}"


def _write(verb: str, pieces: list[str]) -> str:
    """The parts as one line; a reason takes all to the end, so it comes last."""
    ordered = sorted((piece for piece in pieces if piece), key=lambda piece: piece.startswith(f"{REASON} "))
    return " ".join([COMMAND, verb, *ordered])
