"""Kueue's JSON into values: quantities, both API versions, Workloads."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bot.adapters.kube.objects import cohort_snapshot, queue_snapshot, workload_snapshot
from bot.adapters.kube.quantities import devices
from bot.core.kueue import FlavorResource, Preemption, Quota

GPU = FlavorResource("a100", "nvidia.com/gpu")


@pytest.mark.parametrize(
    ("quantity", "whole_number", "is_whole"),
    [
        (8, 8, True),
        ("8", 8, True),
        ("8000m", 8, True),
        ("8k", 8_000, True),
        ("10k", 10_000, True),
        ("2Ti", 2 * 2**40, True),
        ("1e3", 1_000, True),
        ("8.0", 8, True),
        ("0.5", 1, False),
        ("500m", 1, False),
        ("7500m", 8, False),
        ("1n", 1, False),
        ("0", 0, True),
        ("-1", -1, True),
    ],
)
def test_a_quantity_is_rounded_up_as_kueue_does(quantity: Any, whole_number: int, is_whole: bool) -> None:
    assert devices(quantity) == (whole_number, is_whole)


@pytest.mark.parametrize("quantity", ["", "many", "8GPUs", "1 0"])
def test_what_is_no_quantity_is_an_error(quantity: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        devices(quantity)


def _queue(**parts: Any) -> dict[str, Any]:
    entry = {"name": "nvidia.com/gpu", "nominalQuota": "8", "borrowingLimit": 4, "lendingLimit": "0.5"}
    spec = {
        "resourceGroups": [
            {"flavors": [{"name": "cpu", "resources": [{"name": "cpu", "nominalQuota": "10k"}]}]},
            {"flavors": [{"name": "h100", "resources": []}, {"name": "a100", "resources": [entry]}]},
        ]
    }
    metadata = {"name": "vision", "uid": "u1", "resourceVersion": "7", "generation": 3}
    return {"metadata": metadata, "spec": {**spec, **parts}}


def test_every_quota_is_found_with_its_place() -> None:
    snapshot = queue_snapshot("default", _queue())
    assert snapshot.quotas == {
        FlavorResource("cpu", "cpu"): Quota(10_000, path=(0, 0, 0)),
        GPU: Quota(8, 4, 1, whole=False, path=(1, 1, 0)),
    }


@pytest.mark.parametrize(
    ("parts", "cohort"),
    [({"cohort": "pool"}, "pool"), ({"cohortName": "pool"}, "pool"), ({}, None), ({"cohort": ""}, None)],
)
def test_the_cohort_in_both_versions(parts: dict[str, str], cohort: str | None) -> None:
    assert queue_snapshot("default", _queue(**parts)).cohort == cohort


@pytest.mark.parametrize(
    ("spec", "parent"), [({"parent": "root"}, "root"), ({"parentName": "root"}, "root"), ({}, None), (None, None)]
)
def test_the_parent_in_both_versions(spec: dict[str, str] | None, parent: str | None) -> None:
    assert cohort_snapshot({"metadata": {"name": "pool"}, "spec": spec}).parent == parent


def test_a_bare_queue_has_kueues_defaults() -> None:
    snapshot = queue_snapshot("default", {"metadata": {"name": "q", "uid": "u", "resourceVersion": "1"}})
    assert snapshot.quotas == {}
    assert snapshot.preemption == Preemption("Never", "Never", "Never")
    assert (snapshot.stop_policy, snapshot.generation, snapshot.observed_generation) == ("None", 1, None)
    assert (snapshot.active, snapshot.deleting, snapshot.annotated) == (False, False, False)


def test_status_and_policy_are_read() -> None:
    raw = _queue(
        preemption={"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}},
        fairSharing={"weight": 2},
        stopPolicy="Hold",
    )
    raw["metadata"] |= {"deletionTimestamp": "2026-12-02T07:00:00Z", "annotations": {"a": "b"}}
    used = [{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "total": "7500m"}]}]
    raw["status"] = {
        "conditions": [{"type": "Active", "status": "True", "observedGeneration": 2}],
        "flavorsReservation": used,
        "flavorsUsage": None,
        "pendingWorkloads": 3,
    }
    snapshot = queue_snapshot("default", raw)
    assert snapshot.preemption == Preemption("Never", "Any", "LowerPriority")
    assert (snapshot.fair_weight, snapshot.stop_policy, snapshot.deleting) == ("2", "Hold", True)
    assert (snapshot.active, snapshot.observed_generation, snapshot.pending_workloads) == (True, 2, 3)
    assert (snapshot.reserved, snapshot.used) == ({GPU: 8}, {})
    assert (snapshot.annotated, snapshot.annotations) == (True, {})


def _workload(**status: Any) -> dict[str, Any]:
    def container(gpus: str, key: str = "requests") -> dict[str, Any]:
        return {"resources": {key: {"nvidia.com/gpu": gpus}}}

    pods = {"containers": [container("1"), container("2", "limits")], "initContainers": [container("8")]}
    small = {"containers": [container("2")], "initContainers": [container("1"), {}]}
    return {
        "metadata": {
            "namespace": "ns",
            "name": "job-train-1",
            "uid": "w1",
            "creationTimestamp": "2026-12-02T07:00:00Z",
            "ownerReferences": [{"name": "other"}, {"name": "train", "controller": True}],
        },
        "spec": {
            "queueName": "vision-train",
            "priority": 50,
            "podSets": [{"count": 2, "template": {"spec": pods}}, {"count": 3, "template": {"spec": small}}],
        },
        "status": status,
    }


QUEUE_OF = {("ns", "vision-train"): "vision"}
RESERVED = {"type": "QuotaReserved", "status": "True", "lastTransitionTime": "2026-12-02T07:05:00Z"}


def test_a_pending_workload_asks_for_the_larger_of_its_containers_and_its_init_containers() -> None:
    snapshot = workload_snapshot(_workload(), QUEUE_OF)
    assert snapshot is not None
    assert snapshot.requests == {"nvidia.com/gpu": 2 * 8 + 3 * 2}
    assert (snapshot.queue, snapshot.reserved_at, snapshot.usage) == ("vision", None, {})
    assert (snapshot.priority, snapshot.owner) == (50, "train")


def test_an_admitted_workload_says_itself_what_it_holds_and_where() -> None:
    assignments = [
        {"flavors": {"nvidia.com/gpu": "a100"}, "resourceUsage": {"nvidia.com/gpu": "16", "cpu": "4"}},
        {"flavors": {"nvidia.com/gpu": "a100"}, "resourceUsage": {"nvidia.com/gpu": 6}},
    ]
    admission = {"clusterQueue": "moved-to", "podSetAssignments": assignments}
    snapshot = workload_snapshot(_workload(admission=admission, conditions=[RESERVED]), QUEUE_OF)
    assert snapshot is not None
    assert (snapshot.queue, snapshot.usage) == ("moved-to", {GPU: 22})
    assert snapshot.reserved_at == datetime(2026, 12, 2, 7, 5, tzinfo=UTC)


def test_an_evicted_workload_holds_nothing() -> None:
    """Its condition keeps the time of the last transition."""
    snapshot = workload_snapshot(_workload(conditions=[{**RESERVED, "status": "False"}]), QUEUE_OF)
    assert snapshot is not None
    assert (snapshot.reserved_at, snapshot.usage) == (None, {})


@pytest.mark.parametrize(("status", "is_over"), [("True", True), ("False", False)])
def test_a_finished_workload_is_none(status: str, is_over: bool) -> None:
    found = workload_snapshot(_workload(conditions=[{"type": "Finished", "status": status}]), QUEUE_OF)
    assert (found is None) is is_over


def test_a_workload_of_an_unknown_local_queue_is_in_no_queue() -> None:
    snapshot = workload_snapshot(_workload(), {})
    assert snapshot is not None
    assert snapshot.queue is None
