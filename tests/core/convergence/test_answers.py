"""Section 5 of the design: what each answer does, now and after the loan's end."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from bot.core.convergence.answers import Void, apply_answer, previews
from bot.core.convergence.facts import Answer, AnswerKind, FieldKey, FieldRecord, Question
from bot.core.loans import LoanState
from tests.support.convergence.play import Play
from tests.support.convergence.world import key_of, transfer

A, B = key_of("a"), key_of("b")
NOW = datetime(2026, 12, 2, tzinfo=UTC)
NEW_BASE, INCLUDED, PUT_BACK = AnswerKind.NEW_BASE, AnswerKind.INCLUDED, AnswerKind.PUT_BACK

WHILE_IT_RUNS = [
    # edited field and number, answer, lender and borrower while the loan runs, and after its end (base 8, lent 2)
    pytest.param(A, 7, NEW_BASE, (5, 10), (7, 8), id="lender at 7 is the base: 7-2, then 7"),
    pytest.param(A, 1, NEW_BASE, (0, 9), (1, 8), id="lender at 1 is the base: short, borrower lowered by the same"),
    pytest.param(A, 7, INCLUDED, (7, 10), (9, 8), id="lender at 7 includes the loan: stays, then 9"),
    pytest.param(A, 7, PUT_BACK, (6, 10), (8, 8), id="lender back: 8-2, then 8"),
    pytest.param(A, 5, NEW_BASE, (3, 10), (5, 8), id="lender at 5 is the base: 5-2, then 5"),
    pytest.param(A, 5, INCLUDED, (5, 10), (7, 8), id="lender at 5 includes the loan: stays, then 7"),
    pytest.param(A, 5, PUT_BACK, (6, 10), (8, 8), id="lender raised back from 5"),
    pytest.param(A, 8, PUT_BACK, (6, 10), (8, 8), id="reverted lender put back once"),
    pytest.param(B, 12, NEW_BASE, (6, 14), (8, 12), id="borrower at 12 is the base: 12+2, then 12, lender whole"),
    pytest.param(B, 12, INCLUDED, (6, 12), (8, 10), id="borrower at 12 includes the loan: stays, then 10"),
    pytest.param(B, 12, PUT_BACK, (6, 10), (8, 8), id="borrower put back from 12"),
    pytest.param(B, 9, NEW_BASE, (6, 11), (8, 9), id="borrower at 9 is the base: 9+2, then 9"),
    pytest.param(B, 9, INCLUDED, (6, 9), (8, 7), id="borrower at 9 includes the loan: stays, then 7"),
    pytest.param(B, 9, PUT_BACK, (6, 10), (8, 8), id="borrower put back from 9"),
    pytest.param(B, 1, INCLUDED, (6, 1), (8, 0), id="borrower at 1 cannot hold 2: the leg is cut, base 0"),
]


@pytest.mark.parametrize(("field", "number", "kind", "running", "after"), WHILE_IT_RUNS)
def test_answer_while_the_loan_runs(
    lent: Play, field: FieldKey, number: int, kind: AnswerKind, running: tuple[int, int], after: tuple[int, int]
) -> None:
    lent.world.edit(field, number)
    lent.settle()
    lent.answer(field, kind)
    lent.settle()
    if field == B and number == 1:
        running = (6, 2)  # the loan still wants 2, and 0 + 2 is what that comes to
    assert (lent.number(A), lent.number(B)) == running
    lent.world.give_back(17)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == after
    assert lent.world.db.loans[17].state is LoanState.CLOSED


NOBODY_ANSWERS = [
    # edited field and number, lender and borrower while the loan runs and after its end, open at the end
    pytest.param(A, 7, (7, 9), (7, 8), True, id="lender edited up by 1: borrower lowered by 1"),
    pytest.param(A, 5, (5, 10), (5, 8), True, id="lender edited down: stays"),
    pytest.param(B, 12, (6, 12), (6, 12), True, id="borrower edited up: lender waits for all of it"),
    pytest.param(B, 9, (6, 9), (7, 9), True, id="borrower edited down by 1: lender gets 1 at the end"),
    pytest.param(B, 7, (6, 7), (8, 7), True, id="borrower edited below base: lender gets all at the end"),
]


@pytest.mark.parametrize(("field", "number", "running", "after", "asked"), NOBODY_ANSWERS)
def test_nobody_answers(
    lent: Play, field: FieldKey, number: int, running: tuple[int, int], after: tuple[int, int], asked: bool
) -> None:
    lent.world.edit(field, number)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == running
    lent.world.give_back(17)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == after
    assert [record.key for record in lent.world.questions()] == [field]
    assert (lent.world.db.loans[17].state is LoanState.RETURNING) is asked


def test_end_the_loans_closes_a_reverted_field_without_an_answer(lent: Play) -> None:
    lent.world.edit(A, 8)
    lent.settle()
    lent.world.give_back(17)
    lent.settle()
    assert lent.world.questions() == []
    assert (lent.number(A), lent.number(B)) == (8, 8)
    assert lent.world.db.loans[17].state is LoanState.CLOSED


def test_put_back_works_once_per_press(lent: Play) -> None:
    """The next revert is a new question; nothing is fought in a loop."""
    for _ in range(2):
        lent.world.edit(A, 8, strip=True)
        lent.settle()
        assert [record.key for record in lent.world.questions()] == [A]
        assert (lent.number(A), lent.number(B)) == (8, 8)
        lent.answer(A, PUT_BACK)
        lent.settle()
        assert (lent.number(A), lent.number(B)) == (6, 10)


def _asked(**change: object) -> FieldRecord:
    facts: dict[str, object] = {
        "uid": "u",
        "seq": 3,
        "base": 8,
        "legs": {"L17": -2},
        "wrote": 6,
        "question": Question("u", 7, NOW),
        "version": 5,
    }
    return FieldRecord(A, **{**facts, **change})  # type: ignore[arg-type]


VOID = [
    pytest.param(_asked(question=None), {}, id="nothing is asked any more"),
    pytest.param(_asked(), {"live": 6}, id="another number"),
    pytest.param(_asked(), {"uid": "other"}, id="another object"),
    pytest.param(_asked(), {"record_version": 4}, id="the record was written since"),
    pytest.param(_asked(base=None), {"kind": PUT_BACK}, id="put back what is not known"),
]


@pytest.mark.parametrize(("record", "given"), VOID)
def test_an_answer_to_what_is_asked_no_more_is_void(record: FieldRecord, given: dict[str, object]) -> None:
    facts: dict[str, object] = {"uid": "u", "live": 7, "record_version": 5, "kind": NEW_BASE, **given}
    answer = Answer(A, who="U1", at=NOW, **facts)  # type: ignore[arg-type]
    after = apply_answer(record, answer, None)
    assert isinstance(after, Void)
    assert after.why


@pytest.mark.parametrize(
    ("kind", "base", "limit"),
    [(NEW_BASE, 7, 5), (INCLUDED, 9, 5), (PUT_BACK, 8, 4)],
    ids=["new base takes the live lendingLimit", "so does included", "put back keeps the old one"],
)
def test_what_becomes_of_the_lending_limit(kind: AnswerKind, base: int, limit: int) -> None:
    answer = Answer(A, "u", 7, 5, kind, "U1", NOW)
    after = apply_answer(_asked(lending_base=4, lending_wrote=4), answer, 5)
    assert isinstance(after, FieldRecord)
    assert (after.base, after.lending_base, after.lending_wrote, after.wrote) == (base, limit, 5, 7)


def test_a_guess_becomes_certain_by_an_answer_only(lent: Play) -> None:
    answer = Answer(A, "u", 7, 5, INCLUDED, "U1", NOW)
    after = apply_answer(_asked(uid=None, legs={"L17": 0, "L18": -1}), answer, None)
    assert isinstance(after, FieldRecord)
    assert (after.uid, after.legs, after.base, after.question) == ("u", {"L18": -1}, 8, None)


@pytest.mark.parametrize(
    ("legs", "live", "wanted", "numbers"),
    [
        ({"L17": -2}, 7, {"L17": -2}, [(5, 7), (7, 9), (6, 8)]),
        ({"L17": -2}, 1, {"L17": -2}, [(-1, 1), (1, 3), (6, 8)]),
        ({"L17": 2}, 12, {"L17": 2}, [(14, 12), (12, 10), (10, 8)]),
        ({"L17": 2}, 12, {}, [(12, 12), (10, 10), (8, 8)]),
    ],
    ids=["lender", "lender below what it lent", "borrower", "borrower after the end"],
)
def test_previews_name_the_number_now_and_after(
    legs: dict[str, int], live: int, wanted: dict[str, int], numbers: list[tuple[int, int]]
) -> None:
    record = _asked(legs=legs, question=Question("u", live, NOW))
    assert record.question is not None
    shown = previews(record, record.question, wanted)
    assert [preview.kind for preview in shown] == [NEW_BASE, INCLUDED, PUT_BACK]
    assert [(preview.now, preview.after) for preview in shown] == numbers
    assert [preview.refused is not None for preview in shown] == [(preview.now or 0) < 0 for preview in shown]


def test_put_back_is_not_offered_when_the_base_is_unknown() -> None:
    record = _asked(base=None, wrote=None, uid=None)
    assert record.question is not None
    assert [p.refused is None for p in previews(record, record.question, {})] == [True, True, False]


def test_the_chain_behind_a_question_is_told_whom_it_waits_for(play: Callable[..., Play]) -> None:
    made = play(transfer(1, "a", "b", 2), transfer(2, "b", "c", 1), a=3, b=0, c=1)
    made.settle()
    made.world.edit(key_of("c"), 3)
    made.settle()
    made.world.give_back(1)
    made.world.give_back(2)
    plan = made.settle()
    assert plan.figures[1].waits_for == "c"
    assert "waits" in made.kinds()
