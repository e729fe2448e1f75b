"""The histories that shaped the rules (section 9 of the design, and two more), each told once."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.core.convergence.annotation import LOANS
from bot.core.convergence.changes import PatchOutcome
from bot.core.convergence.facts import AnswerKind
from bot.core.convergence.landed import settle
from bot.core.convergence.order import Move
from bot.core.convergence.planner import Plan
from bot.core.loans import LoanState
from tests.support.convergence.play import Play
from tests.support.convergence.world import extra, key_of, transfer

A, B, C = key_of("a"), key_of("b"), key_of("c")
Stage = Callable[..., Play]


def moves(plan: Plan) -> list[tuple[str, Move]]:
    """What a plan would write, in order."""
    return [(write.change.queue.name, write.move) for write in plan.writes]


def total(play: Play) -> int:
    return sum(quota.nominal for queue in play.world.objects.values() for quota in queue.quotas.values())


@pytest.fixture
def raising(play: Stage) -> Play:
    """The lender is lowered, the borrower's raise is in flight and nobody will hear of it."""
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.send()
    made.launch()
    return made


def test_1_a_late_patch_is_fenced_before_the_lender_is_raised(raising: Play) -> None:
    raising.world.give_back(17)
    assert moves(raising.plan()) == [("b", Move.FENCE)]
    raising.send()
    assert raising.world.land(raising.world.flights[0]) is PatchOutcome.CONFLICT
    raising.settle()
    assert (raising.number(A), raising.number(B)) == (8, 8)


def test_1_a_late_patch_that_wins_against_its_fence_is_taken_back_first(raising: Play) -> None:
    raising.world.give_back(17)
    raising.launch()
    late, fence = raising.world.flights
    assert raising.world.land(late, "lost") is PatchOutcome.APPLIED
    assert raising.world.land(fence) is PatchOutcome.CONFLICT
    assert moves(raising.plan()) == [("b", Move.DOWN)]
    raising.settle()
    assert (raising.number(A), raising.number(B)) == (8, 8)


def test_2_of_twins_one_may_have_landed(raising: Play) -> None:
    raising.launch()
    first, second = raising.world.flights
    assert first.intent.resource_version == second.intent.resource_version
    assert first.write.fields[0].seq != second.write.fields[0].seq
    raising.world.land(first, "lost")
    assert raising.world.land(second) is PatchOutcome.CONFLICT
    assert list(raising.world.db.intents) == [first.intent.id]
    raising.world.edit(B, 12)
    raising.settle()
    assert (raising.record(B).base, raising.record(B).legs) == (8, {"L17": 2})
    assert [record.key for record in raising.world.questions()] == [B]


def test_3_landed_stripped_and_undone_is_not_lowered_again(play: Stage) -> None:
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.send(answer="lost")
    made.world.edit(A, 8, strip=True)
    made.settle()
    assert (made.number(A), made.number(B)) == (8, 8)
    assert [record.key for record in made.world.questions()] == [A]


def test_4_landed_stripped_and_edited_is_no_base(raising: Play) -> None:
    raising.world.land(raising.world.flights[0], "lost")
    raising.world.edit(B, 12, strip=True)
    raising.settle()
    assert (raising.record(B).base, raising.record(B).legs, raising.record(B).uid) == (8, {"L17": 2}, None)
    raising.world.give_back(17)
    raising.settle()
    assert (raising.number(A), raising.number(B)) == (6, 12)


def test_5_a_guess_is_not_healed_by_accident(raising: Play) -> None:
    raising.world.land(raising.world.flights[0], "lost")
    raising.world.edit(B, 12, strip=True)
    raising.settle()
    raising.world.edit(B, 10)
    raising.world.give_back(17)
    raising.settle()
    assert [record.key for record in raising.world.questions()] == [B]
    assert (raising.number(A), raising.number(B)) == (6, 10)


