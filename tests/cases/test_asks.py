"""What can be asked, in which words, and what is refused before any approver sees it."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support.marks import case
from tests.support.stage import CaseStage, Policy

REFUSED = {
    "0.5": "0.5 is not a whole number of GPUs.",
    "4.0": "4.0 is 4 GPUs. Write it in digits: 4.",
    "1500m": "1500m is not a whole number of GPUs.",
    "4k": "4k is 4,000 GPUs; the most per request is 16.",
    "1e3": "1e3 is 1,000 GPUs; the most per request is 16.",
    "8E": "8E is 8,000,000,000,000,000,000 GPUs; the most per request is 16.",
    "4Gi": "4Gi is 4,294,967,296 GPUs; the most per request is 16.",
    "17": "17 is more than the 16 that policy allows per request.",
    "-4": "is not a number of GPUs",
    "+4": "is not a number of GPUs",
    "0": "is not a number of GPUs",
    "1_000": "is not a number of GPUs",
    "٤": "is not a number of GPUs",
    "½": "is not a number of GPUs",
    "NaN": "is not a number of GPUs",
    "inf": "is not a number of GPUs",
    "0x8": "is not a number of GPUs",
}


def _with_a_queue_in_no_cohort(policy: Policy) -> None:
    policy["teams"]["teams"]["robotics"]["queues"] += ["alone"]


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    stage = CaseStage(10, edit=_with_a_queue_in_no_cohort)
    stage.kube.add_cluster_queue("alone", {"h100": {"nominal": 4}})
    with stage:
        yield stage


@case("QUO-13")
@pytest.mark.parametrize(("amount", "words"), REFUSED.items())
def test_an_amount_that_is_refused_says_how_it_was_read(stage: CaseStage, amount: str, words: str) -> None:
    told = stage.says("mira", f"request {amount} for 2d because x")
    assert words in told
    assert "Try: /gpu-quota " in told or "Whole numbers from 1" in told
    assert not stage.requests_of("mira")


@case("QUO-13")
@pytest.mark.parametrize("amount", ["4", " 4 ", "4x", "4 GPUs", "4 gpus", "4x a100"])
def test_an_amount_that_is_taken(stage: CaseStage, amount: str) -> None:
    pair = stage.new_pair()
    request = stage.asks(pair.asker, f"{amount} for 2d because x")
    assert request.ask.amount == 4
    stage.card_says(request.id, f"4 a100 for {pair.borrower}, 2 days")
    stage.says(pair.asker, f"withdraw Q-{request.id}")


@case("QUO-08")
@pytest.mark.parametrize(
    "line",
    [
        "4 h100 as borrow in alone for 2d because x",
        "16 h100 as borrow in alone until fri because x",
        "1 h100 as transfer from nlp in alone for 1d because x",
        "1 h100 from nlp in alone for 1h because x",
    ],
)
def test_a_queue_in_no_cohort_borrows_nothing(stage: CaseStage, line: str) -> None:
    told = stage.says("ravi", f"request {line}")
    assert told.startswith("alone is in no cohort, so ")
    amount = line.split()[0]
    assert f"An extra loan is possible: request {amount} h100 as extra" in told
    for raw in ("webhook", "admission", "borrowingLimit", "422"):
        assert raw not in told
    assert not stage.requests_of("ravi")
    assert stage.count("gpu-approvals", "alone") == 0


@case("SLA-04")
@pytest.mark.parametrize(
    "line",
    [
        "4 –for 2d –reason “paper deadline”",
        "4 —for 2d —reason ‘paper deadline’",
        "4 —for=2d reason: «paper deadline»",
        "4 --for 2d --reason „paper deadline“",
        "4 --for=2d --reason «paper deadline»",
        '4 for 2d because "paper deadline"',
        "4 a100 2d because “paper deadline”",
    ],
)
def test_a_line_from_a_phone_asks_for_the_same(stage: CaseStage, line: str) -> None:
    request = stage.asks("tom", line)
    ask = request.ask
    assert (ask.amount, ask.duration, ask.reason) == (4, timedelta(days=2), "paper deadline")
    stage.card_says(request.id, "4 a100 for vision, 2 days", "@tom · paper deadline\n")
    stage.says("tom", f"withdraw Q-{request.id}")
