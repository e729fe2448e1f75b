"""Loans in the database."""

from dataclasses import replace

import pytest

from bot.core.errors import Stale
from bot.core.loans import LoanEnd, LoanKind, LoanState


@pytest.fixture
def three(store, make):
    with store.begin() as work:
        loans = [
            make.loan(9, start=make.later(hours=9)),
            make.loan(3, lender=None, kind=LoanKind.BORROW, borrower="team-audio", state=LoanState.RUNNING),
            make.loan(5, lender="team-audio", borrower="team-speech", state=LoanState.CLOSED),
        ]
        made = [work.loans.add(loan) for loan in loans]
        work.commit()
    return made


def test_a_loan_keeps_the_number_of_its_request(store, three, make) -> None:
    with store.read() as work:
        assert [work.loans.get(number) for number in (9, 3, 5)] == three
        assert work.loans.get(1) is None
    assert [loan.id for loan in three] == [9, 3, 5]


def test_a_request_becomes_one_loan(store, three, make) -> None:
    with store.begin() as work, pytest.raises(Stale):
        work.loans.add(make.loan(9, amount=1))


@pytest.mark.parametrize(
    ("conditions", "numbers"),
    [
        ({}, [3, 5, 9]),
        ({"states": [LoanState.SCHEDULED, LoanState.RUNNING]}, [3, 9]),
        ({"states": []}, []),
        ({"queues": ["team-audio"]}, [3, 5]),
        ({"queues": ["team-nlp", "team-speech"]}, [5, 9]),
        ({"queues": []}, []),
        ({"queues": ["team-audio"], "states": [LoanState.CLOSED]}, [5]),
    ],
)
def test_find_gives_the_oldest_first_by_state_and_by_either_queue(store, three, conditions, numbers) -> None:
    with store.read() as work:
        assert [loan.id for loan in work.loans.find(**conditions)] == numbers


def test_find_since_is_about_the_start(store, three, make) -> None:
    with store.read() as work:
        assert [loan.id for loan in work.loans.find(since=make.later(hours=9))] == [9]


def test_of_two_ends_at_once_one_wins_and_the_other_is_stale(shared_store, make, together) -> None:
    with shared_store.begin() as work:
        read = work.loans.add(make.loan(1))
        work.commit()

    def end(reason):
        def run():
            with shared_store.begin() as work:
                ended = replace(read, state=LoanState.RETURNING, end_reason=reason, ended_at=make.now)
                updated = work.loans.update(ended)
                work.commit()
                return updated

        return run

    results = together(end(LoanEnd.ENDED), end(LoanEnd.RETURNED))
    [winner] = [result for result in results if not isinstance(result, Stale)]
    with shared_store.read() as work:
        assert work.loans.get(1) == winner
