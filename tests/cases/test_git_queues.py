"""A loan of a queue that is written in Git, played on the stage: warned, approved, proposed, merged, and back."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tests.support.stage import LENT, NOMINAL, CaseStage, Pair, Policy


def _in_git(policy: Policy) -> None:
    policy["clusters"]["clusters"]["default"]["queues"] = {"asks0": {"write": "propose"}}


@pytest.fixture(scope="module")
def stage() -> Iterator[CaseStage]:
    with CaseStage(1, edit=_in_git) as stage:
        yield stage


@pytest.fixture
def pair(stage: CaseStage) -> Pair:
    return stage.new_pair()


def test_a_proposed_change_is_merged_and_goes_back_by_git(stage: CaseStage, pair: Pair) -> None:
    borrower, lender = pair.borrower, pair.lender
    number = stage.asks(pair.asker, f"4 from {lender} for 2d because paper").id
    stage.card_says(number, f"{borrower} is written in Git")
    stage.approved(number)
    up = f"{borrower} a100 {NOMINAL} -> {NOMINAL + 4}"
    message = stage.channel_says("gpu-platform", f"{up}: to be merged in Git", f"nominalQuota: {NOMINAL + 4}")
    assert f"Q-{number}" in stage.text(message)
    stage.card_says(number, "not merged in Git yet")
    stage.becomes(**{lender: LENT - 4, borrower: NOMINAL})

    stage.merge_in_git(borrower, NOMINAL + 4)
    stage.in_force(number)
    stage.card_says(number, "In force since")
    stage.channel_says("gpu-platform", f"{up} is in force")

    stage.clock.move(timedelta(days=2, minutes=1))
    down = f"{borrower} a100 {NOMINAL + 4} -> {NOMINAL}"
    stage.channel_says("gpu-platform", f"{down}: to be merged in Git", f"nominalQuota: {NOMINAL}")
    stage.becomes(**{lender: LENT - 4, borrower: NOMINAL + 4})
    stage.merge_in_git(borrower, NOMINAL)
    stage.becomes(**{lender: LENT, borrower: NOMINAL})
    stage.card_says(number, "Ended ")
    stage.channel_says("gpu-platform", f"{down} is in force")
    written = stage.kube.cluster.store.history("clusterqueues")
    by_the_bot = [one.obj["metadata"]["name"] for one in written if one.manager == "gpu-quota-bot"]
    assert lender in by_the_bot
    assert borrower not in by_the_bot
