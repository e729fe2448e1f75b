"""Use of loans and questions about idle ones in the database: written over, asked once at a time, settled once."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from bot.core.errors import Stale
from bot.core.idle_loans import IdleOffer, IdleState
from bot.core.loan_use import LoanUse, Unused
from bot.core.past_use import UsedLoan

HOUR, MICROSECOND = timedelta(hours=1), timedelta(microseconds=1)


def lent(store, make, how_many: int, **changes):
    """Loans with their requests, numbered from 1."""
    with store.begin() as work:
        for number in range(1, how_many + 1):
            request = work.requests.add(make.request(f"origin {number}", **changes))
            assert request.id == number
            work.loans.add(make.loan(number))
        work.commit()


def use_of(number: int, make, **changes) -> LoanUse:
    steps = (Unused(6, HOUR + MICROSECOND), Unused(2, timedelta(days=9)))
    made = LoanUse(number, make.now, 8, 2, HOUR + MICROSECOND, 2 * HOUR + MICROSECOND, steps)
    return replace(made, **changes)


def asked(make, **changes) -> IdleOffer:
    return IdleOffer(0, 1, 1, 6, 8, 12 * HOUR + MICROSECOND, make.now, **changes)


def test_a_loan_has_one_row_that_is_written_over(store, make) -> None:
    lent(store, make, 2)
    first, second = use_of(1, make), use_of(2, make, unused=())
    with store.begin() as work:
        work.uses.put([first])
        work.uses.put([])
        later = replace(first, seen_at=make.later(minutes=5), used=8, observed=9 * HOUR, unused=())
        work.uses.put([later, second])
        work.commit()
    with store.read() as work:
        assert work.uses.of({1, 2, 3}) == [later, second]
        assert work.uses.of({1}) == [later]
        assert work.uses.of(()) == []


def test_many_at_a_time(store, make) -> None:
    lent(store, make, 1201)
    uses = [use_of(number, make) for number in range(1, 1202)]
    with store.begin() as work:
        work.uses.put(uses)
        work.commit()
    with store.read() as work:
        assert work.uses.of([use.loan for use in uses]) == uses


def test_use_of_no_loan_is_refused(shared_store, make) -> None:
    with shared_store.begin() as work, pytest.raises(IntegrityError):
        work.uses.put([use_of(7, make)])


def test_past_use_is_that_of_the_same_cluster_team_flavor_and_resource(store, make) -> None:
    other = make.request().ask
    asks = [other, replace(other, cluster="eu-1"), replace(other, team="nlp"), replace(other, flavor="h100")]
    asks += [replace(other, resource="amd.com/gpu"), replace(other, requester="U2", amount=4), other]
    with store.begin() as work:
        for number, ask in enumerate(asks, start=1):
            work.requests.add(make.request(f"origin {number}", ask=ask))
            work.loans.add(make.loan(number))
        uses = [use_of(number, make) for number in range(1, 7)]
        work.uses.put([*uses, use_of(7, make, seen_at=make.later(days=-91))])
        work.commit()
    with store.read() as work:
        found = work.uses.like(other, make.later(days=-90))
    times = (HOUR + MICROSECOND, 2 * HOUR + MICROSECOND)
    assert found == [UsedLoan(1, "U1", 8, *times), UsedLoan(6, "U2", 4, *times)]


def test_a_question_is_asked_once_at_a_time(store, make) -> None:
    """And the refusal leaves the transaction usable."""
    lent(store, make, 2)
    with store.begin() as work:
        assert work.idle_offers.latest(1) is None
        first = work.idle_offers.add(asked(make))
        with pytest.raises(Stale):
            work.idle_offers.add(asked(make))
        second = work.idle_offers.add(replace(asked(make), nth=2, at=make.later(days=1)))
        other = work.idle_offers.add(replace(asked(make), loan=2))
        work.commit()
    with store.read() as work:
        assert (first.version, work.idle_offers.get(first.id)) == (1, first)
        assert (work.idle_offers.latest(1), work.idle_offers.latest(2)) == (second, other)
        assert work.idle_offers.get(999) is None


def test_an_answer_counts_once(store, make) -> None:
    lent(store, make, 1)
    with store.begin() as work:
        first = work.idle_offers.add(asked(make))
        less = work.idle_offers.update(replace(first, amount=3))
        assert less == replace(first, amount=3, version=2)
        with pytest.raises(Stale):
            work.idle_offers.update(first)
        done = replace(less, state=IdleState.RETURNED, settled_by="U1", settled_at=make.later(hours=1), left=5)
        kept = work.idle_offers.update(done)
        with pytest.raises(Stale):
            work.idle_offers.update(replace(kept, state=IdleState.KEPT))
        work.commit()
    with store.read() as work:
        assert work.idle_offers.get(first.id) == replace(done, version=3)


def test_of_two_leaders_at_once_one_asks(shared_store, make, together) -> None:
    lent(shared_store, make, 1)

    def ask() -> bool:
        with shared_store.begin() as work:
            work.idle_offers.add(asked(make))
            work.commit()
        return True

    results = together(ask, ask)
    assert sorted(type(one).__name__ for one in results) == ["Stale", "bool"]
