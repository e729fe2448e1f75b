"""The lease comes first: only who has won it asks the API server for fences, and nobody waits for that with it."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.app.leader import Leader
from bot.core.convergence.annotation import FENCE
from bot.core.errors import Unavailable
from bot.flows.hold_leadership import hold_leadership
from bot.flows.world import World

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

LEASE = timedelta(seconds=30)


class _Watched:
    """A cluster that counts how often it is read, and does something first."""

    def __init__(self, cluster: Any, first: Callable[[], object] = lambda: None) -> None:
        self._cluster, self._first = cluster, first
        self.reads = 0

    def read(self, *, cohorts_within: timedelta = timedelta(0)) -> Any:
        self.reads += 1
        self._first()
        return self._cluster.read(cohorts_within=cohorts_within)


def _watched(bench: "Bench", first: Callable[[], object] = lambda: None) -> tuple[World, _Watched]:
    cluster: Any = _Watched(bench.world.clusters["default"], first)
    return replace(bench.world, clusters={"default": cluster}), cluster


def _fence(bench: "Bench", text: str) -> None:
    bench.kube.handle(
        "PATCH",
        "/apis/kueue.x-k8s.io/v1beta2/clusterqueues/nlp",
        {"fieldManager": "somebody"},
        {"content-type": "application/merge-patch+json"},
        {"metadata": {"annotations": {FENCE: text}}},
    )


def test_who_stands_by_asks_the_api_server_nothing(bench: "Bench") -> None:
    world, cluster = _watched(bench)
    for _ in range(5):
        assert hold_leadership(world, "P2", LEASE, None) is None
        assert hold_leadership(world, "P1", LEASE, bench.epoch) == bench.epoch
        bench.pass_time(seconds=10)
    assert cluster.reads == 0


@pytest.mark.parametrize(("behind", "epoch"), [("1.5", 2), ("2.5", 3), ("9.1", 10)])
def test_the_epoch_ends_above_every_fence_of_a_database_that_went_back(bench: "Bench", behind: str, epoch: int) -> None:
    """Also when the take-over alone would have ended at the very epoch of a fence."""
    _fence(bench, behind)
    bench.pass_time(seconds=31)
    assert bench.epoch == 1
    assert hold_leadership(bench.world, "P2", LEASE, None) == epoch


def test_a_lease_that_ran_out_during_the_read_is_not_won(bench: "Bench") -> None:
    """Another took it meanwhile."""

    def overtaken() -> None:
        bench.pass_time(seconds=31)
        assert hold_leadership(bench.world, "P3", LEASE, 1) is not None

    world, _ = _watched(bench, overtaken)
    bench.pass_time(seconds=31)
    assert hold_leadership(world, "P2", LEASE, None) is None


def test_a_cluster_that_does_not_answer_keeps_nobody_from_leading(bench: "Bench") -> None:
    bench.api_down()
    bench.pass_time(seconds=31)
    assert hold_leadership(bench.world, "P2", LEASE, None) == 2


def test_resigning_does_not_wait_for_a_read_that_hangs(bench: "Bench") -> None:
    """And what the renewal under way has won is given back: the next one leads at once."""
    asked, answer = threading.Event(), threading.Event()

    def hang() -> None:
        asked.set()
        answer.wait(20)
        raise Unavailable("API server", "no answer in time")

    world, _ = _watched(bench, hang)
    bench.pass_time(seconds=31)
    gained: list[int] = []
    leader = Leader(world, "P2", LEASE, gained.append)
    renewal = threading.Thread(target=leader.renew, daemon=True)
    renewal.start()
    assert asked.wait(20)
    resigning = threading.Thread(target=leader.resign, daemon=True)
    resigning.start()
    resigning.join(5)
    resigned = not resigning.is_alive()
    answer.set()
    renewal.join(20)
    assert resigned
    assert (leader.epoch, gained) == (None, [])
    assert hold_leadership(bench.world, "P3", LEASE, None) is not None
