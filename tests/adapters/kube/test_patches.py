"""A change as JSON Patch: what it tests, what it writes, and that it leaves everything else as it is."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.kube.objects import queue_snapshot
from bot.adapters.kube.patches import active_operations, operations
from bot.core.convergence.changes import QueueChange
from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.evictions import MARK, ActiveChange
from bot.core.kueue import FlavorResource
from bot.demo.kube.sim import KubeSim
from tests.support import quota

QUANTITIES = st.one_of(
    st.integers(0, 64),
    st.integers(0, 64).map(str),
    st.sampled_from(["8000m", "8k", "10k", "2Ti", "1500m", "0.5"]),
)
LIMITS = st.one_of(st.none(), QUANTITIES)


@st.composite
def queues(draw: st.DrawFn) -> dict[str, Any]:
    """A ClusterQueue's spec with one or two groups, up to three flavors and two resources in each."""
    groups = []
    for number, resources in enumerate((["cpu", "memory"], ["nvidia.com/gpu"])[: draw(st.integers(1, 2))]):
        names = [f"g{number}-f{at}" for at in range(draw(st.integers(1, 3)))]
        flavors = [{"name": name, "resources": [_entry(draw, resource) for resource in resources]} for name in names]
        groups.append({"coveredResources": resources, "flavors": flavors})
    return {"namespaceSelector": {}, "cohortName": "pool", "resourceGroups": groups}


