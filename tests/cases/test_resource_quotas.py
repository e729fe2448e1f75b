"""A team with a queue and a ResourceQuota, played on the stage: asked, approved, in force, edited by hand, ended."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.support.stage import GPU, LENT, NOMINAL, CaseStage, Pair, Policy

REQUESTS = f"requests.{GPU}"
PAIRS = 4
PATCH = "application/json-patch+json"


def _with_quotas(policy: Policy) -> None:
    for number in range(PAIRS):
        namespace = f"asks{number}-ns"
        policy["teams"]["teams"][f"asks{number}"]["resource_quota"] = {"namespace": namespace, "name": "gpu"}


def _edited(policy: Policy) -> None:
    """Robotics has no queue besides."""
    _with_quotas(policy)
    robotics = policy["teams"]["teams"]["robotics"]
    del robotics["queues"]
    robotics |= {"namespaces": ["robotics-sim"], "resource_quota": {"namespace": "robotics-sim", "name": "gpu"}}
    policy["clusters"]["clusters"]["default"]["lenders"].pop("robotics", None)


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    stage = CaseStage(PAIRS, edit=_edited)
    for number in range(PAIRS):
        stage.kube.add("namespaces", f"asks{number}-ns")
        stage.kube.add("resourcequotas", "gpu", {"spec": {"hard": {REQUESTS: "8"}}}, f"asks{number}-ns")
    stage.kube.add("namespaces", "robotics-sim")
    stage.kube.add("resourcequotas", "gpu", {"spec": {"hard": {REQUESTS: "8"}}}, "robotics-sim")
    with stage:
        yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


def _live(stage: CaseStage, pair: Pair) -> Any:
    return stage.kube.cluster.get("resourcequotas", f"{pair.borrower}-ns", "gpu")


def _becomes(stage: CaseStage, pair: Pair, number: int) -> None:
    what = f"the ResourceQuota of {pair.borrower} at {number}"
    stage.wait(what, lambda: _live(stage, pair)["spec"]["hard"][REQUESTS] == str(number))


def _edit(stage: CaseStage, pair: Pair, number: int) -> None:
    path = stage.kube.path("resourcequotas", f"{pair.borrower}-ns", "gpu")
    body = [{"op": "add", "path": f"/spec/hard/{REQUESTS.replace('/', '~1')}", "value": str(number)}]
    stage.kube.request("PATCH", path, body, manager="kubectl-edit", content_type=PATCH)


@pytest.mark.parametrize("how", ["from {lender}", "as borrow"], ids=["transfer", "borrow"])
def test_the_quota_goes_up_with_the_loan_and_down_at_its_end(stage: CaseStage, pair: Pair, how: str) -> None:
    line = f"4 {how.format(lender=pair.lender)} for 2d because paper"
    number = stage.asks(pair.asker, line).id
    quota = f"ResourceQuota {pair.borrower}-ns/gpu"
    stage.card_says(number, f"{quota} goes 8 -> 12 with it")
    stage.approved(number)
    stage.in_force(number)
    _becomes(stage, pair, 12)
    stage.card_says(number, "In force since", f"{quota} 8 -> 12")
    stage.clock.move(timedelta(days=2, minutes=1))
    _becomes(stage, pair, 8)
    stage.card_says(number, "Ended ")
    stage.becomes(**{pair.borrower: NOMINAL, pair.lender: LENT})


def test_a_hand_edit_is_asked_about_and_the_answer_counts(stage: CaseStage, pair: Pair) -> None:
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper")
    _becomes(stage, pair, 12)
    _edit(stage, pair, 20)
    words = f"ResourceQuota {pair.borrower}-ns/gpu {REQUESTS} is 20, expected 12"
    question = stage.channel_says("gpu-platform", words, "Changed by kubectl-edit")
    stage.card_says(loan.id, "In force since", "left alone until an admin says what the number means")
    assert _live(stage, pair)["spec"]["hard"] == {REQUESTS: "20"}
    stage.answer("ada", lambda: stage.slack.press(stage.people["ada"], question, "gpuq_drift_included"))
    stage.clock.move(timedelta(days=2, minutes=1))
    _becomes(stage, pair, 16)


def test_a_quota_that_is_gone_is_told_once_and_the_loan_is_in_force(stage: CaseStage, pair: Pair) -> None:
    stage.kube.request("DELETE", stage.kube.path("resourcequotas", f"{pair.borrower}-ns", "gpu"))
    loan = stage.lent(pair.asker, f"4 from {pair.lender} for 2d because paper")
    words = f"ResourceQuota {pair.borrower}-ns/gpu is not there"
    stage.channel_says("gpu-platform", words, "Loans go on without it")
    stage.card_says(loan.id, "In force since", "is not raised, pods above it are refused: it is not there")
    stage.becomes(**{pair.borrower: NOMINAL + 4, pair.lender: LENT - 4})
    assert stage.count("gpu-platform", words) == 1


def test_a_team_without_a_queue_gets_an_extra_loan_of_its_quota(stage: CaseStage) -> None:
    number = stage.asks("ravi", "4 for 2d because spare nodes").id
    quota = "robotics-sim/gpu"
    stage.card_says(number, f"4 gpu for {quota}", "nobody lends to it, so this is an extra loan", "promised")
    before = stage.slack.open_view(stage.people["ada"])
    stage.slack.press(stage.people["ada"], stage.card(number), "gpuq_card_approve")

    def opened() -> bool:
        view = stage.slack.open_view(stage.people["ada"])
        return view is not None and (before is None or view.id != before.id)

    def live() -> Any:
        found = stage.kube.cluster.get("resourcequotas", "robotics-sim", "gpu")
        assert found is not None
        return found["spec"]["hard"][REQUESTS]

    stage.wait("a form with a tick", opened)
    assert stage.slack.submit_view(stage.people["ada"], {"gpuq_overcommit_tick": ["yes"]}).acked
    stage.in_force(number)
    assert live() == "12"
    assert "of 12 gpu" in stage.says("ravi", "status")
    assert "12" in stage.says("ravi", f"show {quota}")
    stage.says("ravi", f"return Q-{number} 1")
    stage.wait("a part is back", lambda: live() == "11")
    stage.clock.move(timedelta(days=2, minutes=1))
    stage.wait("the number from before", lambda: live() == "8")
