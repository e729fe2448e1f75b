"""What a counter-offer may ask: never more than was asked for, in amount or time, and never nothing at all."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import Refused
from bot.core.loans import LoanKind
from bot.core.offers import Terms, as_of, check_differs, check_less, described, lasts, terms_of, with_terms
from tests.support import quota
from tests.support.quota import NOW

HOUR = timedelta(hours=1)
ASKED = terms_of(quota.transfer(8))
DATED = replace(ASKED, duration=None, until=NOW + timedelta(days=3))


def at(hours: float) -> datetime:
    return NOW + hours * HOUR


def test_terms_leave_place_reason_and_requester_alone() -> None:
    ask = quota.transfer(8)
    other = Terms(2, LoanKind.BORROW, None, at(1), None, at(9))
    assert with_terms(ask, terms_of(ask)) == ask
    assert terms_of(with_terms(ask, other)) == other
    assert with_terms(with_terms(ask, other), terms_of(ask)) == ask


@pytest.mark.parametrize(
    ("asked", "changes"),
    [
        (ASKED, {"amount": 1}),
        (ASKED, {"duration": HOUR}),
        (ASKED, {"duration": None, "until": at(72)}),
        (ASKED, {"duration": None, "until": at(90), "start": at(20)}),
        (ASKED, {"start": at(1)}),
        (ASKED, {"kind": LoanKind.BORROW, "lender": None}),
        (DATED, {"until": at(71)}),
        (DATED, {"duration": 72 * HOUR, "until": None}),
        (DATED, {"start": at(10)}),
        (replace(ASKED, start=at(5)), {"start": at(6)}),
        (replace(ASKED, start=at(-5)), {"start": None, "amount": 2}),
    ],
)
def test_less_shorter_later_or_another_kind_may_be_offered(asked: Terms, changes: dict[str, Any]) -> None:
    offered = replace(asked, **changes)
    check_less(asked, offered, NOW)
    check_differs(asked, offered, NOW)


@pytest.mark.parametrize(
    ("asked", "changes", "field", "words"),
    [
        (ASKED, {"amount": 9}, "amount", "less: 8 at most"),
        (ASKED, {"duration": 73 * HOUR}, "until", "shorter: 3 days at most"),
        (ASKED, {"duration": None, "until": at(73)}, "until", "shorter: 3 days at most"),
        (DATED, {"until": at(73)}, "until", "shorter: 3 days at most"),
        (DATED, {"duration": 73 * HOUR, "until": None}, "until", "shorter: 3 days at most"),
        (replace(DATED, start=at(70)), {"start": at(69), "until": at(70)}, "start_at", "only start later"),
        (replace(ASKED, start=at(5)), {"start": None}, "start_at", "only start later"),
        (replace(DATED, until=at(0)), {"until": at(0)}, "until", "asked for has passed"),
    ],
)
def test_more_is_refused_on_its_field(asked: Terms, changes: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(Refused, match=words) as error:
        check_less(asked, replace(asked, **changes), NOW)
    assert error.value.field == field


@pytest.mark.parametrize("asked", [ASKED, DATED, replace(ASKED, start=at(5))])
def test_what_was_asked_for_is_no_offer(asked: Terms) -> None:
    with pytest.raises(Refused, match="Nothing is changed"):
        check_differs(asked, asked, NOW)


def test_a_start_that_has_passed_is_one_at_approval() -> None:
    assert as_of(replace(ASKED, start=at(-1)), NOW) == ASKED
    with pytest.raises(Refused, match="Nothing is changed"):
        check_differs(replace(ASKED, start=at(-1)), ASKED, NOW)


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (ASKED, "8 a100, 3 days, transfer from nlp"),
        (replace(ASKED, kind=LoanKind.BORROW, lender=None, amount=1200), "1,200 a100, 3 days, borrow"),
        (
            replace(DATED, start=at(1)),
            "8 a100, until 2026-12-05 13:05 +0000, transfer from nlp, starting 2026-12-02 14:05 +0000",
        ),
    ],
)
def test_terms_in_a_clause(terms: Terms, words: str) -> None:
    assert described("a100", terms) == words


hours = st.integers(-48, 96)
terms = st.builds(
    lambda amount, start, length, end: Terms(
        amount, LoanKind.BORROW, None, start, None if end else length, at(end) if end else None
    ),
    st.integers(1, 20),
    st.none() | hours.map(at),
    st.integers(1, 200).map(lambda one: one * HOUR),
    st.none() | st.integers(1, 96),
)


@given(terms, terms)
def test_whatever_passes_gives_nobody_more_than_was_asked(asked: Terms, offered: Terms) -> None:
    """Neither devices, nor time, nor an earlier start, if both began now."""
    try:
        check_less(asked, offered, NOW)
    except Refused:
        return
    assert offered.amount <= asked.amount
    assert lasts(offered, NOW) <= lasts(asked, NOW)
    assert max(NOW, offered.start or NOW) >= max(NOW, asked.start or NOW)
