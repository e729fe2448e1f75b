"""Extra loans, played on the stage: proposed where nothing else is possible, set against the nodes, ticked, ended."""

from collections.abc import Iterator

import pytest

from bot.core.requests import RequestState
from bot.demo.kube.faults import Refuse
from bot.demo.slack import View
from tests.support.marks import case
from tests.support.stage import CaseStage, Policy

LONE = [f"lone{number}" for number in range(1, 9)]


def _with_lone_queues(policy: Policy) -> None:
    policy["teams"]["teams"]["robotics"]["queues"] += LONE


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    """Each queue is in no cohort and has a flavor and nodes of its own."""
    stage = CaseStage(edit=_with_lone_queues)
    for name in LONE:
        stage.kube.add_cluster_queue(name, {_flavor(name): {"nominal": 64}})
        stage.kube.add_node(f"{name}-good", _flavor(name), 60)
        stage.kube.add_node(f"{name}-bad", _flavor(name), 4, cordoned=True)
    with stage:
        yield stage


@pytest.fixture(scope="module")
def untouched(stage: CaseStage) -> Iterator[str]:
    """Of this stage: each test takes one."""
    return iter(LONE)


@pytest.fixture
def queue(untouched: Iterator[str]) -> str:
    return next(untouched)


def _flavor(queue: str) -> str:
    return queue.replace("lone", "spare")


def _nominal(stage: CaseStage, queue: str) -> int:
    return int(stage.kube.nominal(queue, _flavor(queue)))


def _form(stage: CaseStage, number: int, who: str = "ada") -> View:
    """Press Approve, and see the form that it opens."""
    before = stage.slack.open_view(stage.people[who])
    stage.slack.press(stage.people[who], stage.card(number), "gpuq_card_approve")

    def opened() -> View | None:
        view = stage.slack.open_view(stage.people[who])
        return view if view is not None and (before is None or view.id != before.id) else None

    return stage.wait("a form with a tick", opened)


def _tick(stage: CaseStage, who: str = "ada") -> None:
    assert stage.slack.submit_view(stage.people[who], {"gpuq_overcommit_tick": ["yes"]}).acked


@case("QUO-10")
@pytest.mark.parametrize(("amount", "promised", "over"), [(8, 72, 12), (1, 65, 5)])
def test_over_commit_is_shown_with_its_numbers_and_only_a_tick_approves_it(
    stage: CaseStage, queue: str, amount: int, promised: int, over: int
) -> None:
    number = stage.asks("ravi", f"{amount} {_flavor(queue)} in {queue} for 2d because spare nodes").id
    words = f"With it {promised} of 60 {_flavor(queue)} promised: {over} more than the nodes have"
    stage.card_says(number, words, "4 on nodes that are out of service", "sit Pending", "with the over-commit tick")
    for who in ("rosa", "ada") if amount > 4 else ("ada",):  # a big one takes the team's lead first
        _form(stage, number, who)
        unticked = stage.slack.submit_view(stage.people[who], {"gpuq_overcommit_tick": []})
        assert unticked.field_errors
        assert stage.request(number).state is RequestState.WAITING
        count = len(stage.audit(number, "approve"))
        _tick(stage, who)
        stage.wait("the tick in the audit", lambda n=count: len(stage.audit(number, "approve")) > n)  # type: ignore[misc]
    stage.in_force(number)
    noted = f"over-commit ticked: {promised} of 60 {_flavor(queue)} promised: {over} more than the nodes have"
    assert {entry.outcome for entry in stage.audit(number, "approve")} == {noted}
    assert _nominal(stage, queue) == 64 + amount


@case("QUO-10")
def test_numbers_that_got_worse_after_the_form_opened_are_asked_about_again(stage: CaseStage, queue: str) -> None:
    number = stage.asks("ravi", f"2 {_flavor(queue)} in {queue} for 2d because spare nodes").id
    stage.card_says(number, "6 more than the nodes have")
    _form(stage, number)
    stage.kube.cordon(f"{queue}-good")
    _tick(stage)
    stage.card_says(number, "Changed since", "66 of 0", "66 more than the nodes have")
    stage.hears("ada", "Not approved yet: look and press again")
    assert stage.request(number).state is RequestState.WAITING
    _form(stage, number)
    _tick(stage)
    stage.in_force(number)
    assert _nominal(stage, queue) == 66


@case("QUO-10")
def test_where_the_nodes_have_it_no_tick_is_needed(stage: CaseStage, queue: str) -> None:
    stage.kube.cordon(f"{queue}-bad", undo=True)
    stage.kube.add_node(f"{queue}-new", _flavor(queue), 8)
    number = stage.asks("ravi", f"3 {_flavor(queue)} in {queue} for 2d because new nodes").id
    stage.card_says(number, f"With it 67 of 72 {_flavor(queue)} promised: the nodes have them")
    assert "is approved" in stage.presses("ada", number)
    stage.in_force(number)
    assert [entry.outcome for entry in stage.audit(number, "approve")] == ["ok"]


@case("QUO-10")
def test_an_unknown_capacity_takes_a_tick_too(stage: CaseStage, queue: str) -> None:
    stage.kube.faults.plan(Refuse(503), "list", "nodes", times=None)
    number = stage.asks("ravi", f"2 {_flavor(queue)} in {queue} for 2d because spare nodes").id
    stage.card_says(number, "what the nodes have is not known: the API server is not answering")
    _form(stage, number)
    _tick(stage)
    stage.wait("approved", lambda: stage.request(number).state is RequestState.APPROVED)
    stage.kube.faults.clear()
    assert "of how many is not known" in stage.audit(number, "approve")[0].outcome


def test_a_queue_in_no_cohort_is_offered_what_is_left_and_the_end_takes_it_away(stage: CaseStage, queue: str) -> None:
    told = stage.says("ravi", f"request 4 {_flavor(queue)} in {queue} for 2d because spare nodes")
    assert f"{queue} is in no cohort: it cannot borrow and nobody can lend to it, so this is an extra loan" in told
    number = stage.requests_of("ravi")[0].id
    stage.card_says(number, f"{queue} 64 -> 68; nobody lends")
    _form(stage, number)
    _tick(stage)
    stage.in_force(number)
    stage.runs(queue, 68)
    stage.wait("all of it is used", lambda: '"68"' in str(stage.kube.queue(queue)["status"]).replace("'", '"'))
    stage.says("ada", f"end Q-{number} because the nodes go")
    stage.card_says(number, "Ended by @ada", "4 GPUs stay in use above it")
    assert _nominal(stage, queue) == 64
    stage.hears("ravi", f"{queue} is in no cohort: nobody takes them back")
