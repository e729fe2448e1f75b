"""`help`, and a line with nothing in it: what can be typed, made from the list of subcommands."""

from collections.abc import Sequence

from bot.chat.desk import Arrived
from bot.core.durations import format_duration
from bot.core.messages import Message
from bot.core.wording.small_commands import HelpWords
from bot.flows.look_up import pause_of
from bot.views.answers.help import CommandHelp, help_command, help_overview

HELP = CommandHelp(
    name="help",
    group="Look",
    summary="What you can type, and how.",
    syntax="help [COMMAND]",
    examples=("help", "help request"),
)
OFF = ("bills and alerts (not in this version)",)


def run(arrived: Arrived, said: HelpWords, commands: Sequence[CommandHelp]) -> Message:
    """One subcommand if it is named, else all of them."""
    chosen = next((one for one in commands if one.name == said.command), None)
    if chosen is None:
        off = (*OFF, "writing to the cluster (observe mode)") if arrived.world.observe_only else OFF
        return help_overview(commands, off, pause_of(arrived.world))
    return help_command(chosen, _limits(arrived) if chosen.name == "request" else "")


def _limits(arrived: Arrived) -> str:
    limits = arrived.world.policies.policy.approvals.limits
    return f"Most per request {limits.most_per_request:,}, longest {format_duration(limits.longest)}."
