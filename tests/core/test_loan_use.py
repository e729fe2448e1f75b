"""How much of a loan is used: by a look at the queue, and over many looks with gaps between them."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.convergence.facts import FieldKey, FieldRecord, Question
from bot.core.convergence.legs import borrower_field
from bot.core.kueue import Quota
from bot.core.loan_use import (
    FORGETS_AFTER,
    MOST_APART,
    LoanUse,
    Unused,
    first_seen,
    seen_again,
    use_of_loans,
    used_parts,
)
from bot.core.loans import Loan, LoanKind, LoanState
from tests.support import quota
from tests.support.quota import A100, NOW, loan, picture, queue

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def moves(number: int, amount: int, days: int = 1) -> Loan:
    """A transfer to vision."""
    return loan(number, amount, kind=LoanKind.TRANSFER, lender="nlp", end=NOW + timedelta(days=days))


def borrows(number: int, amount: int, days: int = 1) -> Loan:
    return loan(number, amount, end=NOW + timedelta(days=days))


# 16 nominal and 4 by borrowing without any loan


@pytest.mark.parametrize(
    ("nominal", "borrowing", "loans", "reserved", "used"),
    [
        (24, 4, [moves(1, 8)], 0, [0]),
        (24, 4, [moves(1, 8)], 16, [0]),
        (24, 4, [moves(1, 8)], 18, [2]),
        (24, 4, [moves(1, 8)], 24, [8]),
        (24, 4, [moves(1, 8)], 28, [8]),
        (16, 12, [borrows(1, 8)], 16, [0]),
        (16, 12, [borrows(1, 8)], 20, [0]),
        (16, 12, [borrows(1, 8)], 23, [3]),
        (16, 12, [borrows(1, 8)], 40, [8]),
        (24, 12, [moves(1, 8), borrows(2, 8)], 22, [6, 0]),
        (24, 12, [moves(1, 8), borrows(2, 8)], 28, [8, 0]),
        (24, 12, [moves(1, 8), borrows(2, 8)], 30, [8, 2]),
        (24, 4, [moves(1, 4, 3), moves(2, 4, 1)], 18, [0, 2]),
        (24, 4, [moves(1, 4, 3), moves(2, 4, 1)], 21, [1, 4]),
        (24, 4, [moves(1, 4), moves(2, 4)], 19, [3, 0]),
        (24, None, [moves(1, 8)], 20, [4]),
    ],
)
def test_a_queue_uses_its_own_quota_first_and_then_the_loan_that_ends_first(
    nominal: int, borrowing: int | None, loans: list[Loan], reserved: int, used: list[int]
) -> None:
    of = queue("vision", nominal, reserved, borrowing=borrowing)
    parts = used_parts(of, A100, [(one, one.amount) for one in loans])
    assert [parts[one.id] for one in loans] == used


@given(st.integers(0, 40), st.lists(st.tuples(st.integers(1, 8), st.booleans(), st.integers(1, 9)), max_size=4))
def test_parts_never_exceed_amounts_and_together_are_what_is_above(
    reserved: int, drawn: list[tuple[int, bool, int]]
) -> None:
    loans = [(moves if moved else borrows)(n, amount, days) for n, (amount, moved, days) in enumerate(drawn, 1)]
    moved = sum(one.amount for one in loans if one.kind is LoanKind.TRANSFER)
    borrowed = sum(one.amount for one in loans if one.kind is LoanKind.BORROW)
    of = queue("vision", 16 + moved, reserved, borrowing=4 + borrowed)
    used = used_parts(of, A100, [(one, one.amount) for one in loans])
    assert all(0 <= used[one.id] <= one.amount for one in loans)
    assert sum(used[one.id] for one in loans if one.kind is LoanKind.TRANSFER) == min(moved, max(0, reserved - 16))
    above = max(0, reserved - 16 - moved - 4)
    assert sum(used[one.id] for one in loans if one.kind is LoanKind.BORROW) == min(borrowed, above)


def records(*loans: Loan, **changes: object) -> dict[FieldKey, FieldRecord]:
    """What is written of these loans, on queues with nominal 16 and no more than that may borrow 4."""
    found: dict[FieldKey, FieldRecord] = {}
    for one in loans:
        key = borrower_field(one)
        base = 4 if one.kind is LoanKind.BORROW else 16
        legs = {**(found[key].legs if key in found else {}), one.leg_id: one.amount}
        made = FieldRecord(key, f"uid-{one.borrower}", 1, base, legs, base + sum(legs.values()))
        found[key] = replace(made, **changes)  # type: ignore[arg-type]
    return found


def test_a_loan_is_looked_at_while_it_is_in_force_as_a_whole() -> None:
    one = moves(1, 8)
    shows = picture(queue("vision", 24, 19, borrowing=4))
    assert use_of_loans(shows, [one], records(one)) == {1: 3}
    for other in (
        replace(one, state=LoanState.RETURNING),
        replace(one, suspended="queue nlp is gone"),
        replace(one, in_force_at=None),
        replace(one, amount=9),
    ):
        assert use_of_loans(shows, [other], records(one)) == {}
    gone = picture(queue("nlp", 24))
    assert use_of_loans(gone, [one], records(one)) == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"question": Question("uid-vision", 20, NOW)},
        {"wrote": 25},
        {"uid": "another"},
    ],
    ids=["in question", "edited just now", "another object"],
)
def test_nobody_says_whose_a_device_is_while_a_number_is_unexplained(changes: dict[str, object]) -> None:
    """Not of the queue's other loans either."""
    one, other = moves(1, 8), borrows(2, 2)
    shows = picture(queue("vision", 24, 19, borrowing=6))
    known = records(one, **changes) | records(other)
    assert use_of_loans(shows, [one, other], known) == {}
    assert use_of_loans(shows, [other], known) == {2: 0}, "of a queue whose other number has no loan in it"


