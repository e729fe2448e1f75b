"""When an end is recalled, and to whom together: a table of lengths and moments, and what holds for all of them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.loans import Loan, LoanState
from bot.core.reminders import Ending, Reminder, batches, may_be_due
from tests.support.quota import NOW, loan

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def lasting(length: timedelta, number: int = 1, left: timedelta = timedelta(0)) -> Loan:
    """A loan in force of this length that ends in `left`."""
    return loan(number, start=NOW + left - length, end=NOW + left)


def ending(one: Loan, to: str = "U0VISION", known: timedelta | None = None) -> Ending:
    return Ending(one, (to,), one.start if known is None else NOW - known)


def said(length: timedelta, left: timedelta) -> list[Reminder]:
    one = lasting(length, left=left)
    return [which for which in Reminder if batches(which, [ending(one)], NOW)]


@pytest.mark.parametrize(
    ("length", "left", "expected"),
    [
        (72 * HOUR, 24 * HOUR + MINUTE, []),
        (72 * HOUR, 24 * HOUR, [Reminder.DAY]),
        (48 * HOUR, 24 * HOUR, [Reminder.DAY]),
        (48 * HOUR - MINUTE, 24 * HOUR, []),
        (72 * HOUR, 12 * HOUR + MINUTE, [Reminder.DAY]),
        (72 * HOUR, 12 * HOUR, []),
        (72 * HOUR, 2 * HOUR, []),
        (72 * HOUR, HOUR + MINUTE, []),
        (72 * HOUR, HOUR, [Reminder.HOUR]),
        (4 * HOUR, HOUR, [Reminder.HOUR]),
        (4 * HOUR - MINUTE, HOUR, []),
        (72 * HOUR, MINUTE, [Reminder.HOUR]),
        (72 * HOUR, timedelta(0), []),
        (72 * HOUR, -MINUTE, []),
    ],
)
def test_it_is_said_in_time_or_not_at_all(length: timedelta, left: timedelta, expected: list[Reminder]) -> None:
    assert said(length, left) == expected


@pytest.mark.parametrize(
    "changes",
    [
        {"in_force_at": None},
        {"suspended": "queue vision is gone"},
        {"state": LoanState.SCHEDULED},
        {"state": LoanState.RETURNING},
        {"state": LoanState.CLOSED},
    ],
)
def test_an_end_that_takes_nothing_away_is_not_recalled(changes: dict[str, object]) -> None:
    one = replace(lasting(72 * HOUR, left=HOUR), **changes)  # type: ignore[arg-type]
    assert not batches(Reminder.HOUR, [ending(one)], NOW)


@pytest.mark.parametrize(("ago", "times"), [(timedelta(0), 0), (MINUTE, 0), (2 * HOUR, 1)])
def test_an_end_that_was_just_agreed_on_is_not_recalled(ago: timedelta, times: int) -> None:
    one = lasting(72 * HOUR, left=HOUR - 2 * MINUTE)
    assert len(batches(Reminder.HOUR, [ending(one, known=ago)], NOW)) == times


def test_loans_of_one_person_that_end_in_the_same_hour_share_a_message() -> None:
    mine = [lasting(72 * HOUR, number, HOUR + number * 20 * MINUTE - 20 * MINUTE) for number in (1, 2, 3, 4)]
    found = batches(Reminder.HOUR, [*(ending(one) for one in reversed(mine)), ending(mine[0], "U0NLP")], NOW)
    assert [(one.to, [each.id for each in one.loans]) for one in found] == [
        (("U0VISION",), [1, 2, 3]),
        (("U0NLP",), [1]),
    ]


def test_nothing_is_said_early_for_company_that_is_not_due_itself() -> None:
    late = [lasting(72 * HOUR, number, HOUR + number * MINUTE) for number in (1, 2)]
    assert batches(Reminder.HOUR, [ending(one) for one in late], NOW) == ()


minutes = st.integers(-100, 4000).map(lambda count: timedelta(minutes=count))


@given(st.lists(st.tuples(minutes, st.integers(1, 6000)), max_size=8), st.sampled_from(Reminder))
def test_every_ending_is_in_one_message_at_most_and_none_is_over(
    lengths: list[tuple[timedelta, int]], which: Reminder
) -> None:
    loans = [lasting(timedelta(minutes=length), number, left) for number, (left, length) in enumerate(lengths, 1)]
    made = batches(which, [ending(one) for one in loans], NOW)
    ids = [one.id for batch in made for one in batch.loans]
    assert len(ids) == len(set(ids))
    for batch in made:
        assert batch.loans
        assert all(one.end > NOW and may_be_due(which, one, NOW) for one in batch.loans)
        assert batch.loans[-1].end - batch.loans[0].end < HOUR
