"""Section 7 of the design: lendingLimit follows nominal, limits, whole numbers, shortfall."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.core.convergence.facts import AnswerKind
from bot.core.convergence.lending import lending_limit
from bot.core.kueue import Quota
from bot.core.loans import Loan
from tests.support.convergence.play import Play
from tests.support.convergence.world import H100, World, borrow, extra, key_of, limit_of, queue_of, transfer

A, B = key_of("a"), key_of("b")


def _limits(play: Play) -> tuple[int | None, int | None]:
    a, b = (play.world.objects[name].quotas[H100].lending_limit for name in "ab")
    return a, b


def _stage(a: Quota, b: Quota, *loans: Loan) -> Play:
    made = Play(World.of(queue_of("a", {H100: a}), queue_of("b", {H100: b})))
    for loan in loans:
        made.world.approve(loan)
    return made


@pytest.mark.parametrize(
    ("base", "nominal", "received", "limit"),
    [
        (None, 8, 2, None),
        (8, 6, 0, 6),
        (3, 6, 0, 3),
        (0, 6, 0, 0),
        (8, 10, 2, 10),
        (3, 10, 2, 5),
        (0, 10, 2, 2),
        (8, 3, 2, 3),
    ],
    ids=[
        "unset stays unset",
        "lender: never above nominal",
        "lender: lower limit stays",
        "lender: 0 stays",
        "borrower: what it received flows back",
        "borrower: lends 3 of its own and the loan",
        "borrower that lends nothing of its own lends the loan",
        "both: never above nominal",
    ],
)
def test_lending_limit_follows_nominal(base: int | None, nominal: int, received: int, limit: int | None) -> None:
    assert lending_limit(base, nominal, received) == limit


@pytest.mark.parametrize(
    ("a", "b", "while_lent"),
    [(8, 8, (6, 10)), (3, 8, (3, 10)), (None, 3, (None, 5)), (0, 0, (0, 2)), (7, None, (6, None))],
)
def test_lending_limits_during_a_transfer_and_after(
    a: int | None, b: int | None, while_lent: tuple[int | None, int | None]
) -> None:
    made = _stage(Quota(8, lending_limit=a), Quota(8, lending_limit=b), transfer(17, "a", "b", 2))
    made.settle()
    assert _limits(made) == while_lent
    made.world.give_back(17)
    made.settle()
    assert _limits(made) == (a, b)


def test_an_extra_loan_leaves_the_lending_limit_alone() -> None:
    made = _stage(Quota(8), Quota(8, lending_limit=3), extra(1, "b", 2))
    made.settle()
    assert (made.number(B), _limits(made)) == (10, (None, 3))


def test_a_lending_limit_that_somebody_sets_becomes_its_base_and_is_told_once() -> None:
    made = _stage(Quota(8, lending_limit=8), Quota(8), transfer(17, "a", "b", 2))
    made.settle()
    made.world.set_lending_limit("a", 1)
    told = [finding for finding in made.store().findings if finding.kind == "lending limit"]
    assert [finding.live for finding in told] == [1]
    made.findings.clear()
    made.settle()
    assert "lending limit" not in made.kinds()
    assert made.world.questions() == []
    made.world.give_back(17)
    made.settle()
    assert (made.number(A), _limits(made)) == (8, (1, None))


def test_the_lending_limit_waits_while_nominal_is_in_question() -> None:
    made = _stage(Quota(8, lending_limit=8), Quota(8), transfer(17, "a", "b", 2))
    made.settle()
    made.world.edit(A, 7)
    made.world.set_lending_limit("a", 1)
    made.settle()
    assert (made.record(A).lending_base, _limits(made)) == (8, (1, None))


def test_a_number_that_is_not_whole_is_not_written_and_said(play: Callable[..., Play]) -> None:
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    queue = made.world.objects["a"]
    made.world.objects["a"] = replace(queue, quotas={H100: Quota(8, whole=False)})
    plan = made.settle()
    assert (made.number(A), made.number(B)) == (8, 8)
    assert "not whole" in made.kinds()
    assert [queue for queue, _ in plan.figures[17].unwritable] == ["a"]


def test_quotas_that_kueue_itself_writes_are_left_alone(play: Callable[..., Play]) -> None:
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    queue = made.world.objects["b"]
    made.world.objects["b"] = replace(queue, quota_automation="MultiKueue writes the quotas of b")
    plan = made.settle()
    assert made.number(B) == 8
    assert plan.figures[17].unwritable == (("b", "MultiKueue writes the quotas of b"),)
    assert "automated" in made.kinds()


def test_shortfall_never_writes_below_0_and_comes_back_by_itself(play: Callable[..., Play]) -> None:
    made = play(a=8, b=8)
    made.world.edit(A, 2)
    made.world.approve(transfer(1, "a", "b", 1))
    made.world.approve(transfer(2, "a", "b", 4))
    plan = made.settle()
    assert (made.number(A), made.number(B)) == (0, 10)
    assert (plan.figures[1].short_by, plan.figures[2].short_by) == (0, 3)
    assert [finding.words for finding in plan.findings if finding.kind == "short"] == ["1 of 4"]
    made.world.give_back(1)
    made.settle()
    assert (made.number(A), made.number(B)) == (0, 10)


def test_the_cut_part_comes_back_when_base_rises(lent: Play) -> None:
    lent.world.edit(A, 1)
    lent.settle()
    lent.answer(A, AnswerKind.NEW_BASE)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (0, 9)
    lent.world.edit(A, 7)
    lent.settle()
    lent.answer(A, AnswerKind.NEW_BASE)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (5, 10)


@pytest.mark.parametrize("limit", [0, 3])
def test_a_borrow_raises_the_borrowing_limit_and_gives_it_back(limit: int) -> None:
    made = _stage(Quota(8), Quota(8, borrowing_limit=limit), borrow(3, "b", 4))
    made.settle()
    assert (made.number(limit_of("b")), made.number(B)) == (limit + 4, 8)
    made.world.give_back(3)
    made.settle()
    assert made.number(limit_of("b")) == limit


def test_a_borrow_without_a_limit_is_suspended() -> None:
    made = _stage(Quota(8), Quota(8), borrow(3, "b", 4))
    made.settle()
    assert made.world.db.loans[3].suspended == "borrowingLimit of b is not set any more"
    assert made.number(limit_of("b")) is None


def test_one_patch_carries_all_fields_of_a_queue_that_may_move() -> None:
    made = _stage(Quota(8, lending_limit=8), Quota(8, borrowing_limit=1), transfer(17, "b", "a", 2), borrow(3, "b", 4))
    (write,) = made.plan().writes
    assert write.change.numbers == {B: 6, limit_of("b"): 5}
    assert len({part.seq for part in write.fields}) == 1
    made.settle()
    assert (made.number(A), made.number(B), made.number(limit_of("b"))) == (10, 6, 5)


def test_what_does_not_move_is_not_in_the_patch() -> None:
    made = _stage(Quota(8), Quota(8, borrowing_limit=1), borrow(3, "b", 4))
    (write,) = made.plan().writes
    assert write.change.numbers == {limit_of("b"): 5}
    assert write.change.lending_limits == {}
