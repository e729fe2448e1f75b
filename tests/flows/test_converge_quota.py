"""A leader works under an epoch above every fence on the queues, whenever it comes to see them."""

from typing import TYPE_CHECKING

import pytest

from bot.core.convergence.annotation import FENCE, read_fence
from bot.flows.converge_memory import ConvergeMemory
from bot.flows.converge_quota import converge_all
from tests.support import quota

if TYPE_CHECKING:
    from tests.flows.conftest import Bench


def _fence(bench: "Bench", queue: str, text: str) -> None:
    bench.kube.handle(
        "PATCH",
        f"/apis/kueue.x-k8s.io/v1beta2/clusterqueues/{queue}",
        {"fieldManager": "somebody"},
        {"content-type": "application/merge-patch+json"},
        {"metadata": {"annotations": {FENCE: text}}},
    )


def _lifts(bench: "Bench") -> list[int]:
    """One step of the loop at a time until it lifts nothing more; what it lifted above."""
    lifted: list[int] = []

    def lift(at_least: int) -> None:
        lifted.append(at_least)
        with bench.world.store.begin() as uow:
            bench.epoch = uow.leadership.raise_epoch("P1", bench.epoch, at_least)
            uow.commit()

    for _ in range(4):
        converge_all(bench.world, bench.epoch, bench.memory, lift)
    return lifted


@pytest.mark.parametrize(("fence", "lifted", "epoch"), [("0.9", [], 1), ("1.1", [1], 2), ("7.3", [7], 8)])
def test_the_first_look_lifts_the_epoch_above_every_fence(
    bench: "Bench", fence: str, lifted: list[int], epoch: int
) -> None:
    """Also above one of the same epoch: the database is an older copy, and another leader wrote it."""
    _fence(bench, "nlp", fence)
    bench.approved(quota.transfer(8))
    assert _lifts(bench) == lifted
    assert bench.epoch == epoch
    assert bench.number("vision") == 24, "and then it works"


def test_a_leaders_own_fences_do_not_lift_its_epoch(bench: "Bench") -> None:
    bench.converge()
    _fence(bench, "nlp", "1.1")
    assert _lifts(bench) == []


def test_a_successor_in_the_same_epoch_takes_no_fence_for_its_own(bench: "Bench") -> None:
    """A process that was started again holds nothing in memory, and what it finds was written before it."""
    bench.converge()
    _fence(bench, "nlp", "1.1")
    bench.memory = ConvergeMemory()
    assert _lifts(bench) == [1]
    queues = bench.world.clusters["default"].read().queues
    assert max(read_fence(queue).epoch for queue in queues.values()) < bench.epoch
