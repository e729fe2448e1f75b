"""`request [N] [FLAVOR] [for DUR | until WHEN] [starting WHEN] [every WEEK] [in QUEUE] [as KIND] [from LENDER] …`.

Called by `commands.parse_command`.
"""

from dataclasses import fields, replace

from bot.core.wording.clock_changes import clock_change_note
from bot.core.wording.faults import Misread
from bot.core.wording.line import Line, Reading, Stumble, read_parts
from bot.core.wording.request_keywords import read_keyword
from bot.core.wording.request_loose import read_loose
from bot.core.wording.request_series import EVERY, with_series
from bot.core.wording.request_words import RequestPart, RequestWords

_LABELS = {"until": "end", "starting": "start", "every": "repeat"}
_SAID_ONCE = tuple(field.name for field in fields(RequestWords) if field.name != "notes")


def read_request(line: Line) -> Reading[RequestWords]:
    """Reads the words after `request`."""
    reading = read_parts(line, RequestWords(), _read_part)
    said, context = reading.said, line.context
    if said.every is not None:
        return with_series(line, reading)
    if said.duration is None:
        return reading
    start = said.starting.at if said.starting else context.now
    note = clock_change_note(start, said.duration, context.zone)
    return replace(reading, said=replace(said, notes=(*said.notes, note))) if note else reading


def _read_part(line: Line, said: RequestWords, at: int) -> RequestPart:
    keyword = line.tokens[at].keyword
    part = read_keyword(line, said, at, keyword) if keyword else read_loose(line, said, at)
    return _checked(line, said, at, part)


def _checked(line: Line, said: RequestWords, at: int, part: RequestPart) -> RequestPart:
    """A part that was understood, held against what was said before it: the fault is always in the later one."""
    if isinstance(part, Stumble):
        return part
    now = part.said
    twice = next((name for name in _SAID_ONCE if getattr(said, name) not in (None, getattr(now, name))), None)
    sentence = None
    if twice:
        sentence = f"The {_LABELS.get(twice, twice)} is said twice."
    elif now.duration and now.until and not _repeats(line):
        sentence = "Say for or until, not both."
    elif now.starting and now.until and now.starting.at >= now.until.at and not _repeats(line):
        sentence = "The start is after the end."
    if sentence is None:
        return part
    return Stumble(Misread(sentence), line.tokens[at].start, line.tokens[part.at - 1].end, part.at)


def _repeats(line: Line) -> bool:
    return any(token.keyword == EVERY for token in line.tokens)
