"""What is refused or asked for before any approver sees it."""

from collections.abc import Iterator

import pytest

from tests.support.stage import CaseStage, Policy

REFUSED = {
    "0.5": "0.5 is not a whole number of GPUs.",
    "1500m": "1500m is not a whole number of GPUs.",
    "4k": "4k is 4,000 GPUs; the most per request is 16.",
    "1e3": "1e3 is 1,000 GPUs; the most per request is 16.",
    "8E": "8E is 8,000,000,000,000,000,000 GPUs; the most per request is 16.",
    "4Gi": "4Gi is 4,294,967,296 GPUs; the most per request is 16.",
    "17": "the most per request",
    "-4": "is not a number of GPUs",
    "0": "is not a number of GPUs",
    "1_000": "is not a number of GPUs",
    "٤": "is not a number of GPUs",
    "NaN": "is not a number of GPUs",
    "inf": "is not a number of GPUs",
    "0x8": "is not a number of GPUs",
}


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(5) as stage:
        yield stage


@pytest.mark.case("QUO-13")
@pytest.mark.parametrize(("amount", "words"), REFUSED.items())
def test_an_amount_that_is_refused_says_how_it_was_read(stage: CaseStage, amount: str, words: str) -> None:
    told = stage.says("mira", f"request {amount} for 2d because x")
    assert words in told
    assert "Try: /gpu-quota " in told or "Whole numbers from 1" in told
    assert not stage.requests_of("mira")


@pytest.mark.case("QUO-13")
@pytest.mark.parametrize("amount", ["4", " 4 ", "4 GPUs", "4 gpus", "4x a100"])
def test_an_amount_that_is_taken(stage: CaseStage, amount: str) -> None:
    pair = stage.new_pair()
    assert stage.asks(pair.asker, f"{amount} for 2d because x").ask.amount == 4


def _alone(policy: Policy) -> None:
    policy["teams"]["teams"]["vision"]["queues"] = ["alone"]


@pytest.fixture(scope="module")
def lonely() -> Iterator[CaseStage]:
    stage = CaseStage(edit=_alone)
    stage.kube.add_cluster_queue("alone", {"a100": {"nominal": 8}})
    with stage:
        yield stage


@pytest.mark.case("QUO-08")
@pytest.mark.parametrize(
    "line",
    ["4 as borrow for 2d because x", "4 for 2d because x", "16 as borrow for 1h because x", "1 from nlp for 1d because x"],
)
def test_a_queue_in_no_cohort_borrows_nothing(lonely: CaseStage, line: str) -> None:
    told = lonely.says("mira", f"request {line}")
    assert "alone is in no cohort" in told
    assert "extra" in told
    for raw in ("webhook", "admission", "borrowingLimit must be nil", "422"):
        assert raw not in told
    assert not lonely.requests_of("mira")
    assert lonely.count("gpu-approvals", "alone") == 0
