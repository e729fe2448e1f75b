"""Section 6 of the design, row by row: what is seen, what it means, what is told."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.core.convergence.annotation import FENCE, LOANS
from bot.core.convergence.facts import AnswerKind
from bot.core.loans import LoanState
from tests.support.convergence.play import Play
from tests.support.convergence.world import borrow, key_of, limit_of, queue_of, transfer

A, B = key_of("a"), key_of("b")


def _put_annotation(play: Play, name: str, text: str) -> None:
    queue = play.world.objects[name]
    play.world._store(replace(queue, annotations={**queue.annotations, LOANS: text}), spec=False)


def _untouched(play: Play) -> None:
    pass


def _older_database(play: Play) -> None:
    old = play.world.db
    play.world.approve(transfer(18, "a", "b", 1))
    play.settle()
    play.world.db = replace(play.world.db, records=old.records)


def _strip(play: Play) -> None:
    play.world.strip("a")


def _edit_up(play: Play) -> None:
    play.world.edit(A, 7)


def _edit_down(play: Play) -> None:
    play.world.edit(A, 5)


def _revert(play: Play) -> None:
    play.world.edit(A, 8, strip=True)


def _edit_borrower_up(play: Play) -> None:
    play.world.edit(B, 12)


def _edit_borrower_down(play: Play) -> None:
    play.world.edit(B, 9)


def _returned_by_hand(play: Play) -> None:
    play.world.give_back(17)
    play.world.edit(A, 8)
    play.world.edit(B, 8)


def _recreate(play: Play) -> None:
    play.world.create(play.world.delete("a"))


def _remove_entry(play: Play) -> None:
    play.world.edit(A, None)


def _remove_object(play: Play) -> None:
    play.world.delete("b")


def _terminating(play: Play) -> None:
    queue = play.world.objects["a"]
    play.world._store(replace(queue, deleting=True), spec=False)


def _move(play: Play) -> None:
    play.world.move("b", "elsewhere")


def _leave_the_tree(play: Play) -> None:
    play.world.move("b", None)


def _unreadable(play: Play) -> None:
    _put_annotation(play, "a", "{not json")


def _other_install(play: Play) -> None:
    queue = play.world.objects["a"]
    _put_annotation(play, "a", queue.annotations[LOANS].replace('"by":"bot-1"', '"by":"bot-2"'))


ROWS = [
    # what happened, lender and borrower at rest, told, in question
    ("ours", _untouched, (6, 10), set(), set()),
    ("annotation newer than the record: read from it", _older_database, (5, 11), set(), set()),
    ("annotation stripped: ours, and not put back", _strip, (6, 10), {"stripped"}, set()),
    ("lender edited up: borrower falls by as much", _edit_up, (7, 9), {"edited"}, {A}),
    ("lender edited down: nothing moves", _edit_down, (5, 10), {"edited"}, {A}),
    ("reverted to base: never re-raised, the other side falls", _revert, (8, 8), {"reverted"}, {A}),
    ("borrower edited up: lender stays lowered", _edit_borrower_up, (6, 12), {"edited"}, {B}),
    ("borrower edited down: lender stays lowered", _edit_borrower_down, (6, 9), {"edited"}, {B}),
    ("given back by somebody else: closed", _returned_by_hand, (8, 8), set(), set()),
    ("re-created with the same number: in question all the same", _recreate, (6, 10), {"re-created"}, {A}),
    ("entry removed: legs void, the other side to base", _remove_entry, (None, 8), {"gone", "suspended"}, set()),
    ("object removed: lender whole", _remove_object, (8, None), {"gone", "suspended"}, set()),
    ("terminating: as alive", _terminating, (6, 10), set(), set()),
    ("other tree: suspended, both to base", _move, (8, 8), {"suspended"}, set()),
    ("no cohort any more: the same", _leave_the_tree, (8, 8), {"suspended"}, set()),
    ("annotation unreadable: as none", _unreadable, (6, 10), {"unreadable annotation"}, set()),
    ("another install: no write at all", _other_install, (6, 10), {"other install"}, set()),
]


@pytest.mark.parametrize(("happens", "numbers", "told", "asked"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS])
def test_what_is_seen_while_a_loan_runs(
    lent: Play,
    happens: Callable[[Play], None],
    numbers: tuple[int | None, int | None],
    told: set[str],
    asked: set[object],
) -> None:
    happens(lent)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == numbers
    assert told <= lent.kinds()
    assert {record.key for record in lent.world.questions()} == asked


def test_an_annotation_that_is_newer_than_the_record_is_read(lent: Play) -> None:
    """The answer to the last write was lost: the annotation says that it landed."""
    lent.world.give_back(17)
    lent.send(answer="lost", queue="b")
    assert lent.record(B).legs == {"L17": 2}
    plan = lent.store()
    assert {record.key: record.legs for record in plan.records}[B] == {}


def test_an_older_copy_of_the_annotation_is_left_until_the_next_write(lent: Play) -> None:
    text = lent.world.objects["a"].annotations[LOANS]
    lent.world.approve(transfer(18, "a", "b", 1))
    lent.settle()
    _put_annotation(lent, "a", text)
    assert lent.settle().writes == ()
    assert "old annotation" in lent.kinds()
    lent.world.give_back(18)
    lent.settle()
    assert '"base":"8"' in lent.world.objects["a"].annotations[LOANS]
    assert "L18" not in lent.world.objects["a"].annotations[LOANS]


def test_an_unknown_patch_on_a_number_that_did_not_change_asks_if_the_spec_did(play: Callable[..., Play]) -> None:
    """Live is what was written before, the patch's answer is lost, the spec has moved: landed and undone, or never."""
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.launch()
    made.world.drop(made.world.flights[-1])
    made.world.touch("a", spec=True)
    made.settle()
    assert {record.key for record in made.world.questions()} == {A}
    assert "doubtful" in made.kinds()


