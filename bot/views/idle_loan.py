"""The direct message about a loan that lies idle: what is unused, who waits, and later what was answered.

Rendered by the deliverer. One message for the whole life of its question; once it is answered its buttons are gone.
"""

from dataclasses import dataclass
from datetime import timedelta

from bot.core.idle_loans import IdleOffer, IdleState
from bot.core.loans import Loan, LoanState
from bot.core.messages import Block, Message
from bot.core.people import Person
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import GPU, Unit, devices, of_flavor
from bot.views.ids import Action, idle_block
from bot.views.kit import Confirm, Symbol, actions, button, headline, line, rich
from bot.views.loan_words import lasting
from bot.views.parts import Clock, Line, Mention, Moment, Theirs, sentence


@dataclass(frozen=True, slots=True)
class IdleFacts:
    """A question about a loan, and the loan as it is now."""

    offer: IdleOffer
    loan: Loan
    again_after: timedelta
    """How long it stays quiet after an answer."""
    waiting: tuple[str, int] | None = None
    """The cohort and how many devices its other queues waited for when it was asked; None if none, or not known."""
    by: Person | None = None
    """Who answered."""
    unit: Unit = GPU


def idle_loan(facts: IdleFacts) -> Message:
    """The question while it can be answered, then what came of it."""
    if facts.offer.state is not IdleState.OPEN:
        return _answered(facts)
    if facts.loan.state is not LoanState.RUNNING:
        first = line(_unused(facts), ": the loan is over ", _name(facts))
        return Message(sentence(first), (headline(Symbol.OVER, first),))
    offer = facts.offer
    first = line(_unused(facts), f" for {_length(offer.unused_for)} ", _name(facts))
    them, keeps = ("it", "keeps it") if offer.amount == 1 else ("them", "keeps them")
    asks = line(f"Return {them}, or keep: no answer {keeps}")
    blocks = (headline(Symbol.WAITS, first), rich(*_waiting(facts), asks), *_buttons(facts))
    return Message(sentence(first), blocks)


def _unused(facts: IdleFacts) -> Line:
    return line(f"{facts.offer.amount:,} of ", of_flavor(facts.offer.of, facts.loan.flavor), " unused")


def _name(facts: IdleFacts) -> Line:
    return line(f"({format_request_id(facts.loan.id)})")


def _length(length: timedelta) -> str:
    """In whole hours, if it is hours."""
    hour = timedelta(hours=1)
    return lasting(length // hour * hour if length >= hour else length)


def _waiting(facts: IdleFacts) -> list[Line]:
    if facts.waiting is None:
        return []
    cohort, waiting = facts.waiting
    return [line("Waiting elsewhere in ", Theirs(cohort), f": {devices(waiting, facts.unit)}")]


def _buttons(facts: IdleFacts) -> tuple[Block, ...]:
    offer, value = facts.offer, str(facts.offer.id)
    left = offer.of - offer.amount
    gives = line("Give ", of_flavor(offer.amount, facts.loan.flavor), f" back? You keep {left:,}. ")
    again = f"To get {'it' if offer.amount == 1 else 'them'} again you need a new request."
    title = line(f"Return {offer.amount:,} of {format_request_id(facts.loan.id)}?")
    sure = Confirm(title, line(gives, again), "Return", "Keep", danger=True)
    return actions(
        button(f"Return {offer.amount:,}", Action.LOAN_RETURN_IDLE, value, confirm=sure),
        button("Keep", Action.LOAN_KEEP, value),
        block_id=idle_block(offer.id, offer.version),
    )


def _answered(facts: IdleFacts) -> Message:
    offer, left = facts.offer, facts.offer.left or 0
    by = line("By ", Mention(facts.by), " ", Clock(offer.settled_at)) if facts.by and offer.settled_at else ()
    quiet = line(f"Not asked again for this loan for {lasting(facts.again_after)}")
    match offer.state:
        case IdleState.RETURNED:
            kept = line(f", {left:,} kept until ", Moment(facts.loan.end)) if left else line(", all of the loan")
            first, symbol, says = line(f"{offer.amount:,} returned", kept, " ", _name(facts)), Symbol.IN_FORCE, [by]
        case IdleState.KEPT:
            kept = line(f"{left:,} kept until ", Moment(facts.loan.end))
            first, symbol, says = line(kept, " ", _name(facts)), Symbol.IN_FORCE, [by, quiet]
        case _:
            used = line(of_flavor(left, facts.loan.flavor), " in use again: nothing is unused now ", _name(facts))
            first, symbol, says = used, Symbol.OVER, [line("Nothing was returned"), quiet]
    return Message(sentence(first), (headline(symbol, first), rich(*[one for one in says if one])))
