"""The subcommands, one module each. A new one gets a module, a reader of its words in core/wording, and a line here.

`help` is made from this list. A module owns what it says of itself (`HELP`) and what it does (`run`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.chat.commands import (
    accept,
    ask_back,
    end,
    explain,
    extend,
    log,
    pause,
    prolong,
    readiness,
    request,
    resume,
    show,
    status,
    withdraw,
)
from bot.chat.commands import help as help_
from bot.chat.commands import list as list_
from bot.chat.commands import return_ as return_
from bot.chat.desk import Arrived
from bot.core.messages import Message
from bot.core.wording.accept_words import AcceptWords
from bot.core.wording.ask_back_words import AskBackWords
from bot.core.wording.end_words import EndWords
from bot.core.wording.explain_words import ExplainWords
from bot.core.wording.extend_words import ExtendWords
from bot.core.wording.log_words import LogWords
from bot.core.wording.pause_words import PauseWords, ResumeWords
from bot.core.wording.prolong_words import ProlongWords
from bot.core.wording.readiness_words import ReadinessWords
from bot.core.wording.request_words import RequestWords
from bot.core.wording.small_commands import (
    HelpWords,
    ListWords,
    ReturnWords,
    ShowWords,
    StatusWords,
    WithdrawWords,
)
from bot.views.answers.help import CommandHelp


@dataclass(frozen=True, slots=True)
class Command:
    """One subcommand."""

    help: CommandHelp
    run: Callable[[Arrived, Any], Message | None]


COMMANDS: Mapping[type, Command] = {
    RequestWords: Command(request.HELP, request.run),
    ExtendWords: Command(extend.HELP, extend.run),
    ReturnWords: Command(return_.HELP, return_.run),
    WithdrawWords: Command(withdraw.HELP, withdraw.run),
    AcceptWords: Command(accept.HELP, accept.run),
    AskBackWords: Command(ask_back.HELP, ask_back.run),
    ProlongWords: Command(prolong.HELP, prolong.run),
    StatusWords: Command(status.HELP, status.run),
    ListWords: Command(list_.HELP, list_.run),
    ShowWords: Command(show.HELP, show.run),
    ExplainWords: Command(explain.HELP, explain.run),
    ReadinessWords: Command(readiness.HELP, readiness.run),
    EndWords: Command(end.HELP, end.run),
    PauseWords: Command(pause.HELP, pause.run),
    ResumeWords: Command(resume.HELP, resume.run),
    LogWords: Command(log.HELP, log.run),
    HelpWords: Command(help_.HELP, lambda arrived, said: help_.run(arrived, said, [c.help for c in COMMANDS.values()])),
}
