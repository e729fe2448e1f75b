"""The recorded watches beside the simulator's: the same story must leave the same trace on every workload and queue."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.demo.kube.people import Limits
from bot.demo.kube.sim import KubeSim

CAPTURES = Path(__file__).parents[2] / "captures"
PREEMPTION = {
    "reclaimWithinCohort": "Any",
    "withinClusterQueue": "LowerPriority",
    "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 100},
}
NOT_PLAYED = {"solo"}
"""A plain pod with a queue label: the simulator makes Workloads of Jobs only."""

EXTRA_REASONS = {"b-1": {"Inadmissible", "Suspended"}}
"""Reasons for waiting that the recording was too quick to see: here the queue stands stopped before it resumes."""

Trace = list[tuple[str, ...]]


def _recorded(release: str, plural: str) -> Iterator[Any]:
    lines = (CAPTURES / f"kueue-{release}-watch-{plural}.ndjson").read_text().splitlines()
    return (json.loads(line) for line in lines)


def _play(sim: KubeSim, clock: Any) -> None:
    """The steps of the recording, each left to come to rest."""
    for team in ("team-a", "team-b"):
        quotas: dict[str, Limits | int | str] = {"h100": {"nominal": 8, "borrowing": 8}}
        sim.add_cluster_queue(team, quotas, cohort="gpu-pool", preemption=PREEMPTION)
        sim.add_local_queue(team, "lq", team)
    missing: dict[str, Any] = {"name": "no-such-flavor", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 1}]}
    broken = {"resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [missing]}]}
    steps: list[Callable[[], Any]] = [
        lambda: _submit(sim, "a-1", 4),
        lambda: _submit(sim, "a-2", 8),
        lambda: _submit(sim, "a-3", 8),
        lambda: _submit(sim, "a-big", 100),
        lambda: _submit(sim, "b-1", 8),
        lambda: _submit(sim, "a-hi", 8, priority=1000),
        lambda: sim.hand_edit("team-a", "h100", nominal=2),
        lambda: _submit(sim, "b-2", 4),
        lambda: sim.hand_edit("team-b", "h100", nominal=14),
        lambda: sim.hand_edit("team-a", "h100", nominal=16),
        lambda: sim.set_active("team-b", "b-2", active=False),
        lambda: sim.stop("team-b", "HoldAndDrain"),
        lambda: sim.stop("team-b", "None"),
        lambda: _submit(sim, "a-noq", 1, queue="does-not-exist"),
        lambda: sim.add("clusterqueues", "broken", {"spec": broken}),
        lambda: sim.delete("jobs", "b-1", "team-b"),
        lambda: _submit(sim, "b-run", 2),
        lambda: sim.finish("team-b", "b-run"),
        lambda: _submit(sim, "b-fail", 1),
        lambda: sim.finish("team-b", "b-fail", failed=True),
        lambda: sim.delete("clusterqueues", "team-a"),
    ]
    for step in steps:
        step()
        clock.advance(3)
        sim.reconcile()


def _submit(sim: KubeSim, name: str, gpus: int, priority: int = 100, queue: str = "lq") -> None:
    sim.submit_job(f"team-{name[0]}", name, queue, gpus, priority=priority)


def _traces(events: Iterable[Any]) -> dict[str, Trace]:
    """What the conditions of each Job's Workload went through; why it waits is compared apart."""
    traces: dict[str, Trace] = {}
    for event in events:
        job = event["object"]["metadata"]["ownerReferences"][0]["name"]
        state = tuple(sorted(map(_mark, _conditions(event["object"]))))
        trace = traces.setdefault(job, [])
        if event["type"] != "DELETED" and (not trace or trace[-1] != state):
            trace.append(state)
    return traces


def _conditions(obj: Any) -> list[Any]:
    return [c for c in obj.get("status", {}).get("conditions", []) if c["type"] != "PodsReady"]


def _mark(condition: Any) -> str:
    waits = condition["type"] == "QuotaReserved" and condition["status"] == "False"
    return f"{condition['type']}={condition['status']}" + ("" if waits else f" {condition['reason']}")


def _reasons(events: Iterable[Any]) -> dict[str, set[str]]:
    reasons: dict[str, set[str]] = {}
    for event in events:
        job = event["object"]["metadata"]["ownerReferences"][0]["name"]
        for condition in _conditions(event["object"]):
            if condition["type"] == "QuotaReserved" and condition["status"] == "False":
                reasons.setdefault(job, set()).add(condition["reason"])
    return reasons


@pytest.fixture(params=["0.19.2", "main"])
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def played(release: str, clock: Any) -> dict[str, list[Any]]:
    """The events of a watch on workloads and one on queues, through the whole story."""
    sim = KubeSim(clock, granular=release == "main")
    watches = {plural: sim.watch(sim.path(plural)) for plural in ("workloads", "clusterqueues")}
    _play(sim, clock)
    return {plural: watch.pending() for plural, watch in watches.items()}


def test_every_workload_goes_through_the_recorded_conditions(played: Any, release: str) -> None:
    recorded = _traces(_recorded(release, "workloads"))
    assert _traces(played["workloads"]) == {job: trace for job, trace in recorded.items() if job not in NOT_PLAYED}


def test_the_reasons_for_waiting_are_the_recorded_ones(played: Any, release: str) -> None:
    recorded = _reasons(_recorded(release, "workloads"))
    for job, reasons in _reasons(played["workloads"]).items():
        assert reasons <= recorded[job] | EXTRA_REASONS.get(job, set()), job


def test_every_message_follows_the_recorded_grammar(played: Any, release: str) -> None:
    """Each condition's text, ids and numbers taken out, is one that the real Kueue wrote for the same condition."""
    assert _shapes(played["workloads"]) <= _shapes(_recorded(release, "workloads"))


def _shapes(events: Iterable[Any]) -> set[tuple[str, str, str]]:
    return {_shape(c) for event in events for c in event["object"].get("status", {}).get("conditions", [])}


def _shape(condition: Any) -> tuple[str, str, str]:
    text = "".join(character for character in condition["message"] if not character.isdigit())
    words = [word for word in text.split() if "-" not in word or "/" in word]
    return condition["type"], condition["status"], " ".join(words)


def test_objects_have_the_recorded_fields(played: Any, release: str) -> None:
    """Every field of the simulator's metadata and status is one the real objects have; real ones may have more."""
    for plural in ("workloads", "clusterqueues"):
        real = {path for event in _recorded(release, plural) for path in _fields(event["object"])}
        own = {path for event in played[plural] for path in _fields(event["object"])}
        assert own <= real
        assert {path for path in real - own if path.startswith("status")} <= {"status.requeueState"}


def _fields(value: Any, at: str = "") -> Iterator[str]:
    """Paths of an object's metadata and status; what others named (labels, fields of managers, pods) is left out."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        path = f"{at}.{name}" if at else name
        if path in ("spec", "metadata.managedFields", "metadata.labels"):
            continue
        yield path
        for item in inner if isinstance(inner, list) else [inner]:
            yield from _fields(item, path)


def test_the_queues_of_the_recording_load_and_read_back_the_same(sim: KubeSim, release: str) -> None:
    for name in ("h100", "a100"):
        sim.ensure("resourceflavors", name)
    specs = {
        event["object"]["metadata"]["name"]: event["object"]["spec"] for event in _recorded(release, "clusterqueues")
    }
    assert len(specs) == 3
    for name, spec in specs.items():
        assert sim.add("clusterqueues", name, {"spec": spec})["spec"] == spec
