"""When an idle part of a loan is asked about, how much of it, and what is left of the question later."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.idle_loans import IdleOffer, IdleState, idle_part, is_quiet, lowered, may_be_asked
from bot.core.loan_use import LoanUse, Unused
from bot.core.loans import LoanState
from bot.core.policy.idle import IdleLoans
from tests.support.quota import NOW, loan

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
RULES = IdleLoans()
ASKED = IdleOffer(1, 1, 1, 6, 8, 12 * HOUR, NOW)


@pytest.mark.parametrize(
    ("changes", "left", "asked"),
    [
        ({}, 7 * HOUR, True),
        ({}, 6 * HOUR + MINUTE, True),
        ({}, 6 * HOUR, False),
        ({"suspended": "queue vision is gone"}, 7 * HOUR, False),
        ({"in_force_at": None}, 7 * HOUR, False),
        ({"state": LoanState.SCHEDULED}, 7 * HOUR, False),
        ({"state": LoanState.RETURNING}, 7 * HOUR, False),
    ],
)
def test_only_a_loan_in_force_and_not_shortly_before_its_end(
    changes: dict[str, object], left: timedelta, asked: bool
) -> None:
    one = replace(loan(1, 8, end=NOW + left), **changes)  # type: ignore[arg-type]
    assert may_be_asked(RULES, one, NOW) is asked
    assert not may_be_asked(RULES.model_copy(update={"offer": False}), one, NOW)


@pytest.mark.parametrize(
    ("last", "later", "quiet"),
    [
        (None, timedelta(0), False),
        (ASKED, 24 * HOUR - MINUTE, True),
        (ASKED, 24 * HOUR, False),
        (replace(ASKED, state=IdleState.KEPT, settled_at=NOW + HOUR), 24 * HOUR, True),
        (replace(ASKED, state=IdleState.KEPT, settled_at=NOW + HOUR), 25 * HOUR, False),
    ],
)
def test_once_a_day_at_most_counted_from_the_answer(last: IdleOffer | None, later: timedelta, quiet: bool) -> None:
    assert is_quiet(RULES, last, NOW + later) is quiet


@pytest.mark.parametrize(
    ("unused", "used_now", "part"),
    [
        ((), 0, 0),
        ((Unused(6, 12 * HOUR - MINUTE),), 2, 0),
        ((Unused(6, 12 * HOUR),), 2, 6),
        ((Unused(6, 12 * HOUR),), 0, 6),
        ((Unused(6, 12 * HOUR),), 5, 3),
        ((Unused(6, 12 * HOUR),), 8, 0),
        ((Unused(8, HOUR), Unused(6, 13 * HOUR), Unused(1, 40 * HOUR)), 0, 6),
    ],
)
def test_what_was_unused_all_the_time_and_is_now(unused: tuple[Unused, ...], used_now: int, part: int) -> None:
    use = LoanUse(1, NOW, 8, 2, unused=unused)
    assert idle_part(RULES, use, loan(1, 8), used_now) == part


def test_less_is_asked_again_and_nothing_ends_it() -> None:
    one = loan(1, 8)
    assert lowered(ASKED, one, 3, "U0VISION", NOW) == replace(ASKED, amount=3)
    over = lowered(ASKED, one, 0, "U0VISION", NOW)
    assert (over.state, over.settled_by, over.left) == (IdleState.USED, "U0VISION", 8)
