"""The words after `extend`: which loan is to end later, and by how much or until when.

Called by `commands.parse_command`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.core.durations import not_a_duration, take_duration
from bot.core.instants import Instant, take_instant
from bot.core.wording.faults import Misread, Taken
from bot.core.wording.line import Line, Reading, Step, Stumble, not_understood, read_parts, reason_piece, stumble
from bot.core.wording.request_ids import format_request_id, parse_request_id

KEYWORDS = {
    **dict.fromkeys(("by", "for"), "by"),
    "until": "until",
    **dict.fromkeys(("because", "due to", "reason"), "because"),
}
_NEEDS = {
    "by": "a duration, like by 2d",
    "until": "a time, like until fri 18:00",
    "because": "words, like because last ablation runs",
}


@dataclass(frozen=True, slots=True)
class ExtendWords:
    """`extend [Q] by DUR | until WHEN [because WORDS]`; at most one of `by` and `until` is set."""

    request: int | None = None
    by: timedelta | None = None
    until: Instant | None = None
    reason: str | None = None


_Part = Step[ExtendWords] | Stumble


def read_extend(line: Line) -> Reading[ExtendWords]:
    """Reads the words after `extend`. A time may stand alone: `extend Q-142 2d`."""
    return read_parts(line, ExtendWords(), _read_part)


def _read_part(line: Line, said: ExtendWords, at: int) -> _Part:
    keyword = line.tokens[at].keyword
    if keyword is None:
        return _read_loose(line, said, at)
    if at + 1 >= len(line.tokens) or line.tokens[at + 1].keyword:
        return stumble(line, Misread(f'"{keyword}" needs {_NEEDS[keyword]}.'), at, at + 1)
    if keyword == "because":
        reason = line.tokens[at + 1].text
        return Step(replace(said, reason=reason), at + 2, reason_piece(reason))
    return _once(line, said, at, (_read_by if keyword == "by" else _read_until)(line, said, at + 1))


def _read_loose(line: Line, said: ExtendWords, at: int) -> _Part:
    """A time may stand without its keyword; what is none is the loan."""
    words = line.words(at)
    if take_duration(words):
        return _once(line, said, at, _read_by(line, said, at))
    if not isinstance(_instant(line, words).value, Misread):
        return _once(line, said, at, _read_until(line, said, at))
    if said.request is not None:
        return not_understood(line, at)
    number = parse_request_id(words[0])
    if isinstance(number, Misread):
        return stumble(line, number, at, at + 1)
    return Step(replace(said, request=number), at + 1, format_request_id(number))


def _once(line: Line, said: ExtendWords, at: int, part: _Part) -> _Part:
    """The new end is said in one way, once: the fault is in the later one."""
    if isinstance(part, Stumble) or not (said.by or said.until):
        return part
    return Stumble(Misread("The new end is said twice."), line.tokens[at].start, line.tokens[part.at - 1].end, part.at)


def _instant(line: Line, words: Sequence[str]) -> Taken[Instant]:
    context = line.context
    return take_instant(words, context.now, context.zone, context.workday_end)


def _read_by(line: Line, said: ExtendWords, at: int) -> _Part:
    words = line.words(at)
    taken = take_duration(words)
    if taken is None:
        return stumble(line, not_a_duration(words[0]), at, at + 1, "by")
    if isinstance(taken.value, Misread):
        return stumble(line, taken.value, at, at + taken.used, "by")
    return Step(replace(said, by=taken.value), at + taken.used, f"by {' '.join(words[: taken.used])}")


def _read_until(line: Line, said: ExtendWords, at: int) -> _Part:
    words = line.words(at)
    taken = _instant(line, words)
    if isinstance(taken.value, Misread):
        return stumble(line, taken.value, at + taken.since, at + taken.used, "until")
    return Step(replace(said, until=taken.value), at + taken.used, f"until {' '.join(words[: taken.used])}")
