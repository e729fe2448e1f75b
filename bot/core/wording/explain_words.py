"""The words after `explain`: a request's number, or one that nobody has made. Called by `commands.parse_command`."""

from dataclasses import dataclass, replace

from bot.core.wording.faults import Misread
from bot.core.wording.line import Line, Reading, Step, Stumble, not_understood, read_parts
from bot.core.wording.request import read_request
from bot.core.wording.request_ids import format_request_id, parse_request_id
from bot.core.wording.request_words import RequestWords


@dataclass(frozen=True, slots=True)
class ExplainWords:
    """`explain Q` or `explain [request] N FLAVOR for DUR ...`: at most one of the two is set."""

    request: int | None = None
    what: RequestWords | None = None


def read_explain(line: Line) -> Reading[ExplainWords]:
    """Reads the words after `explain`. A lone number is a request's; with more words it is an amount."""
    tokens = line.tokens
    if not tokens or _is_number(tokens[0].text, alone=len(tokens) == 1):
        return read_parts(line, ExplainWords(), _read_number)
    said = read_request(replace(line, tokens=tokens[tokens[0].text.lower() == "request" :]))
    return Reading(ExplainWords(what=said.said), said.stumble, said.lines)


def _is_number(word: str, *, alone: bool) -> bool:
    return (alone or not word[0].isdigit()) and not isinstance(parse_request_id(word), Misread)


def _read_number(line: Line, said: ExplainWords, at: int) -> Step[ExplainWords] | Stumble:
    number = parse_request_id(line.tokens[at].text)
    if said.request is not None or isinstance(number, Misread):
        return not_understood(line, at)
    return Step(ExplainWords(number), at + 1, format_request_id(number))
