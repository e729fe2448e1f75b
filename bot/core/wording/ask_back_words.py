"""The words after `ask-back`: which loan a lender asks back, and why. Called by `commands.parse_command`."""

from dataclasses import dataclass, replace

from bot.core.wording.faults import Misread
from bot.core.wording.line import Line, Reading, Step, Stumble, not_understood, read_parts, reason_piece, stumble
from bot.core.wording.request_ids import format_request_id, parse_request_id

KEYWORDS = dict.fromkeys(("because", "due to", "reason"), "because")


@dataclass(frozen=True, slots=True)
class AskBackWords:
    """`ask-back Q [because WORDS]`. Without a number nothing is asked: it is somebody else's loan."""

    request: int | None = None
    reason: str | None = None


def read_ask_back(line: Line) -> Reading[AskBackWords]:
    """Reads the words after `ask-back`."""
    return read_parts(line, AskBackWords(), _read_part)


def _read_part(line: Line, said: AskBackWords, at: int) -> Step[AskBackWords] | Stumble:
    if line.tokens[at].keyword:
        if at + 1 >= len(line.tokens):
            return stumble(line, Misread('"because" needs words, like because our own deadline.'), at, at + 1)
        reason = line.tokens[at + 1].text
        return Step(replace(said, reason=reason), at + 2, reason_piece(reason))
    if said.request is not None:
        return not_understood(line, at)
    number = parse_request_id(line.tokens[at].text)
    if isinstance(number, Misread):
        return stumble(line, number, at, at + 1)
    return Step(replace(said, request=number), at + 1, format_request_id(number))