def test_an_unknown_patch_did_not_land_if_the_spec_has_not_changed(play: Callable[..., Play]) -> None:
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.launch()
    made.world.drop(made.world.flights[-1])
    made.world.touch("a")
    made.settle()
    assert (made.number(A), made.number(B)) == (6, 10)


def test_the_number_of_an_unknown_patch_without_annotation_is_a_question(play: Callable[..., Play]) -> None:
    """Landed and stripped, or the same number typed by hand."""
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.send(answer="lost")
    made.world.strip("a")
    made.settle()
    assert {record.key for record in made.world.questions()} == {A}
    assert made.number(B) == 8


def test_an_ordinary_edit_moves_the_base_silently(lent: Play) -> None:
    lent.world.give_back(17)
    lent.settle()
    lent.findings.clear()
    lent.world.edit(A, 20)
    lent.settle()
    assert lent.record(A).base == 20
    assert lent.kinds() == set()


def test_edited_while_the_database_was_lost(lent: Play) -> None:
    lent.world.edit(A, 7)
    lent.world.lose_database()
    lent.world.rebuild()
    lent.settle()
    assert lent.record(A).base == 8
    assert {record.key for record in lent.world.questions()} == {A}
    assert lent.number(B) == 9


def test_recreated_with_the_base_is_closed_once_nothing_is_wanted(lent: Play) -> None:
    lent.world.give_back(17)
    lent.world.create(queue_of("a", 8))
    lent.settle()
    assert lent.world.questions() == []
    assert lent.number(B) == 8


def test_back_after_gone_is_a_new_life(lent: Play) -> None:
    """Base follows, the loan stays suspended until a person presses Resume."""
    gone = lent.world.delete("a")
    lent.settle()
    lent.world.create(gone)
    lent.settle()
    assert lent.record(A).base == 6
    assert lent.number(B) == 8
    assert lent.world.db.loans[17].suspended is not None
    lent.world.resume(17)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (4, 10)


def test_half_lost_lender_counts_as_having_given_nothing(lent: Play) -> None:
    lent.world.strip("a")
    lent.world.lose_database()
    lent.world.rebuild()
    lent.settle()
    assert lent.number(B) == 8
    record = lent.record(A)
    assert (record.base, dict(record.legs)) == (None, {"L17": 0})


def test_half_lost_borrower_counts_as_holding_all(lent: Play) -> None:
    lent.world.strip("b")
    lent.world.lose_database()
    lent.world.rebuild()
    lent.world.give_back(17)
    lent.settle()
    assert lent.number(A) == 6
    lent.answer(B, AnswerKind.INCLUDED)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (8, 8)


def test_a_borrowing_limit_that_was_unset_voids_the_loan(play: Callable[..., Play]) -> None:
    made = play(borrow(3, "b", 4), b=8)
    made.world.edit(limit_of("b"), 2)
    made.settle()
    assert made.number(limit_of("b")) == 6
    made.world.edit(limit_of("b"), None)
    made.settle()
    assert made.number(limit_of("b")) is None
    assert made.world.db.loans[3].suspended == "borrowingLimit of b is not set any more"
    made.world.give_back(3)
    made.settle()
    assert made.number(limit_of("b")) is None
    assert made.world.db.loans[3].state is LoanState.CLOSED


def test_a_question_is_told_under_one_key_until_the_number_changes(lent: Play) -> None:
    lent.world.edit(A, 7)
    first = {f.key for f in lent.store().findings if f.kind == "edited"}
    again = {f.key for f in lent.store().findings if f.kind == "edited"}
    lent.world.edit(A, 5)
    later = {f.key for f in lent.store().findings if f.kind == "edited"}
    assert len(first) == 1
    assert first == again
    assert first.isdisjoint(later)


def test_a_number_put_back_by_its_editor_withdraws_the_question(lent: Play) -> None:
    lent.world.edit(A, 7)
    lent.settle()
    lent.world.edit(A, 6)
    lent.settle()
    assert lent.world.questions() == []
    assert "withdrawn" in lent.kinds()
    assert (lent.number(A), lent.number(B)) == (6, 10)


@pytest.mark.parametrize("other", ["a", "b"])
def test_no_write_at_all_to_a_queue_of_another_install(lent: Play, other: str) -> None:
    text = lent.world.objects[other].annotations[LOANS]
    _put_annotation(lent, other, text.replace("bot-1", "bot-2"))
    lent.world.give_back(17)
    before = lent.world.objects[other]
    lent.settle()
    assert lent.world.objects[other] == before
    assert FENCE not in before.annotations
