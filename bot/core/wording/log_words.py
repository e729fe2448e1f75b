"""The words after `log`: whose or what part of the audit, and since when. Called by `commands.parse_command`."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.core.durations import not_a_duration, take_duration
from bot.core.wording.faults import Misread
from bot.core.wording.line import Line, Reading, Step, Stumble, not_understood, read_parts, stumble
from bot.core.wording.request_ids import format_request_id, parse_request_id
from bot.core.wording.vocabulary import find_name, read_name

KEYWORDS = dict.fromkeys(("last", "since", "for"), "last")
_MENTION = re.compile(r"<@([UW][A-Z0-9]{2,})(?:\|[^<>]*)?>")


@dataclass(frozen=True, slots=True)
class LogWords:
    """`log [Q | @PERSON | TEAM] [last DUR] [csv]`: at most one of the first three is set."""

    request: int | None = None
    person: str | None = None
    """As it was typed, with its @; `mentioned` finds whose name that is."""
    team: str | None = None
    last: timedelta | None = None
    csv: bool = False


def mentioned(text: str) -> tuple[str, ...]:
    """The user ids of the mentions in the raw text of a slash command, in order."""
    return tuple(_MENTION.findall(text))


def read_log(line: Line) -> Reading[LogWords]:
    """Reads the words after `log`, in any order."""
    return read_parts(line, LogWords(), _read_part)


def _read_part(line: Line, said: LogWords, at: int) -> Step[LogWords] | Stumble:
    if line.tokens[at].keyword:
        return _read_last(line, said, at)
    word = line.tokens[at].text
    if word.lower() == "csv" and not said.csv and find_name(word, line.context.vocabulary.teams) is None:
        return Step(replace(said, csv=True), at + 1, "csv")
    if said.request or said.person or said.team:
        return not_understood(line, at)
    if word.startswith(("@", "<@")):
        return Step(replace(said, person=word), at + 1, word)
    number = parse_request_id(word)
    if not isinstance(number, Misread):
        return Step(replace(said, request=number), at + 1, format_request_id(number))
    team = read_name(word, line.context.vocabulary.teams, "team")
    if isinstance(team, Misread):
        return stumble(line, team, at, at + 1)
    return Step(replace(said, team=team), at + 1, team)


def _read_last(line: Line, said: LogWords, at: int) -> Step[LogWords] | Stumble:
    words = line.words(at + 1)
    taken = take_duration(words) if words else None
    if taken is None:
        until = at + 2 if words else at + 1
        misread = not_a_duration(words[0]) if words else Misread('"last" needs a duration, like last 7d.')
        return stumble(line, misread, at, until, "last")
    until = at + 1 + taken.used
    if isinstance(taken.value, Misread):
        return stumble(line, taken.value, at + 1, until, "last")
    if said.last is not None:
        return stumble(line, Misread("How far back is said twice."), at, until)
    return Step(replace(said, last=taken.value), until, f"last {' '.join(words[: taken.used])}")
