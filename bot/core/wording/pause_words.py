"""The words after `pause`, which are the reason, and after `resume`, which takes none. For `commands.parse_command`."""

from dataclasses import dataclass

from bot.core.wording.faults import Misread
from bot.core.wording.line import Line, Reading, Step, Stumble, not_understood, read_parts, stumble

KEYWORDS = dict.fromkeys(("because", "due to", "reason"), "because")


@dataclass(frozen=True, slots=True)
class PauseWords:
    """`pause [because WORDS]`; the `because` may be left out."""

    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ResumeWords:
    """`resume`."""


def read_pause(line: Line) -> Reading[PauseWords]:
    """Reads the words after `pause`: all of them are the reason."""
    tokens = line.tokens
    if not tokens:
        return Reading(PauseWords())
    if not tokens[0].keyword:
        return Reading(PauseWords(line.text[tokens[0].start :].strip()))
    if len(tokens) == 1:
        found = stumble(line, Misread('"because" needs words, like because maintenance.'), 0, 1)
        return Reading(PauseWords(), found, ("/gpu-quota pause",))
    return Reading(PauseWords(tokens[1].text))


def read_resume(line: Line) -> Reading[ResumeWords]:
    """Reads the words after `resume`: there are none."""
    return read_parts(line, ResumeWords(), _nothing)


def _nothing(line: Line, _said: ResumeWords, at: int) -> Step[ResumeWords] | Stumble:
    return not_understood(line, at)
