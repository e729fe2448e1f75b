"""The words after `readiness`. For `commands.parse_command`."""

from dataclasses import dataclass

from bot.core.wording.faults import Misread
from bot.core.wording.line import Line, Reading, Step, Stumble, not_understood, read_parts, stumble
from bot.core.wording.vocabulary import read_name


@dataclass(frozen=True, slots=True)
class ReadinessWords:
    """`readiness [NAMESPACE]`; which namespaces there are, and whose, is not settled here."""

    namespace: str | None = None


def read_readiness(line: Line) -> Reading[ReadinessWords]:
    """Reads the words after `readiness`."""
    return read_parts(line, ReadinessWords(), _read_part)


def _read_part(line: Line, said: ReadinessWords, at: int) -> Step[ReadinessWords] | Stumble:
    if said.namespace:
        return not_understood(line, at)
    namespace = read_name(line.tokens[at].text, (), "namespace")
    if isinstance(namespace, Misread):
        return stumble(line, namespace, at, at + 1)
    return Step(ReadinessWords(namespace), at + 1, namespace)
