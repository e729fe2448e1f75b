"""The words after `status`, `list`, `show`, `return`, `withdraw` and `help`."""

from dataclasses import dataclass, replace
from typing import Literal

from bot.core.amounts import COUNTED, Amount, take_amount
from bot.core.wording.faults import Misread, shown
from bot.core.wording.line import Line, Reading, Step, Stumble, not_understood, read_parts, stumble
from bot.core.wording.near import near
from bot.core.wording.request_ids import format_request_id, parse_request_id
from bot.core.wording.vocabulary import read_hardware, read_name

Scope = Literal["mine", "team", "waiting", "all"]
SCOPES: tuple[Scope, ...] = ("mine", "team", "waiting", "all")
SUBCOMMANDS = (
    "request",
    "status",
    "list",
    "show",
    "extend",
    "return",
    "withdraw",
    "accept",
    "ask-back",
    "prolong",
    "end",
    "explain",
    "log",
    "pause",
    "resume",
    "readiness",
    "help",
)


@dataclass(frozen=True, slots=True)
class StatusWords:
    """`status [TEAM]`."""

    team: str | None = None


@dataclass(frozen=True, slots=True)
class ListWords:
    """`list [mine | team | waiting | all] [closed]`."""

    scope: Scope | None = None
    closed: bool = False


@dataclass(frozen=True, slots=True)
class ShowWords:
    """`show QUEUE [FLAVOR]`; a bare `show` says no queue, and which one it means is not settled here."""

    queue: str | None = None
    flavor: str | None = None
    resource: str | None = None


@dataclass(frozen=True, slots=True)
class ReturnWords:
    """`return [Q] [N]`: `request` is the number of Q; a lone bare number is Q, as everywhere, and a note says so."""

    request: int | None = None
    amount: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WithdrawWords:
    """`withdraw [Q]`."""

    request: int | None = None


@dataclass(frozen=True, slots=True)
class HelpWords:
    """`help [COMMAND]`, and a line with nothing in it."""

    command: str | None = None


def read_status(line: Line) -> Reading[StatusWords]:
    """Reads the words after `status`."""
    return read_parts(line, StatusWords(), _read_status_part)


def _read_status_part(line: Line, said: StatusWords, at: int) -> Step[StatusWords] | Stumble:
    if said.team:
        return not_understood(line, at)
    team = read_name(line.tokens[at].text, line.context.vocabulary.teams, "team")
    if isinstance(team, Misread):
        return stumble(line, team, at, at + 1)
    return Step(StatusWords(team), at + 1, team)


def read_list(line: Line) -> Reading[ListWords]:
    """Reads the words after `list`, in any order."""
    return read_parts(line, ListWords(), _read_list_part)


def _read_list_part(line: Line, said: ListWords, at: int) -> Step[ListWords] | Stumble:
    word = line.tokens[at].text.lower()
    if word == "closed":
        return Step(replace(said, closed=True), at + 1, word)
    if word in SCOPES and said.scope in (None, word):
        return Step(replace(said, scope=word), at + 1, word)
    if word in SCOPES:
        return stumble(line, Misread(f"list shows one of {said.scope} and {word}, not both."), at, at + 1)
    found = near(word, (*SCOPES, "closed"))
    if not found:
        return not_understood(line, at)
    return stumble(line, Misread(f'No "{shown(word)}". Did you mean {" or ".join(found)}?', found), at, at + 1)


def read_show(line: Line) -> Reading[ShowWords]:
    """Reads the words after `show`: the queue comes first."""
    return read_parts(line, ShowWords(), _read_show_part)


def _read_show_part(line: Line, said: ShowWords, at: int) -> Step[ShowWords] | Stumble:
    word, vocabulary = line.tokens[at].text, line.context.vocabulary
    if said.queue is None:
        queue = read_name(word, vocabulary.queues, "queue")
        if isinstance(queue, Misread):
            return stumble(line, queue, at, at + 1)
        return Step(replace(said, queue=queue), at + 1, queue)
    if said.flavor or said.resource:
        return not_understood(line, at)
    hardware = read_hardware(word, vocabulary)
    if isinstance(hardware, Misread):
        return stumble(line, hardware, at, at + 1)
    return Step(replace(said, flavor=hardware.flavor, resource=hardware.resource), at + 1, word.lower())


def read_return(line: Line) -> Reading[ReturnWords]:
    """Reads the words after `return`."""
    reading = read_parts(line, ReturnWords(), _read_return_part)
    said = reading.said
    if len(line.tokens) == 1 and said.request and line.tokens[0].text.isdigit():
        number = format_request_id(said.request)
        note = f"{said.request} is read as {number}. For {said.request} GPUs of a loan write its number first."
        return replace(reading, said=replace(said, notes=(note,)))
    return reading


def _read_return_part(line: Line, said: ReturnWords, at: int) -> Step[ReturnWords] | Stumble:
    words = line.words(at)
    counted = len(words) > 1 and words[1].lower() in COUNTED
    if said.request is None and not counted and not isinstance(number := parse_request_id(words[0]), Misread):
        return Step(replace(said, request=number), at + 1, format_request_id(number))
    if said.amount is not None:
        return not_understood(line, at)
    taken = take_amount(words, None)
    if taken is None:
        return not_understood(line, at)
    if isinstance(taken.value, Misread):
        return stumble(line, taken.value, at + taken.since, at + taken.used)
    return _return_amount(line, said, at, taken.value, taken.used)


def _return_amount(line: Line, said: ReturnWords, at: int, amount: Amount, used: int) -> Step[ReturnWords] | Stumble:
    if amount.of:
        sentence = f"A loan is of one flavor: write {amount.count} without {shown(amount.of)}."
        return stumble(line, Misread(sentence, (str(amount.count),)), at, at + used)
    piece = str(amount.count) if said.request else f"{amount.count} GPUs"
    return Step(replace(said, amount=amount.count), at + used, piece)


def read_withdraw(line: Line) -> Reading[WithdrawWords]:
    """Reads the words after `withdraw`."""
    return read_parts(line, WithdrawWords(), _read_withdraw_part)


def _read_withdraw_part(line: Line, said: WithdrawWords, at: int) -> Step[WithdrawWords] | Stumble:
    if said.request is not None:
        return not_understood(line, at)
    number = parse_request_id(line.tokens[at].text)
    if isinstance(number, Misread):
        return stumble(line, number, at, at + 1)
    return Step(WithdrawWords(number), at + 1, format_request_id(number))


def read_help(line: Line) -> Reading[HelpWords]:
    """Reads the words after `help`."""
    return read_parts(line, HelpWords(), _read_help_part)


def _read_help_part(line: Line, said: HelpWords, at: int) -> Step[HelpWords] | Stumble:
    word = line.tokens[at].text.lower()
    if said.command:
        return not_understood(line, at)
    if word in SUBCOMMANDS:
        return Step(HelpWords(word), at + 1, word)
    return stumble(line, unknown_subcommand(word), at, at + 1)


def unknown_subcommand(word: str) -> Misread:
    """What to say of a word that is no subcommand, with those that are near it."""
    found = near(word, SUBCOMMANDS)
    if found:
        return Misread(f'No "{shown(word)}". Did you mean {" or ".join(found)}?', found)
    return Misread(f'No "{shown(word)}". /gpu-quota help lists what there is.')
