"""Refusals, seen only by the one who acted: what, why, what works instead. The core writes most sentences itself
(`Refused.sentence`); here are those that name a person, a moment or a button.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.core.loans import Loan
from bot.core.messages import Block, Message
from bot.core.people import Person
from bot.core.requests import QuotaRequest
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import of_flavor
from bot.views.kit import actions, answer, line, rich
from bot.views.loan_words import longer, what
from bot.views.parts import Clock, Code, Line, Mention, Moment, Reason, Theirs, sentence
from bot.views.request_card import return_button, withdraw_button
from bot.views.said import said

_MOST_CHOICES = 5


class Outcome(StrEnum):
    """How a request was decided before this press."""

    APPROVED = "approved"
    DENIED = "denied"
    WITHDRAWN = "withdrawn"
    LAPSED = "lapsed"


@dataclass(frozen=True, slots=True)
class Decided:
    """The decision that came first."""

    request: str
    """Its name: "Q-142", "Q-142's extension"."""
    outcome: Outcome
    at: datetime
    who: Person | None = None
    rule: str | None = None
    words: str = ""


def refused(sentence: str) -> Message:
    """A sentence of the core's (`Refused.sentence`), as it stands: names in it are not parsed."""
    return said(sentence)


def already_decided(first: Decided) -> Message:
    """Somebody pressed before."""
    by = line(" by ", Mention(first.who)) if first.who else ()
    by = line(" by rule ", Theirs(first.rule)) if first.rule else by
    why = line(": ", Reason(first.words)) if first.words else line(".")
    return answer(line(f"{first.request} was already {first.outcome}", by, " at ", Clock(first.at), why))


def being_changed(request: int, who: Person | None) -> Message:
    """Another change of the same request runs."""
    by = line(" by ", Mention(who)) if who else ()
    return answer(line(f"{format_request_id(request)} is being changed", by, ". Try again in a moment."))


def in_force_already(loan: Loan) -> Message:
    """Withdraw of a loan that is in force."""
    asks = line(f"{format_request_id(loan.id)} is in force; return it instead.")
    return Message(sentence(asks), (rich(asks), *actions(return_button(loan.id))))


def extension_waits(request: QuotaRequest) -> Message:
    """A second extension of a loan while one waits."""
    asks = line(f"{request.name} by {longer(request)} waits for a decision already.")
    return Message(sentence(asks), (rich(asks), *actions(withdraw_button(request.id, request.name))))


def which_loan(loans: tuple[Loan, ...], asks: Line, press: Callable[[int], dict[str, Any]]) -> Message:
    """A command without a number, and several loans: a button for each."""
    blocks = [rich(asks)]
    for loan in loans[:_MOST_CHOICES]:
        amount = of_flavor(loan.amount, loan.flavor)
        ends = line(", ends ", Moment(loan.end))
        blocks.append(rich(line(f"{format_request_id(loan.id)}: ", amount, " for ", Theirs(loan.borrower), ends)))
        blocks += actions(press(loan.id))
    blocks += _more(len(loans))
    return Message(sentence(asks), tuple(blocks))


def which_request(requests: tuple[QuotaRequest, ...]) -> Message:
    """Withdraw without a number, and several requests."""
    asks = line("Which one do you withdraw?")
    blocks = [rich(asks)]
    for request in requests[:_MOST_CHOICES]:
        blocks.append(rich(line(f"{request.name}: ", what(request.ask))))
        blocks += actions(withdraw_button(request.id, request.name))
    blocks += _more(len(requests))
    return Message(sentence(asks), tuple(blocks))


def _more(count: int) -> list[Block]:
    left = count - _MOST_CHOICES
    return [rich(line(f"and {left:,} more: ", Code("/gpu-quota list")))] if left > 0 else []


def not_recorded() -> Message:
    """The database is down."""
    return answer(line("Not recorded: the bot's database is not answering. Nothing changed. Try again later."))


def slow_answer() -> Message:
    """The cluster takes more than 3 s."""
    return answer(line("Asking the cluster. The answer comes here; if it takes over 30 minutes, by DM."))


def failed(reference: str, *, nothing_changed: bool = False, request: int | None = None) -> Message:
    """A defect. `reference` finds it in the log; say that nothing changed only if that is certain."""
    check = format_request_id(request) if request else "/gpu-quota list"
    after = "Nothing was changed." if nothing_changed else f"Check {check} before trying again."
    return answer(line(f"That did not work, and it is not your doing. Reference {reference}. {after}"))
