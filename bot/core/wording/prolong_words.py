"""The words after `prolong`: at which loan's end work gets more grace. Called by `commands.parse_command`."""

from dataclasses import dataclass

from bot.core.wording.faults import Misread
from bot.core.wording.line import Line, Reading, Step, Stumble, not_understood, read_parts, stumble
from bot.core.wording.request_ids import format_request_id, parse_request_id


@dataclass(frozen=True, slots=True)
class ProlongWords:
    """`prolong Q`. Without a number nothing is prolonged: it is somebody else's loan."""

    request: int | None = None


def read_prolong(line: Line) -> Reading[ProlongWords]:
    """Reads the words after `prolong`."""
    return read_parts(line, ProlongWords(), _read_part)


def _read_part(line: Line, said: ProlongWords, at: int) -> Step[ProlongWords] | Stumble:
    if said.request is not None:
        return not_understood(line, at)
    number = parse_request_id(line.tokens[at].text)
    if isinstance(number, Misread):
        return stumble(line, number, at, at + 1)
    return Step(ProlongWords(number), at + 1, format_request_id(number))