def test_6_a_late_commit_stores_nothing(play: Stage) -> None:
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    old = made.world.read()
    made.send()
    before = made.world.db
    plan = made.world.plan_of(old)
    assert made.world.commit(old, plan, plan.writes[0]) is None
    assert made.world.db == before


def test_7_a_leg_waits_for_its_leg_even_in_a_patch_that_goes_up(play: Stage) -> None:
    made = play(transfer(1, "a", "b", 1), extra(2, "a", 2), a=2, b=2)
    assert moves(made.plan()) == [("a", Move.UP)]
    made.settle()
    assert (made.number(A), made.number(B)) == (3, 3)


def test_8_a_return_hidden_in_a_patch_that_changes_no_number_waits_for_the_fence(play: Stage) -> None:
    made = play(transfer(1, "a", "b", 1), a=2, b=2, c=2)
    made.send()
    made.launch()
    made.world.give_back(1)
    made.world.approve(transfer(2, "a", "c", 1))
    plan = made.plan()
    assert moves(plan) == [("a", Move.DOWN), ("b", Move.FENCE)]
    assert plan.writes[0].fields[0].legs == {"L1": -1, "L2": -1}
    made.settle()
    assert (made.number(A), made.number(B), made.number(C)) == (1, 2, 3)


def test_9_loans_in_a_circle_without_quota_come_to_rest(play: Stage) -> None:
    made = play(transfer(1, "a", "b", 2), transfer(2, "b", "a", 2), a=2, b=2)
    made.settle()
    for field in (A, B):
        made.world.edit(field, 0)
        made.settle()
        made.answer(field, AnswerKind.INCLUDED)
    made.world.give_back(1)
    plan = made.settle()
    assert (made.number(A), made.number(B)) == (0, 0)
    assert plan.figures[2].short_by == 2
    made.world.give_back(2)
    made.settle()
    assert {loan.state for loan in made.world.db.loans.values()} == {LoanState.CLOSED}


def test_10_a_lender_with_a_new_base_does_not_make_its_borrower_flap(lent: Play) -> None:
    lent.world.edit(A, 5)
    lent.settle()
    version = lent.world.objects["b"].resource_version
    lent.answer(A, AnswerKind.NEW_BASE)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (3, 10)
    assert lent.world.objects["b"].resource_version == version


def test_11_surplus_elsewhere_in_the_tree_goes_first(play: Stage) -> None:
    made = play(extra(1, "c", 1), a=4, b=4, c=4)
    made.settle()
    made.world.edit(C, 7)
    made.settle()
    made.world.approve(transfer(2, "a", "b", 2))
    made.send()
    made.answer(C, AnswerKind.PUT_BACK)
    assert moves(made.plan()) == [("c", Move.DOWN)]
    made.settle()
    assert (made.number(A), made.number(B), made.number(C)) == (2, 6, 5)


def test_11_surplus_that_may_not_be_written_holds_ups_as_well(play: Stage) -> None:
    made = play(extra(1, "c", 1), a=4, b=4, c=4)
    made.settle()
    made.world.edit(C, 7)
    made.settle()
    made.world.approve(transfer(2, "a", "b", 2))
    made.send()
    made.answer(C, AnswerKind.PUT_BACK)
    made.world.refused = {"c": made.world.objects["c"].resource_version}
    plan = made.plan()
    assert plan.writes == ()
    assert plan.figures[2].waits_for == "c"


def test_12_what_was_gone_and_is_back_with_our_number_is_not_ours(lent: Play) -> None:
    lent.world.edit(B, None)
    lent.settle()
    lent.world.edit(B, 10)
    lent.settle()
    assert (lent.record(B).base, lent.record(B).legs) == (10, {})
    assert (lent.number(A), lent.number(B)) == (8, 10)


def test_13_a_chain_behind_a_question_gives_back_what_is_certain(play: Stage) -> None:
    made = play(transfer(1, "a", "b", 2), transfer(2, "b", "c", 1), a=3, b=0, c=1)
    made.settle()
    assert (made.number(A), made.number(B), made.number(C)) == (1, 1, 2)
    made.world.edit(C, 3)
    made.world.give_back(1)
    made.world.give_back(2)
    made.settle()
    assert (made.number(A), made.number(B), made.number(C)) == (2, 0, 3)
    made.answer(C, AnswerKind.INCLUDED)
    made.settle()
    assert (made.number(A), made.number(B), made.number(C)) == (3, 0, 2)


