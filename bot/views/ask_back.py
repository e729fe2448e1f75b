"""A loan that its lender asks back: the message to the borrower, what the one who asked hears, and the buttons.

Rendered by the deliverer (flows/render_ask_back), but for `asked`, which answers the one who asked at once.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from bot.core.ask_backs import ANSWER_WITHIN, AskBack, AskBackState
from bot.core.loans import Loan
from bot.core.messages import Message
from bot.core.people import Person
from bot.core.requests import QuotaRequest
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import of_flavor
from bot.views.ids import Action
from bot.views.kit import Symbol, actions, answer, button, headline, line, rich
from bot.views.parts import Clock, Code, Line, Mention, Moment, Reason, Theirs, sentence
from bot.views.request_card import return_button

_WITHIN = f"{ANSWER_WITHIN // timedelta(hours=1)} h"


@dataclass(frozen=True, slots=True)
class AskedBack:
    """One time that a loan was asked back, with its people."""

    ask: AskBack
    loan: Loan
    by: Person
    settled_by: Person | None = None
    admins: str = "admins"
    """Name of the group that can end loans."""


def asked(loan: Loan, request: QuotaRequest) -> Message:
    """To the one who asked, at once."""
    what = line(of_flavor(loan.amount, loan.flavor), f" asked back ({format_request_id(loan.id)}). ")
    hears = line("The requester and the ", Theirs(request.ask.team), " lead hear it; nothing is taken. ")
    return answer(line(what, hears, f"You hear the answer, or that there was none in {_WITHIN}."))


def kept(loan: Loan) -> Message:
    """To the one who keeps it, at once."""
    return answer(line("Kept until ", Moment(loan.end), f": {format_request_id(loan.id)}. The lender's lead hears it."))


def asked_back(facts: AskedBack) -> Message:
    """To the borrower: how many, who asks and why, the two answers."""
    ask, loan = facts.ask, facts.loan
    if ask.state is not AskBackState.OPEN or loan.ended_at is not None:
        return _settled(facts)
    first = line(_amount(loan), " asked back by ", Theirs(loan.lender or ""), _name(loan))
    until = line("Lent until ", Moment(loan.end), ". Nothing is taken: return all or a part, or keep them")
    keep = button("Keep", Action.ASK_BACK_KEEP, str(ask.id))
    return _message(Symbol.WAITS, first, [_who_and_why(facts), until], return_button(loan.id), keep)


def _settled(facts: AskedBack) -> Message:
    ask, loan = facts.ask, facts.loan
    what, why = _OUTCOMES[ask.state]
    by = line("By ", Mention(facts.settled_by)) if facts.settled_by else line(why)
    at = line(" ", Clock(ask.settled_at)) if ask.settled_at and facts.settled_by else ()
    amount = of_flavor(ask.given, loan.flavor) if ask.given is not None else _amount(loan)
    first = line(amount, " asked back by ", Theirs(loan.lender or ""), f": {what}", _name(loan))
    unanswered = ask.state is AskBackState.UNANSWERED and loan.ended_at is None
    buttons = [return_button(loan.id)] if unanswered else []
    return _message(Symbol.OVER, first, [line(by, at), _who_and_why(facts)], *buttons)


_OUTCOMES = {
    AskBackState.OPEN: ("the loan is over", "It ended without an answer"),
    AskBackState.OVER: ("the loan is over", "It ended without an answer"),
    AskBackState.KEPT: ("kept", "Somebody keeps it"),
    AskBackState.RETURNED: ("returned", "It was returned"),
    AskBackState.UNANSWERED: ("no answer", f"Nobody answered in {_WITHIN}. It stays until its end, or until returned"),
}
"""What came of it, and the words where no person is known."""


def answered(facts: AskedBack) -> Message:
    """To the lender's lead who asked: what came of it."""
    ask, loan = facts.ask, facts.loan
    by = line(" by ", Mention(facts.settled_by)) if facts.settled_by else ()
    stays = line("with ", Theirs(loan.borrower), " until ", Moment(loan.end))
    can = line("You can ask again ", Moment(ask.at + ANSWER_WITHIN), ", and ", Theirs(facts.admins), " can end it: ")
    end = line(Code(f"end {format_request_id(loan.id)}"))
    if ask.state is AskBackState.RETURNED:
        given = of_flavor(ask.given if ask.given is not None else loan.amount, loan.flavor)
        first = line(given, " go back to ", Theirs(loan.lender or ""), _name(loan))
        rest = line(f". {loan.amount:,} stay ", stays) if loan.ended_at is None else ()
        return _message(Symbol.IN_FORCE, first, [line("Returned", by, rest)])
    if ask.state is AskBackState.KEPT:
        first = line(_amount(loan), " stay ", stays, _name(loan))
        return _message(Symbol.OVER, first, [line("Kept", by), line(can, end)])
    first = line(_amount(loan), f" asked back: no answer in {_WITHIN}", _name(loan))
    return _message(Symbol.OVER, first, [line("They stay ", stays), line(can, end)])


def _amount(loan: Loan) -> Line:
    return of_flavor(loan.amount, loan.flavor)


def _name(loan: Loan) -> str:
    return f" ({format_request_id(loan.id)})"


def _who_and_why(facts: AskedBack) -> Line:
    why = line(": ", Reason(facts.ask.words)) if facts.ask.words else line(", without a reason")
    return line(Mention(facts.by), why)


def _message(symbol: Symbol, first: Line, lines: list[Line], *buttons: dict[str, Any]) -> Message:
    return Message(sentence(first), (headline(symbol, first), rich(*lines), *actions(*buttons)))
