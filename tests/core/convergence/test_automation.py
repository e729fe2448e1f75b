"""Queues that Kueue itself writes, and entries that are gone: hands off, nothing asked, nothing left behind."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from bot.core.convergence.annotation import read
from bot.core.convergence.facts import AnswerKind
from bot.core.kueue import FlavorResource, QueueSnapshot, Quota
from tests.support.convergence.play import Play
from tests.support.convergence.world import A100, INSTALL, extra, key_of, queue_of, transfer

A, B = key_of("a"), key_of("b")


def _kueue(play: Play, name: str, *, writes: bool = True) -> None:
    play.world.objects[name] = replace(play.world.objects[name], quota_automation="MultiKueue" if writes else None)


@pytest.mark.parametrize("number", [10, 3, 8, 14])
def test_its_numbers_are_nobodys_edit_until_it_stops(lent: Play, number: int) -> None:
    """b holds 2 of a's. While Kueue writes b nothing is asked and b is not written; afterwards it is one question."""
    _kueue(lent, "b")
    lent.world.edit(B, number)
    lent.settle()
    assert lent.kinds() == {"automated"}
    assert lent.number(B) == number
    assert lent.record(B).question is None
    _kueue(lent, "b", writes=False)
    lent.settle()
    asked = lent.kinds() - {"automated"}
    assert asked == ({"reverted"} if number == 8 else set() if number == 10 else {"edited"})
    if asked:
        lent.answer(B, AnswerKind.NEW_BASE)
        lent.world.give_back(17)
        lent.settle()
    assert (lent.number(A), lent.number(B)) == ((8, number) if asked else (6, 10))


def test_a_loan_that_ends_meanwhile_goes_back_when_it_stops(lent: Play) -> None:
    _kueue(lent, "a")
    lent.world.give_back(17)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (6, 8), "the borrower falls, the lender is Kueue's"
    _kueue(lent, "a", writes=False)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (8, 8)


def test_a_borrower_of_kueues_keeps_its_lender_lowered(lent: Play) -> None:
    """Nobody knows that it has nothing of the loan any more."""
    _kueue(lent, "b")
    lent.world.give_back(17)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (6, 10)


def test_a_patch_of_unknown_fate_stays_unknown_while_kueue_writes(play: Callable[..., Play]) -> None:
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.launch("a")
    _kueue(made, "a")
    plan = made.store()
    assert plan.closed_intents == ()
    assert made.number(B) == 8, "the borrower waits"


def test_a_queue_without_loans_is_no_news(play: Callable[..., Play]) -> None:
    made = play(transfer(17, "a", "b", 2), a=8, b=8)
    made.settle()
    made.world.give_back(17)
    made.settle()
    made.findings.clear()
    _kueue(made, "a")
    made.settle()
    assert made.kinds() == set()


def _without_entries(queue: QueueSnapshot) -> QueueSnapshot:
    version = str(int(queue.resource_version) + 1000)
    return replace(queue, quotas={}, generation=queue.generation + 1, resource_version=version)


def test_an_entry_that_is_gone_leaves_nothing_in_the_annotation(lent: Play) -> None:
    """It would be taken for a loan again if the database were lost and the entry came back."""
    assert lent.world.has_note("b")
    lent.world.objects["b"] = _without_entries(lent.world.objects["b"])
    lent.settle()
    assert lent.number(A) == 8
    assert not lent.world.has_note("b")


@pytest.mark.parametrize("number", [8, 10, 3])
def test_an_entry_that_is_back_before_the_annotation_was_tidied_is_tidied_then(lent: Play, number: int) -> None:
    """The annotation's own number is of a later write, about another entry; what it says of this one is still old."""
    b = lent.world.objects["b"]
    lent.world.objects["b"] = replace(b, quotas={**b.quotas, A100: Quota(4)})
    lent.world.approve(extra(18, "b", 1, A100))
    lent.settle()
    lent.world.edit(B, None)
    lent.store()
    lent.world.edit(B, number)
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (8, number)
    assert _noted(lent.world.objects["b"]) == {A100}


def _noted(queue: QueueSnapshot) -> set[FlavorResource]:
    note = read(queue, INSTALL)[1]
    return set() if note is None else {entry for entry, _ in note.fields}


def test_the_annotation_is_believed_until_the_record_knows(lent: Play) -> None:
    lent.world.objects["b"] = _without_entries(lent.world.objects["b"])
    first = lent.plan()
    assert not [write for write in first.writes if write.change.queue.name == "b"]


def test_a_queue_made_again_has_nothing_of_the_loan(lent: Play) -> None:
    lent.world.delete("b")
    lent.settle()
    lent.world.create(queue_of("b", 8))
    lent.settle()
    assert (lent.number(A), lent.number(B)) == (8, 8)