def test_14_our_own_closing_write_is_nobodys_edit(lent: Play) -> None:
    lent.world.give_back(17)
    lent.send(answer="lost", queue="b")
    lent.settle()
    lent.world.approve(transfer(18, "a", "b", 1))
    lent.settle()
    assert lent.world.questions() == []
    assert (lent.number(A), lent.number(B)) == (7, 9)


def test_15_a_return_that_covers_a_loan_waits_until_that_loan_is_back(play: Stage) -> None:
    """The lender has no quota of its own: it lends 1 of an extra 2, and both loans end at once.

    To drop the extra 2 at once and forget what it lent would leave the borrower's 1 without any cover.
    """
    made = play(transfer(1, "a", "b", 1), extra(2, "a", 2), a=0, b=2)
    made.settle()
    assert (made.number(A), made.number(B)) == (1, 3)
    made.world.give_back(1)
    made.world.give_back(2)
    made.send(queue="a")
    assert made.record(A).legs == {"L1": -1, "L2": 1}
    made.settle()
    assert (made.number(A), made.number(B)) == (0, 2)


def test_16_a_cancelled_loan_is_not_closed_while_its_patch_may_land(play: Stage) -> None:
    """Nothing of it is in any record, but a patch under way has it: the queue is fenced, then the loan is closed."""
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.launch()
    made.world.give_back(17)
    assert moves(made.store()) == [("a", Move.FENCE)]
    assert made.world.db.loans[17].state is LoanState.RETURNING
    made.settle()
    assert made.world.db.loans[17].state is LoanState.CLOSED
    assert made.world.land(made.world.flights[0]) is PatchOutcome.CONFLICT
    assert total(made) == 16


def test_17_surplus_that_is_to_be_put_back_falls_before_the_loan_does(lent: Play) -> None:
    """b was 12, somebody set it back to 10, and only then "put back" was pressed about the 12: b still holds the 2."""
    lent.world.edit(B, 12)
    lent.store()
    asked = lent.record(B)
    lent.world.edit(B, 10)
    assert lent.world.answer(asked, AnswerKind.PUT_BACK)
    lent.world.give_back(17)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (6, 10)
    lent.answer(B, AnswerKind.INCLUDED)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (8, 8)


@pytest.mark.parametrize("told", [True, False], ids=["the intent is known to be closed", "only the record is there"])
def test_18_a_late_answer_does_not_bring_back_what_was_written_off(play: Stage, told: bool) -> None:
    """A patch that changes legs and no number landed and was stripped: it counts as not landed, also for its answer."""
    made = play(transfer(1, "a", "b", 1), transfer(2, "b", "c", 1), a=2, b=0, c=0)
    made.send()
    made.send()
    flight = made.world.flights
    assert flight == []
    made.launch(queue="c")
    intent = made.world.flights[0].intent
    made.world.drop(made.world.flights[0])
    made.world.touch("c")
    made.settle()
    before = made.record(C)
    late = settle(intent, PatchOutcome.APPLIED, made.world.db.records, () if told else None)
    assert late.records == ()
    assert made.record(C) == before


def test_19_a_leg_of_an_unknown_loan_is_left_alone_and_said_and_written_once(lent: Play) -> None:
    lent.world.db = replace(lent.world.db, loans={})
    for name in ("a", "b"):
        queue = lent.world.objects[name]
        text = queue.annotations[LOANS].replace("L17", "L18")
        lent.world.objects[name] = replace(queue, annotations={LOANS: text})
    plan = lent.settle()
    assert plan.writes == ()
    assert "unknown loan" in lent.kinds()
    assert (lent.number(A), lent.number(B)) == (6, 10)
