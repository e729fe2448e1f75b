"""The words after `accept`: of which request the offered change is accepted. Called by `commands.parse_command`."""

from dataclasses import dataclass

from bot.core.wording.faults import Misread
from bot.core.wording.line import Line, Reading, Step, Stumble, not_understood, read_parts, stumble
from bot.core.wording.request_ids import format_request_id, parse_request_id


@dataclass(frozen=True, slots=True)
class AcceptWords:
    """`accept Q`. Without a number nothing is accepted: an offer changes what is asked for."""

    request: int | None = None


def read_accept(line: Line) -> Reading[AcceptWords]:
    """Reads the words after `accept`."""
    return read_parts(line, AcceptWords(), _read_part)


def _read_part(line: Line, said: AcceptWords, at: int) -> Step[AcceptWords] | Stumble:
    if said.request is not None:
        return not_understood(line, at)
    number = parse_request_id(line.tokens[at].text)
    if isinstance(number, Misread):
        return stumble(line, number, at, at + 1)
    return Step(AcceptWords(number), at + 1, format_request_id(number))
