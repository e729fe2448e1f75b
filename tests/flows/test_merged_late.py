"""A proposal that was taken back and is merged all the same: the loan's part of the number, not a new base."""

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.convergence.facts import AnswerKind
from bot.core.convergence.proposals import TAKEN_BACK_FOR, ProposalEnd
from bot.flows import converge_quota
from bot.flows.answer_edit import EditPress, answer_edit
from tests.support import quota
from tests.support.git_queues import in_git, merge, step

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

NAMES = ("nlp", "vision", "robotics")


def numbers(bench: "Bench", *queues: str) -> list[int]:
    return [bench.number(name) for name in queues]


def open_ones(bench: "Bench") -> list[tuple[str, int | None, int | None]]:
    found = [one for one in bench.store.tables.proposals.values() if one.ended is None]
    return [(one.queue, part.before.wrote, part.after.wrote) for one in found for part in one.fields]


def withdrawn(bench: "Bench") -> int:
    """8 from nlp for vision, which is in Git: over, and never merged."""
    bench.policy = in_git("vision")
    number = bench.approved(quota.transfer(8))
    step(bench)
    bench.pass_time(days=3, hours=1)
    return number


def goes_back(bench: "Bench", number: int) -> None:
    assert open_ones(bench) == [("vision", 24, 16)]
    merge(bench, "vision", 16)
    assert numbers(bench, "nlp", "vision") == [24, 16]
    assert open_ones(bench) == []
    assert not bench.keys("edit:")


def test_what_is_merged_after_it_was_withdrawn_is_to_go_back(bench: "Bench") -> None:
    number = withdrawn(bench)
    step(bench)
    assert numbers(bench, "nlp", "vision") == [24, 16]
    merge(bench, "vision", 24)
    goes_back(bench, number)


def test_what_is_merged_in_the_moment_of_its_withdrawal_keeps_the_lender_low(
    bench: "Bench", monkeypatch: pytest.MonkeyPatch
) -> None:
    number = withdrawn(bench)
    right: Callable[..., Any] = converge_quota.make_plan
    once = iter([24])

    def make_plan(*args: Any) -> Any:
        planned = right(*args)
        if planned[1].proposals.ended:
            for nominal in once:
                bench.set_nominal("vision", nominal)
        return planned

    monkeypatch.setattr(converge_quota, "make_plan", make_plan)
    step(bench)
    assert numbers(bench, "nlp", "vision") == [16, 24], "nothing is given twice"
    goes_back(bench, number)


def test_what_was_replaced_is_the_part_that_it_was(bench: "Bench") -> None:
    bench.policy = in_git("vision")
    bench.approved(quota.transfer(8))
    step(bench)
    bench.approved(quota.transfer(2, "robotics"))
    step(bench)
    merge(bench, "vision", 24)
    assert open_ones(bench) == [("vision", 24, 26)]
    assert not bench.keys("edit:")


def test_a_queue_that_leaves_git_at_that_moment_is_not_raised_twice(bench: "Bench") -> None:
    bench.policy = in_git("vision")
    bench.approved(quota.transfer(8))
    step(bench)
    bench.policy = quota.policy()
    (proposal,) = bench.store.tables.proposals.values()
    with bench.world.store.begin() as uow:
        uow.proposals.end(proposal.id, ProposalEnd.WITHDRAWN, bench.clock())
        uow.commit()
    merge(bench, "vision", 24)
    assert numbers(bench, "nlp", "vision") == [16, 24]
    bench.pass_time(days=3, hours=1)
    step(bench)
    assert numbers(bench, "nlp", "vision") == [24, 16]


def test_after_a_while_it_is_the_queues_own_number(bench: "Bench") -> None:
    withdrawn(bench)
    step(bench)
    bench.clock.advance(TAKEN_BACK_FOR + timedelta(minutes=1))
    merge(bench, "vision", 24)
    assert open_ones(bench) == []
    bench.approved(quota.transfer(2))
    step(bench)
    assert open_ones(bench) == [("vision", 24, 26)]


def test_another_number_than_the_withdrawn_one_is_the_queues_own(bench: "Bench") -> None:
    withdrawn(bench)
    step(bench)
    merge(bench, "vision", 22)
    assert open_ones(bench) == []


def test_a_number_that_is_to_be_put_back_stays_so_while_that_is_proposed(bench: "Bench") -> None:
    """Half of a lowering was merged, and an admin says: put it back. Nothing of the loan is in it then."""
    bench.policy = in_git("nlp")
    bench.approved(quota.transfer(8))
    step(bench)
    merge(bench, "nlp", 20)
    (key,) = bench.keys("edit:")
    (record,) = [one for one in bench.store.tables.records.values() if one.question is not None]
    press = EditPress(bench.notice(key).id, record.version, AnswerKind.PUT_BACK, "U0ADMIN", bench.arrival("press"))
    answer_edit(bench.world, press)
    for _ in range(3):
        step(bench)
        assert open_ones(bench) == [("nlp", 20, 16)]
    merge(bench, "nlp", 16)
    assert numbers(bench, "nlp", "vision") == [16, 24]


def test_a_lender_that_ran_short_gets_back_only_what_git_has_lowered(bench: "Bench") -> None:
    """What robotics borrowed from nlp is over while more of it is on loan to vision than robotics has of its own."""
    bench.policy = in_git("vision")
    bench.approved(quota.transfer(4, queue="robotics", team="robotics", duration=timedelta(days=1)))
    step(bench)
    bench.approved(quota.transfer(10, "robotics"))
    step(bench)
    merge(bench, "vision", 26)
    assert numbers(bench, *NAMES) == [20, 26, 2]
    bench.pass_time(days=1, hours=1)
    for _ in range(3):
        step(bench)
        assert numbers(bench, *NAMES) == [22, 26, 0]
        assert open_ones(bench) == [("vision", 26, 24)]
    merge(bench, "vision", 24)
    assert numbers(bench, *NAMES) == [24, 24, 0]