def test_an_entry_that_is_gone_is_not_looked_at() -> None:
    one = borrows(1, 8)
    shows = picture(queue("vision", quotas={}))
    assert use_of_loans(shows, [one], records(one, wrote=None)) == {}
    assert Quota(0).borrowing_limit is None


# over time

Look = tuple[timedelta, int]
"""How long after the one before, and how many of 8 are in use."""
_LOOKS = st.lists(
    st.tuples(
        st.one_of(
            st.integers(1, 300).map(lambda seconds: timedelta(seconds=seconds)),
            st.sampled_from([MOST_APART + MINUTE, 20 * MINUTE, FORGETS_AFTER, FORGETS_AFTER + MINUTE, 9 * HOUR]),
        ),
        st.integers(-2, 11),
    ),
    max_size=30,
)


def told(looks: list[Look], first: int = 8, amount: int = 8) -> LoanUse:
    at, use = NOW, first_seen(1, amount, first, NOW)
    for apart, used in looks:
        at += apart
        use = seen_again(use, amount, used, at)
    return use


def _clamped(used: int) -> int:
    return min(8, max(0, used))


@given(_LOOKS)
def test_it_is_the_sum_over_what_was_observed_and_gaps_count_for_nothing(looks: list[Look]) -> None:
    use = told(looks)
    held = [8, *(_clamped(used) for _, used in looks)]
    seen = [(apart, before) for (apart, _), before in zip(looks, held, strict=False) if apart <= MOST_APART]
    assert use.observed == sum((apart for apart, _ in seen), timedelta(0))
    assert use.used_time == sum((apart * used for apart, used in seen), timedelta(0))
    assert timedelta(0) <= use.used_time <= 8 * use.observed
    assert (use.used, use.seen_at) == (held[-1], NOW + sum((apart for apart, _ in looks), timedelta(0)))


@given(_LOOKS, st.data())
def test_a_look_between_two_that_shows_the_same_changes_nothing(looks: list[Look], data: st.DataObject) -> None:
    whole = told(looks)
    parts: list[Look] = []
    used = 8
    for apart, now in looks:
        if apart <= MOST_APART:
            first = timedelta(seconds=data.draw(st.integers(1, int(apart.total_seconds()))))
            parts += [(first, used), (apart - first, now)]
        else:
            parts.append((apart, now))
        used = now
    assert told(parts) == whole


@given(_LOOKS)
def test_what_was_unused_all_the_time_is_what_each_look_of_that_time_left_unused(looks: list[Look]) -> None:
    """Against the plain reading: go back from the end, over short gaps, as long as so many were unused."""
    use = told(looks)
    held = [8, *(_clamped(used) for _, used in looks)]
    for devices in range(1, 9):
        lasted = timedelta(0)
        if 8 - held[-1] >= devices:
            for (apart, _), before in zip(reversed(looks), reversed(held[:-1]), strict=True):
                if apart > FORGETS_AFTER or 8 - before < devices:
                    break
                lasted += apart if apart <= MOST_APART else timedelta(0)
        assert use.lasted(devices) == lasted
        if lasted:
            assert use.idle_for(lasted) >= devices
    steps = use.unused
    assert all(a.at_least > b.at_least and a.lasted < b.lasted for a, b in pairwise(steps))


@pytest.mark.parametrize(
    ("looks", "unused"),
    [
        ([(MINUTE, 8)], ()),
        ([(MINUTE, 2), (MINUTE, 2)], (Unused(6, MINUTE),)),
        ([(MINUTE, 7), (MINUTE, 0), (MINUTE, 0)], (Unused(8, MINUTE), Unused(1, 2 * MINUTE))),
        ([(MINUTE, 0), (MINUTE, 7), (MINUTE, 7)], (Unused(1, 2 * MINUTE),)),
        ([(MINUTE, 0), (MINUTE, 0), (HOUR, 0), (MINUTE, 0)], (Unused(8, 2 * MINUTE),)),
        ([(MINUTE, 0), (MINUTE, 0), (HOUR + MINUTE, 0), (MINUTE, 0)], (Unused(8, MINUTE),)),
        ([(MINUTE, 0), (timedelta(0), 3), (MINUTE, 3)], (Unused(5, MINUTE),)),
    ],
    ids=["all used", "some", "more later", "less later", "a gap", "a long gap", "twice at once"],
)
def test_how_much_was_unused_for_how_long(looks: list[Look], unused: tuple[Unused, ...]) -> None:
    assert told(looks).unused == unused


def test_what_goes_back_is_no_longer_unused() -> None:
    use = told([(MINUTE, 2), (MINUTE, 2)])
    after = seen_again(use, 2, 2, use.seen_at + MINUTE)
    assert (after.unused, after.amount, after.used) == ((), 2, 2)
    assert after.used_time - use.used_time == 2 * MINUTE


@given(st.lists(st.integers(0, 200), max_size=300))
def test_it_stays_small(used: list[int]) -> None:
    use = told([(MINUTE, one) for one in used], 200, 200)
    assert len(use.unused) <= 32


def test_a_clock_that_stands_still_or_goes_back_counts_nothing() -> None:
    use = told([(MINUTE, 2)])
    earlier: datetime = use.seen_at - HOUR
    again = seen_again(use, 8, 5, earlier)
    assert (again.seen_at, again.observed, again.used) == (use.seen_at, use.observed, 5)
    assert quota.NOW == NOW
