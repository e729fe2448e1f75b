"""An unused part of a loan is offered for early return: when, to how much, and what an answer to the offer comes to.

Asked by flows/offer_idle and flows/answer_idle. What is decided here:

- A loan is asked about once a day at most, and not shortly before its end, where its return would gain nobody anything.
- An offer names how much was unused all the time, and only what is unused at this moment still.
- Return gives back what its button said or nothing: if less is unused when it is pressed, the message shows the new
  number and asks again. No answer keeps everything.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.loan_use import LoanUse
from bot.core.loans import Loan, LoanState
from bot.core.policy.idle import IdleLoans


class IdleState(StrEnum):
    """Only an open offer ever changes."""

    OPEN = "open"
    RETURNED = "returned"
    KEPT = "kept"
    USED = "used"
    """When Return was pressed, nothing was unused any more."""


@dataclass(frozen=True, slots=True)
class IdleOffer:
    """One question to a loan's people. `id` is what its buttons name."""

    id: int
    loan: int
    nth: int
    """Of this loan, from 1. Unique with the loan, so that nobody is asked twice at a time."""
    amount: int
    """Devices that are unused, and go back by one press."""
    of: int
    """On loan when it was asked, or asked again."""
    unused_for: timedelta
    at: datetime
    state: IdleState = IdleState.OPEN
    settled_by: str | None = None
    """User id; None while it is open."""
    settled_at: datetime | None = None
    left: int | None = None
    """Still on loan after it was answered."""
    version: int = 0
    """For compare-and-set of the row; tells an old picture from the present one."""


def may_be_asked(rules: IdleLoans, loan: Loan, now: datetime) -> bool:
    """A quick look at the loan alone."""
    in_force = loan.state is LoanState.RUNNING and loan.in_force_at is not None and loan.suspended is None
    return rules.offer and in_force and now < loan.end - rules.not_in_last


def is_quiet(rules: IdleLoans, last: IdleOffer | None, now: datetime) -> bool:
    """Whether the last question was so short a time ago that none may follow yet."""
    return last is not None and now < max(last.at, last.settled_at or last.at) + rules.again_after


def idle_part(rules: IdleLoans, use: LoanUse, loan: Loan, used_now: int) -> int:
    """Devices to ask about: unused for so long, and now; 0 for none."""
    return max(0, min(use.idle_for(rules.after), loan.amount - used_now))


def lowered(offer: IdleOffer, loan: Loan, unused_now: int, who: str, now: datetime) -> IdleOffer:
    """What an offer is once less is unused than it says: of less, or over."""
    if not unused_now:
        return replace(offer, state=IdleState.USED, settled_by=who, settled_at=now, left=loan.amount)
    return replace(offer, amount=unused_now, of=loan.amount)
