"""Which loans' ends their people are reminded of now, and which of them share a message. Asked by flows/remind_loans.

A day before the end of a loan of two days and more, an hour before that of one of four hours and more. A reminder that
comes so late that it helps nobody, and one of an end that was only just agreed on, is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.loans import Loan, LoanState

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
TOGETHER = HOUR
"""Loans of one person that end within so long of each other share a message."""


class Reminder(StrEnum):
    """Which one it is."""

    DAY = "day"
    HOUR = "hour"


@dataclass(frozen=True, slots=True)
class _Rule:
    """Lengths of time. `ahead` of the end it is said; `worth` ahead of the end it helps nobody any more."""

    ahead: timedelta
    worth: timedelta
    least: timedelta
    """Shorter loans have none."""


_RULES = {
    Reminder.DAY: _Rule(ahead=DAY, worth=12 * HOUR, least=2 * DAY),
    Reminder.HOUR: _Rule(ahead=HOUR, worth=timedelta(0), least=4 * HOUR),
}


@dataclass(frozen=True, slots=True)
class Ending:
    """A loan with whoever hears of its end."""

    loan: Loan
    to: tuple[str, ...]
    known_since: datetime
    """When this end was agreed on: at the approval, or of the last extension."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One message, to each of `to`, about these, the first to end first."""

    which: Reminder
    to: tuple[str, ...]
    loans: tuple[Loan, ...]


def is_reminded(loan: Loan) -> bool:
    """Whether its end takes anything away: only of a loan that is in force."""
    return loan.state is LoanState.RUNNING and loan.in_force_at is not None and loan.suspended is None


def window(which: Reminder, loan: Loan, known_since: datetime) -> tuple[datetime, datetime] | None:
    """From when and until when it is said; None if this loan has no such reminder."""
    rule = _RULES[which]
    begins = loan.end - rule.ahead
    if not is_reminded(loan) or loan.end - loan.start < rule.least or known_since > begins:
        return None
    return begins, loan.end - rule.worth


def may_be_due(which: Reminder, loan: Loan, now: datetime) -> bool:
    """A quick look at the clock alone: whether it is due, or would be told together with one that is."""
    rule = _RULES[which]
    return is_reminded(loan) and loan.end - rule.ahead - TOGETHER <= now < loan.end - rule.worth


def batches(which: Reminder, unsaid: Sequence[Ending], now: datetime) -> tuple[Batch, ...]:
    """What is to be said now of endings that nobody was reminded of, one batch per message."""
    made: list[Batch] = []
    begins = _begins(which, unsaid, now)
    left = [one for one in unsaid if one.loan.id in begins]
    for to in dict.fromkeys(one.to for one in left):
        mine = sorted((one for one in left if one.to == to), key=lambda one: (one.loan.end, one.loan.id))
        while mine and begins[mine[0].loan.id] <= now:
            last = mine[0].loan.end + TOGETHER
            together = tuple(one.loan for one in mine if one.loan.end < last)
            made.append(Batch(which, to, together))
            mine = mine[len(together) :]
    return tuple(made)


def _begins(which: Reminder, unsaid: Sequence[Ending], now: datetime) -> dict[int, datetime]:
    """By loan id: from when it is said. Without those that have none, or for which it is too late."""
    windows = {one.loan.id: window(which, one.loan, one.known_since) for one in unsaid}
    return {number: found[0] for number, found in windows.items() if found and now < found[1]}
