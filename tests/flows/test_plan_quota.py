"""A database that knows nothing was lost only if something on the queues is of this very installation."""

from typing import TYPE_CHECKING

import pytest

from bot.core.convergence.annotation import FENCE, LOANS

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
