"""The form that asks how much longer a loan is to last. Opened by Extend."""

from datetime import timedelta

from bot.core.loans import Loan
from bot.core.messages import Modal
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import of_flavor
from bot.views.ids import Field, View
from bot.views.inputs import Option, instant, select, words
from bot.views.kit import line, rich
from bot.views.loan_words import lasting
from bot.views.parts import REASON_LIMIT, Moment, Theirs

_LENGTHS = {"8h": "8 hours", "1d": "1 day", "2d": "2 days", "1w": "1 week"}
"""Option values of `Field.EXTEND_BY`, as the command line would say them."""
_CHOSEN = "1d"


def extend_form(loan: Loan, longest: timedelta) -> Modal:
    """By how much, or until when, and why. `longest` is the most that policy allows a loan. `metadata` is the loan's
    number."""
    name = format_request_id(loan.id)
    over = loan.ended_at
    ends = line(", ended ", Moment(over)) if over else line(", ends ", Moment(loan.end))
    lasts = line(of_flavor(loan.amount, loan.flavor), " for ", Theirs(loan.borrower), ends)
    left = longest if over else max(longest - (loan.end - loan.start), timedelta(0))
    most = line(
        f"Up to {lasting(longest)} in all; {lasting(left)} left" if left else f"Has its {lasting(longest)} already"
    )
    options = [Option(value, label) for value, label in _LENGTHS.items()]
    blocks = (
        rich(lasts, most),
        select(
            Field.EXTEND_BY, "How much longer", options, _CHOSEN, "From its approval on" if over else "From its end on"
        ),
        instant(Field.EXTEND_UNTIL_AT, "Or until", None, "Goes before the length above", optional=True),
        words(Field.EXTEND_WORDS, "Reason", "", REASON_LIMIT, f"Empty: the reason of {name} stands", optional=True),
    )
    return Modal(View.EXTEND_FORM, f"Extend {name}", blocks, "Extend", metadata=str(loan.id))
