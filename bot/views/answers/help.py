"""The answer to `help`, built from the list of subcommands that chat registers, and `help COMMAND`."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.messages import Message
from bot.core.pause import Pause
from bot.views.ids import NEW, Action
from bot.views.kit import actions, button, context, line, pre, rich
from bot.views.parts import Code, sentence
from bot.views.pause import paused_line

HOME = "Your loans, and what waits for you: this app's Home tab"
_COLUMNS = 48
_GROUP_COLUMNS = 8


@dataclass(frozen=True, slots=True)
class CommandHelp:
    """What one subcommand says of itself."""

    name: str
    group: str
    """Ask, Look, Money, Alerts or Admin."""
    summary: str
    """One line, our words."""
    syntax: str
    examples: tuple[str, ...]
    """Without `/gpu-quota`; the first stands in the overview."""


def help_overview(commands: Sequence[CommandHelp], off: Sequence[str] = (), pause: Pause | None = None) -> Message:
    """Everything that can be typed, by group. `off`: parts that are off here, with the reason."""
    first = line("What you can type after /gpu-quota")
    groups: dict[str, list[str]] = {}
    for command in commands:
        groups.setdefault(command.group, []).append(command.examples[0])
    listed = "\n".join(row for group, examples in groups.items() for row in _rows(group, examples))
    more = rich(line("More: ", Code("/gpu-quota help request")), line(HOME))
    small = (context(f"Off here: {', '.join(off)}"),) if off else ()
    stop = (rich(paused_line(pause)),) if pause else ()
    button_row = actions(button("Request quota", Action.OPEN_REQUEST, NEW))
    return Message(sentence(first), (rich(first, bold_first=True), pre(listed), more, *stop, *small, *button_row))


def _rows(group: str, examples: list[str]) -> list[str]:
    """Examples side by side as far as they fit a phone, under the group's name."""
    rows: list[str] = []
    for example in examples:
        if rows and len(rows[-1]) + len(example) + 3 <= _COLUMNS - _GROUP_COLUMNS:
            rows[-1] = f"{rows[-1]} · {example}"
        else:
            rows.append(example)
    return [f"{group if not at else '':<{_GROUP_COLUMNS}}{row}" for at, row in enumerate(rows)]


def help_command(command: CommandHelp, limits: str = "") -> Message:
    """One subcommand: syntax, examples, and the limits that policy sets for the asker ("most per request 16")."""
    first = line(command.summary)
    examples = "\n".join(f"/gpu-quota {one}" for one in command.examples)
    allowed = (rich(line(limits)),) if limits else ()
    syntax = pre(f"/gpu-quota {command.syntax}")
    return Message(sentence(first), (rich(first, bold_first=True), syntax, pre(examples), *allowed))
