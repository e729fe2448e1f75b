"""A pause as a fact of the plan: what has not begun waits, what has begun is finished, what is over goes back."""

from collections.abc import Callable

import pytest

from bot.core.convergence.facts import AnswerKind
from bot.core.loans import Loan
from tests.support.convergence.play import Play
from tests.support.convergence.world import borrow, extra, key_of, limit_of, transfer

A, B = key_of("a"), key_of("b")
Stage = Callable[..., Play]


@pytest.mark.parametrize("loan", [transfer(17, "a", "b", 2), extra(17, "b", 2)])
def test_what_has_not_begun_waits_and_says_how_much(play: Stage, loan: Loan) -> None:
    made = play(loan, a=8, b=8)
    made.world.paused = True
    plan = made.settle()
    assert (made.number(A), made.number(B)) == (8, 8)
    assert plan.writes == ()
    assert (plan.figures[17].wanted, plan.figures[17].held_back) == (0, 2)
    made.world.paused = False
    assert made.settle().figures[17].held_back == 0
    assert made.number(B) == 10


@pytest.mark.parametrize("answer", ["now", "late", "lost"])
def test_what_has_begun_is_finished_whether_or_not_its_answer_is_known(play: Stage, answer: str) -> None:
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.send(answer)
    assert (made.number(A), made.number(B)) == (6, 8)
    made.world.paused = True
    assert made.settle().figures[17].held_back == 0
    assert (made.number(A), made.number(B)) == (6, 10)


def test_a_patch_that_is_on_its_way_counts_as_begun(play: Stage) -> None:
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.launch()
    made.world.paused = True
    made.world.land(made.world.flights[0])
    made.settle()
    assert (made.number(A), made.number(B)) == (6, 10)


def test_a_second_loan_of_the_same_queues_waits(play: Stage) -> None:
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.send()
    made.world.paused = True
    made.world.approve(transfer(18, "a", "b", 3))
    plan = made.settle()
    assert (made.number(A), made.number(B)) == (6, 10)
    assert [plan.figures[one].held_back for one in (17, 18)] == [0, 3]


def test_returns_go_on_on_both_sides(lent: Play) -> None:
    lent.world.paused = True
    lent.world.give_back(17)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (8, 8)


def test_put_back_finishes_what_still_stands_on_one_side(lent: Play) -> None:
    """A GitOps tool took the borrower's part away; the lender stays lowered; an admin wants the loan again."""
    lent.world.paused = True
    lent.world.edit(B, 8)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (6, 8)
    lent.answer(B, AnswerKind.PUT_BACK)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (6, 10), "its lender is lowered: it has begun"


def test_the_limit_of_a_borrow_waits_as_well(play: Stage) -> None:
    made = play(borrow(17, "b", 2), b=8)
    made.world.edit(limit_of("b"), 4)
    made.world.paused = True
    made.settle()
    assert made.number(limit_of("b")) == 4
    made.world.paused = False
    made.settle()
    assert made.number(limit_of("b")) == 6