def _entry(draw: st.DrawFn, resource: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": resource, "nominalQuota": draw(QUANTITIES)}
    borrowing = draw(LIMITS)
    return entry if borrowing is None else {**entry, "borrowingLimit": borrowing}


def _created(spec: dict[str, Any], **metadata: Any) -> tuple[KubeSim, dict[str, Any]]:
    sim = KubeSim()
    for group in spec["resourceGroups"]:
        for flavor in group["flavors"]:
            sim.ensure("resourceflavors", flavor["name"])
    sim.add("clusterqueues", "q", {"spec": spec}, **metadata)
    return sim, copy.deepcopy(sim.queue("q"))


def _patch(sim: KubeSim, change: QueueChange) -> tuple[int, Any]:
    query = {"fieldManager": "gpu-quota-bot", "fieldValidation": "Strict"}
    headers = {"Content-Type": "application/json-patch+json"}
    body = list(operations(change))
    status, _, answer = sim.handle("PATCH", sim.path("clusterqueues", "", "q"), query, headers, body)
    return status, answer


def _without(spec: dict[str, Any], at: tuple[int, int, int], name: str) -> str:
    """The spec's bytes without one number."""
    rest = copy.deepcopy(spec)
    group, flavor, entry = at
    rest["resourceGroups"][group]["flavors"][flavor]["resources"][entry].pop(name, None)
    return json.dumps(rest, sort_keys=True)


@given(st.data())
def test_one_number_is_written_and_its_siblings_stay_byte_for_byte(data: st.DataObject) -> None:
    sim, before = _created(data.draw(queues()))
    snapshot = queue_snapshot("default", before)
    entry = data.draw(st.sampled_from(sorted(snapshot.quotas)))
    name = data.draw(st.sampled_from([FieldName.NOMINAL, FieldName.BORROWING_LIMIT]))
    number = data.draw(st.one_of(st.integers(0, 10**6), st.none()) if name == "borrowingLimit" else st.integers(0, 99))
    status, after = _patch(sim, QueueChange(snapshot, {FieldKey("default", "q", *entry, name): number}))
    assert status == 200, after
    spec_name = {"nominal": "nominalQuota"}.get(name, name)
    at = snapshot.quotas[entry].path
    assert _without(after["spec"], at, spec_name) == _without(before["spec"], at, spec_name)
    group, flavor, place = at
    written = after["spec"]["resourceGroups"][group]["flavors"][flavor]["resources"][place].get(spec_name)
    assert written == (None if number is None else str(number))


SPEC = {
    "namespaceSelector": {},
    "cohortName": "pool",
    "resourceGroups": [
        {
            "coveredResources": ["nvidia.com/gpu"],
            "flavors": [
                {"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 4}]},
                {
                    "name": "a100",
                    "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 8, "borrowingLimit": 2}],
                },
            ],
        }
    ],
}
ENTRY = FlavorResource("a100", "nvidia.com/gpu")
NOMINAL = FieldKey("default", "q", *ENTRY, FieldName.NOMINAL)
LIMIT = FieldKey("default", "q", *ENTRY, FieldName.BORROWING_LIMIT)


def test_the_head_tests_the_object_and_the_names_and_never_a_quantity() -> None:
    _, raw = _created(SPEC)
    snapshot = queue_snapshot("default", raw)
    tests = [one for one in operations(QueueChange(snapshot, {NOMINAL: 9, LIMIT: 3})) if one["op"] == "test"]
    assert [(one["path"], one["value"]) for one in tests] == [
        ("/metadata/resourceVersion", snapshot.resource_version),
        ("/metadata/uid", snapshot.uid),
        ("/spec/resourceGroups/0/flavors/1/name", "a100"),
        ("/spec/resourceGroups/0/flavors/1/resources/0/name", "nvidia.com/gpu"),
    ]


def test_a_limit_that_is_not_set_is_not_removed() -> None:
    """`remove` of what is absent would fail the whole patch."""
    sim, raw = _created(SPEC)
    other = FlavorResource("h100", "nvidia.com/gpu")
    key = FieldKey("default", "q", *other, FieldName.BORROWING_LIMIT)
    change = QueueChange(queue_snapshot("default", raw), {key: None}, {other: None})
    assert [one["op"] for one in operations(change)] == ["test"] * 4
    assert _patch(sim, change)[0] == 200


def test_a_borrowing_limit_is_removed() -> None:
    sim, raw = _created(SPEC)
    status, after = _patch(sim, QueueChange(queue_snapshot("default", raw), {LIMIT: None}))
    assert status == 200
    assert "borrowingLimit" not in after["spec"]["resourceGroups"][0]["flavors"][1]["resources"][0]


def test_nominal_and_lending_limit_travel_together() -> None:
    """Kueue refuses a nominalQuota below the lendingLimit, so one alone could never be lowered."""
    sim, raw = _created(SPEC)
    first = _patch(sim, QueueChange(queue_snapshot("default", raw), {}, {ENTRY: 8}))[1]
    status, after = _patch(sim, QueueChange(queue_snapshot("default", first), {NOMINAL: 5}, {ENTRY: 5}))
    assert status == 200
    assert queue_snapshot("default", after).quotas[ENTRY].lending_limit == 5


@pytest.mark.parametrize("key", ["gpu-quota-bot.io/loans", "gpu-quota-bot.io/a~b", "gpu-quota-bot.io/a~1b"])
@pytest.mark.parametrize("others", [None, {"someone/else": "x"}])
def test_an_annotation_is_written_changed_and_removed(key: str, others: dict[str, str] | None) -> None:
    """With or without a map of annotations, and with the characters that JSON pointers escape."""
    metadata = {"annotations": others} if others else {}
    sim, raw = _created(SPEC, **metadata)
    for value in ("1", "2"):
        status, raw = _patch(sim, QueueChange(queue_snapshot("default", raw), annotations={key: value}))
        assert status == 200, raw
        assert raw["metadata"]["annotations"] == {**(others or {}), key: value}
    status, raw = _patch(sim, QueueChange(queue_snapshot("default", raw), annotations={key: None}))
    assert status == 200
    assert (raw["metadata"].get("annotations") or {}) == (others or {})


def test_an_annotation_that_is_not_there_is_not_removed() -> None:
    sim, raw = _created(SPEC)
    change = QueueChange(queue_snapshot("default", raw), annotations={"gpu-quota-bot.io/loans": None})
    assert _patch(sim, change)[0] == 200


def test_a_changed_object_kills_the_patch() -> None:
    sim, raw = _created(SPEC)
    snapshot = queue_snapshot("default", raw)
    sim.hand_edit("q", "h100", nominal=5)
    status, answer = _patch(sim, QueueChange(snapshot, {NOMINAL: 9}))
    assert (status, answer["reason"]) == (422, "Invalid")
    assert sim.nominal("q", "a100") == "8"


def test_an_entry_that_the_queue_does_not_have_is_an_error() -> None:
    _, raw = _created(SPEC)
    key = FieldKey("default", "q", "b200", "nvidia.com/gpu", FieldName.NOMINAL)
    with pytest.raises(KeyError):
        operations(QueueChange(queue_snapshot("default", raw), {key: 1}))


@pytest.mark.parametrize("annotated", [True, False])
def test_a_workload_is_set_inactive_and_marked_in_one_patch_and_both_are_undone(annotated: bool) -> None:
    workload = replace(quota.work("a", 8), resource_version="7", annotated=annotated)
    off = active_operations(ActiveChange(workload, False, "L7:x"))
    path = "/metadata/annotations/gpu-quota-bot.io~1evicted"
    mark = (
        {"op": "add", "path": path, "value": "L7:x"}
        if annotated
        else {"op": "add", "path": "/metadata/annotations", "value": {MARK: "L7:x"}}
    )
    tests = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "test", "path": "/metadata/uid", "value": "uid-a"},
    ]
    assert off == [*tests, mark, {"op": "add", "path": "/spec/active", "value": False}]
    assert active_operations(ActiveChange(workload, True, "L7:x")) == [
        *tests,
        {"op": "test", "path": path, "value": "L7:x"},
        {"op": "remove", "path": path},
        {"op": "add", "path": "/spec/active", "value": True},
    ]
