"""What is read of the captured streams, and of shapes that nobody expects."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.kube.seen import POD_GROUP, read_event, read_pod, read_workload
from bot.core.incidents.facts import Kind, Move, Owner, Remembered, Wanted, What

CAPTURES = Path(__file__).parents[2] / "captures"
WANTED = Wanted(frozenset({"nvidia.com/gpu", "nvidia.com/mig-3g.40gb"}), frozenset({"owner"}))
READERS: dict[str, Callable[..., Any]] = {"workloads": read_workload, "pods": read_pod, "events": read_event}


@cache
def lines(name: str) -> list[str]:
    """A captured watch."""
    return (CAPTURES / f"{name}.ndjson").read_text().splitlines()


def captured(name: str) -> list[Any]:
    """The objects of a captured watch, line by line."""
    return [json.loads(line)["object"] for line in lines(name)]


@pytest.mark.parametrize("kueue", ["kueue-0.19.2", "kueue-main"])
def test_a_preempted_workload_is_read_with_all_that_is_said_of_it(kueue: str) -> None:
    raw = next(one for one in captured(f"{kueue}-watch-workloads") if '"Preempted"' in json.dumps(one.get("status")))
    seen = read_workload("prod", raw, WANTED)
    assert seen is not None
    assert (seen.owner and (seen.owner.kind, seen.owner.name)) == ("Job", "a-2")
    assert (seen.queue, seen.local_queue, seen.priority, seen.pods) == ("team-a", "lq", 100, 1)
    assert (seen.accelerators, seen.flavors) == ({"nvidia.com/gpu": 8}, {"nvidia.com/gpu": "h100"})
    assert seen.conditions["Preempted"].reason == "InCohortReclamation"
    assert seen.evictions == 1


def test_a_pod_of_kueue_names_its_workload_and_one_of_the_scheduler_its_disruption() -> None:
    pod = read_pod("prod", captured("kueue-0.19.2-watch-pods")[1], WANTED)
    assert pod is not None
    assert (pod.workload, pod.node, pod.owner and pod.owner.name) == ("job-a-1-acf3b", "gpu-node-0", "a-1")
    victim = read_pod("prod", captured("scheduler-watch-pods")[28], WANTED)
    assert victim is not None
    assert victim.disrupted is not None
    assert victim.disrupted.reason == "PreemptionByScheduler"
    assert victim.owner is None


def test_only_failed_creates_are_read_of_events() -> None:
    seen = [read_event("prod", raw, WANTED) for raw in captured("scheduler-watch-events")]
    refused = [one for one in seen if one]
    assert {(one.owner and one.owner.kind, one.owner and one.owner.name) for one in refused} == {("Job", "rq")}
    assert all("exceeded quota: gpu" in one.message and one.at for one in refused)


def test_an_event_of_the_newer_api_reads_as_the_older_one_does() -> None:
    raw = {
        "metadata": {"namespace": "n", "name": "x.1", "uid": "e", "creationTimestamp": "2026-12-02T07:00:00Z"},
        "reason": "FailedCreate",
        "regarding": {"kind": "Job", "name": "x", "uid": "u"},
        "note": "exceeded quota: gpu",
        "eventTime": "2026-12-02T07:12:01.652483Z",
        "series": {"count": 3, "lastObservedTime": "2026-12-02T07:15:00.000000Z"},
    }
    seen = read_event("prod", raw, WANTED)
    assert seen is not None
    assert (seen.owner, seen.message) == (Owner("Job", "x", "u"), "exceeded quota: gpu")
    assert seen.at == datetime(2026, 12, 2, 7, 15, tzinfo=UTC)


def test_the_older_version_of_a_workload_reads_as_the_newer_one() -> None:
    new = next(one for one in captured("kueue-main-watch-workloads") if (one.get("status") or {}).get("admission"))
    spec = {key: value for key, value in new["spec"].items() if key != "priorityClassRef"}
    old = {**new, "apiVersion": "kueue.x-k8s.io/v1beta1", "spec": {**spec, "priorityClassName": "low"}}
    assert read_workload("prod", old, WANTED) == read_workload("prod", new, WANTED)


@pytest.mark.parametrize(
    ("labels", "references", "owner"),
    [
        ({}, [], None),
        ({"job-name": "j"}, [("Job", "j")], Owner("Job", "j", "u")),
        ({"jobset.sigs.k8s.io/jobset-name": "set"}, [("Job", "set-workers-0")], Owner("JobSet", "set")),
        ({}, [("PyTorchJob", "p" * 253)], Owner("PyTorchJob", "p" * 253, "u")),
        (
            {"ray.io/originated-from-crd": "RayJob", "ray.io/originated-from-cr-name": "r"},
            [("RayCluster", "r-x7k2p")],
            Owner("RayJob", "r"),
        ),
        ({"pod-template-hash": "6b9"}, [("ReplicaSet", "serve-6b9")], Owner("Deployment", "serve")),
        ({"kueue.x-k8s.io/pod-group-name": "g"}, [], Owner(POD_GROUP, "g")),
    ],
)
def test_a_pod_belongs_to_the_top_most_owner_that_it_names(
    labels: dict[str, str], references: list[tuple[str, str]], owner: Owner | None
) -> None:
    refs = [{"kind": kind, "name": name, "uid": "u", "controller": True} for kind, name in references]
    raw = {
        "metadata": {"namespace": "n", "name": "pod", "uid": "p", "labels": labels, "ownerReferences": refs},
        "spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
    }
    seen = read_pod("prod", raw, WANTED)
    assert seen is not None
    assert seen.owner == owner


def test_pods_without_accelerators_are_not_read() -> None:
    raw = {"metadata": {"uid": "p"}, "spec": {"containers": [{"resources": {"requests": {"cpu": "100m"}}}]}}
    assert read_pod("prod", raw, WANTED) is None


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(data=st.data(), kind=st.sampled_from(list(READERS)))
def test_a_shape_that_nobody_knows_is_read_or_left_out_and_never_fails(data: st.DataObject, kind: str) -> None:
    line = data.draw(st.sampled_from(lines("scheduler-watch-pods" if kind == "pods" else f"kueue-main-watch-{kind}")))
    raw = at = json.loads(line)["object"]
    path = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=6))
    for step in path:
        keys: Any = list(at) if isinstance(at, dict) else range(len(at)) if isinstance(at, list) else []
        if not keys:
            break
        parent, key = at, keys[step % len(keys)]
        at = at[key]
    parent[key] = data.draw(_json)
    READERS[kind]("prod", raw, WANTED)


def test_what_is_remembered_survives_being_stored() -> None:
    now = datetime(2026, 12, 2, 7, tzinfo=UTC)
    held = Move(What.NO_ROOM, now, "Unschedulable", "0/3 nodes", {"pods": 2})
    before = Remembered("c", Kind.POD, "u", "s", "7", What.NO_ROOM, now, ("Evicted@1",), now, held, 4, 2)
    columns = Remembered("c", Kind.POD, "u", "s", state=What.NO_ROOM, due=now, devices=4)
    assert columns.with_json(before.to_json()) == before
    bare = Remembered("c", Kind.POD, "u", "s")
    assert bare.with_json(bare.to_json()) == bare
