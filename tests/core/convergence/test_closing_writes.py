"""Our own closing write that changes no number, its answer lost.

It takes the last legs, and the annotation with them. The generation moves with the spec alone and says nothing of it.
"""

from collections.abc import Callable

import pytest

from bot.core.convergence.facts import AnswerKind
from bot.core.convergence.order import Move
from bot.core.kueue import Quota
from tests.support.convergence.play import Play
from tests.support.convergence.world import H100, World, key_of, queue_of, transfer

A, B = key_of("a"), key_of("b")
Stage = Callable[..., Play]


@pytest.fixture
def passed_on(play: Stage) -> Play:
    """b has lent to c what it got from a; both loans are over and c has given back."""
    made = play(transfer(1, "a", "b", 1), transfer(2, "b", "c", 1), a=1, b=0, c=0)
    made.settle()
    made.world.give_back(1)
    made.world.give_back(2)
    made.send(queue="c")
    return made


def test_it_is_known_by_its_missing_annotation_and_nobody_is_told_of_a_strip(passed_on: Play) -> None:
    sent = passed_on.send(answer="lost")
    assert [(write.change.queue.name, write.move) for write in sent.writes] == [("b", Move.BOOK)]
    after = passed_on.store()
    assert [(write.change.queue.name, write.move) for write in after.writes] == [("a", Move.UP)]
    assert passed_on.record(B).legs == {}
    passed_on.settle()
    assert (passed_on.number(A), passed_on.number(B)) == (1, 0)
    assert "stripped" not in passed_on.kinds()


def test_one_that_was_dropped_is_written_again(passed_on: Play) -> None:
    passed_on.launch(queue="b")
    passed_on.world.drop(passed_on.world.flights[0])
    passed_on.world.touch("b")
    after = passed_on.store()
    assert [(write.change.queue.name, write.move) for write in after.writes] == [("b", Move.BOOK)]
    assert passed_on.record(B).legs == {"L1": 1, "L2": -1}


def test_one_that_lowers_the_lending_limit_did_not_land_if_the_spec_is_as_it_was() -> None:
    """Else the limit that was raised for the loan would be taken for the queue's own."""
    b = queue_of("b", {H100: Quota(2, lending_limit=1)})
    made = Play(World.of(queue_of("a", 1), b, queue_of("c", 0)))
    for loan in (transfer(1, "a", "b", 1), transfer(2, "b", "c", 1)):
        made.world.approve(loan)
    made.settle()
    assert made.world.objects["b"].quotas[H100] == Quota(2, lending_limit=2)
    made.world.give_back(1)
    made.world.give_back(2)
    made.send(queue="c")
    made.launch(queue="b")
    made.world.drop(made.world.flights[0])
    made.world.strip("b")
    made.store()
    assert made.record(B).legs == {"L1": 1, "L2": -1}
    made.settle()
    assert made.world.objects["b"].quotas[H100] == Quota(2, lending_limit=1)


def test_the_legs_that_it_took_are_noted_again_if_they_come_back(play: Stage) -> None:
    """Loans in a circle: while a is in question neither of them is in b; after the answer both are, as before."""
    made = play(transfer(1, "a", "b", 2), a=2, b=0)
    made.settle()
    made.world.approve(transfer(2, "b", "a", 2))
    made.send(queue="b")
    made.world.edit(A, 2)
    sent = made.send(answer="lost")
    assert [(write.change.queue.name, write.move) for write in sent.writes] == [("b", Move.BOOK)]
    assert not made.world.has_note("b")
    made.store()
    made.answer(A, AnswerKind.PUT_BACK)
    made.settle()
    assert made.record(A).legs == {"L1": -2, "L2": 2}
    assert made.record(B).legs == {"L1": 2, "L2": -2}
    assert made.world.has_note("b")
