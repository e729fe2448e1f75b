"""The whole line after `/gpu-quota` into the words of its subcommand, or a fault that points and shows what works.

The chat layer calls `parse_command` with the raw text of the slash command. A new subcommand gets a reader, and a row
in `_READERS`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from bot.core.wording.accept_words import AcceptWords, read_accept
from bot.core.wording.ask_back_words import KEYWORDS as ASK_BACK_KEYWORDS
from bot.core.wording.ask_back_words import AskBackWords, read_ask_back
from bot.core.wording.end_words import KEYWORDS as END_KEYWORDS
from bot.core.wording.end_words import EndWords, read_end
from bot.core.wording.explain_words import ExplainWords, read_explain
from bot.core.wording.extend_words import KEYWORDS as EXTEND_KEYWORDS
from bot.core.wording.extend_words import ExtendWords, read_extend
from bot.core.wording.faults import Misread, UsageFault, point_at, shown
from bot.core.wording.line import COMMAND, Context, Line, Reading, Stumble
from bot.core.wording.log_words import KEYWORDS as LOG_KEYWORDS
from bot.core.wording.log_words import LogWords, read_log
from bot.core.wording.pause_words import KEYWORDS as PAUSE_KEYWORDS
from bot.core.wording.pause_words import PauseWords, ResumeWords, read_pause, read_resume
from bot.core.wording.prolong_words import ProlongWords, read_prolong
from bot.core.wording.readiness_words import ReadinessWords, read_readiness
from bot.core.wording.request import read_request
from bot.core.wording.request_words import KEYWORDS, KINDS, RequestWords
from bot.core.wording.small_commands import (
    HelpWords,
    ListWords,
    ReturnWords,
    ShowWords,
    StatusWords,
    WithdrawWords,
    read_help,
    read_list,
    read_return,
    read_show,
    read_status,
    read_withdraw,
    unknown_subcommand,
)
from bot.core.wording.text import unescape
from bot.core.wording.tokens import Token, tokenize

CommandWords = (
    RequestWords
    | StatusWords
    | ListWords
    | ShowWords
    | ExtendWords
    | ReturnWords
    | WithdrawWords
    | AcceptWords
    | AskBackWords
    | ProlongWords
    | EndWords
    | ExplainWords
    | LogWords
    | PauseWords
    | ResumeWords
    | ReadinessWords
    | HelpWords
)

_READERS: Mapping[str, Callable[[Line], Reading[Any]]] = {
    "request": read_request,
    "status": read_status,
    "list": read_list,
    "show": read_show,
    "extend": read_extend,
    "return": read_return,
    "withdraw": read_withdraw,
    "accept": read_accept,
    "ask-back": read_ask_back,
    "prolong": read_prolong,
    "end": read_end,
    "explain": read_explain,
    "log": read_log,
    "pause": read_pause,
    "resume": read_resume,
    "readiness": read_readiness,
    "help": read_help,
}
_KEYWORDS = {
    "request": KEYWORDS,
    "extend": EXTEND_KEYWORDS,
    "ask-back": ASK_BACK_KEYWORDS,
    "end": END_KEYWORDS,
    "explain": KEYWORDS,
    "log": LOG_KEYWORDS,
    "pause": PAUSE_KEYWORDS,
}
_MENDINGS = 3


def parse_command(text: str, context: Context) -> CommandWords | UsageFault:
    """What the raw `text` of a slash command says; never raises, whatever stands in it."""
    plain = unescape(text)
    reading = _read(plain, context)
    if reading.stumble is None:
        said: CommandWords = reading.said
        return said
    return _fault(plain, reading, reading.stumble, context)


def _read(text: str, context: Context) -> Reading[Any]:
    tokens = tokenize(text)
    while tokens and tokens[0].text.lower() == COMMAND:
        tokens = tokens[1:]
    if not tokens:
        return Reading(HelpWords())
    verb = tokens[0].text.lower()
    if verb not in _READERS:
        return _unknown(text, tokens[0], context)
    return _READERS[verb](Line(text, verb, tokenize(text, tokens[0].end, _KEYWORDS.get(verb)), context))


def _unknown(text: str, token: Token, context: Context) -> Reading[HelpWords]:
    """No subcommand: a misspelt one, or a request whose first word is missing."""
    word, rest = token.text.lower(), text[token.end :].strip()
    misread = unknown_subcommand(word)
    verbs = [*misread.instead, *([f"request as {word}"] if word in KINDS else [])]
    lines = [f"{COMMAND} {verb} {rest}".strip() for verb in verbs]
    whole = f"{COMMAND} request {text[token.start :].strip()}"
    if not lines and word[0].isdigit() and _read(whole, context).stumble is None:
        lines = [whole]
    if lines and not misread.instead:
        misread = Misread(f'No "{shown(word)}". Did you mean request?')
    return Reading(HelpWords(), Stumble(misread, token.start, token.end, 0), tuple(lines))


def _fault(text: str, reading: Reading[Any], stumble: Stumble, context: Context) -> UsageFault:
    window, caret = point_at(text, stumble.start, stumble.end)
    mended = (_mended(line, context) for line in reading.lines)
    lines = tuple(dict.fromkeys(line for line in mended if line))
    return UsageFault(
        stumble.misread.sentence,
        window,
        caret,
        lines[0] if lines else f"{COMMAND} help",
        lines if len(lines) > 1 else (),
    )


def _mended(line: str, context: Context) -> str | None:
    """The line, or what becomes of it when its own faults are mended too; None if it never works."""
    for _ in range(_MENDINGS):
        reading = _read(line, context)
        if reading.stumble is None:
            return line
        if not reading.lines:
            return None
        line = reading.lines[0]
    return None
