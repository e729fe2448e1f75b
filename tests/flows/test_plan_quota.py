"""A database that knows nothing was lost only if something on the queues is of this very installation."""

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.convergence.annotation import FENCE, LOANS
from bot.core.convergence.changes import PatchOutcome, PatchResult, QueueChange
from bot.core.convergence.landed import REFUSAL_LASTS
from bot.flows.converge_quota import converge_all
from bot.ports.cluster import Cluster

if TYPE_CHECKING:
    from tests.flows.conftest import Bench


def _note(bench: "Bench", queue: str, text: str) -> None:
    bench.kube.handle(
        "PATCH",
        f"/apis/kueue.x-k8s.io/v1beta2/clusterqueues/{queue}",
        {"fieldManager": "somebody"},
        {"content-type": "application/merge-patch+json"},
        {"metadata": {"annotations": {LOANS: text}}},
    )


def _fenced(bench: "Bench") -> list[str]:
    queues = bench.world.clusters["default"].read().queues
    return sorted(name for name, queue in queues.items() if FENCE in queue.annotations)


def _writes(bench: "Bench") -> int:
    return len(bench.kube.history)


@pytest.mark.parametrize(
    "text",
    [
        '{"v":1,"by":"another","uid":"x","seq":1,"f":{}}',
        '{"v":2,"by":"another","everything":"else is new"}',
    ],
    ids=["readable", "of a newer version"],
)
def test_annotations_of_another_installation_fence_nothing(bench: "Bench", text: str) -> None:
    """A second installation that is new on a shared cluster leaves every queue alone."""
    _note(bench, "nlp", text)
    before = _writes(bench)
    bench.converge()
    assert _fenced(bench) == []
    assert _writes(bench) == before


@pytest.mark.parametrize(
    "text",
    [
        '{"v":1,"by":"bench","uid":"x","seq":1,"f":{}}',
        '{"v":2,"by":"bench","everything":"else is new"}',
        "{not json",
        "[]",
        "[" * 100_000,
    ],
    ids=["of an object that is gone", "of a newer version", "cut off", "no object", "too deep"],
)
def test_what_may_be_ours_fences_every_queue(bench: "Bench", text: str) -> None:
    _note(bench, "nlp", text)
    bench.converge()
    assert _fenced(bench) == ["nlp", "robotics", "vision"]


OURS = '{"v":1,"by":"bench","uid":"x","seq":1,"f":{}}'


class _Refusing:
    """The cluster, but patches of one queue are refused."""

    def __init__(self, cluster: Cluster, queue: str, outcome: PatchOutcome) -> None:
        self._cluster, self._queue, self._outcome = cluster, queue, outcome
        self.patches: list[str] = []
        self.reads = 0

    @property
    def name(self) -> str:
        return self._cluster.name

    def read(self, *, cohorts_within: timedelta = timedelta(0), **also: Any) -> Any:
        self.reads += 1
        return self._cluster.read(cohorts_within=cohorts_within, **also)

    def patch(self, change: QueueChange, *, dry_run: bool = False) -> PatchResult:
        self.patches.append(change.queue.name)
        if change.queue.name == self._queue:
            return PatchResult(self._outcome, words="no")
        return self._cluster.patch(change, dry_run=dry_run)


def _refusing(bench: "Bench", outcome: PatchOutcome) -> _Refusing:
    cluster: Any = _Refusing(bench.world.clusters["default"], "robotics", outcome)
    bench.world = replace(bench.world, clusters={"default": cluster})
    _note(bench, "nlp", OURS)
    return cluster  # type: ignore[no-any-return]


def _step(bench: "Bench") -> timedelta | None:
    return converge_all(bench.world, bench.epoch, bench.memory, lambda _fence: None)


@pytest.mark.parametrize("text", [OURS, "{not json"])
def test_who_only_looks_writes_no_fence(bench: "Bench", text: str) -> None:
    bench.world = replace(bench.world, observe_only=True)
    _note(bench, "nlp", text)
    before = _writes(bench)
    bench.converge()
    assert _writes(bench) == before


@pytest.mark.parametrize("outcome", [PatchOutcome.FORBIDDEN, PatchOutcome.REFUSED])
def test_a_queue_that_refuses_its_fence_does_not_hold_up_the_others(bench: "Bench", outcome: PatchOutcome) -> None:
    """It is asked once, not in a loop, told, and asked again when a refusal is old."""
    cluster = _refusing(bench, outcome)
    assert _step(bench) is None
    assert sorted(cluster.patches) == ["nlp", "robotics", "vision"]
    assert cluster.reads <= 4
    assert len(bench.keys("missing_right:" if outcome is PatchOutcome.FORBIDDEN else "write_refused:")) == 1
    _step(bench)
    assert len(cluster.patches) == 3
    bench.pass_time(seconds=REFUSAL_LASTS.total_seconds())
    _step(bench)
    assert cluster.patches[3:] == ["robotics"]
