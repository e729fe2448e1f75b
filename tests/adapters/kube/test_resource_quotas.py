"""A ResourceQuota's JSON as an object with quota."""

from typing import Any

import pytest

from bot.adapters.kube.patches import operations
from bot.adapters.kube.resource_quotas import path_of, resource_quota_snapshot
from bot.core.convergence.changes import QueueChange
from bot.core.kueue import QueueSnapshot, Quota
from bot.core.resource_quotas import hard_entry, hard_field

GPU = "nvidia.com/gpu"


def _raw(hard: dict[str, str], status: dict[str, Any] | None = None, **metadata: Any) -> dict[str, Any]:
    named = {"name": "gpu", "namespace": "work", "uid": "u1", "resourceVersion": "7", **metadata}
    return {"metadata": named, "spec": {"hard": hard}, "status": status or {}}


def _snapshot(hard: dict[str, str], status: dict[str, Any] | None = None, **metadata: Any) -> QueueSnapshot:
    return resource_quota_snapshot("default", _raw(hard, status, **metadata))


def _writer(manager: str, field: str = "f:hard", **more: Any) -> dict[str, Any]:
    return {"manager": manager, "time": "2026-12-02T10:00:00Z", "fieldsV1": {"f:spec": {field: {}}}, **more}


def test_only_requests_of_devices_are_entries_and_what_counts_nothing_is_known() -> None:
    hard = {"pods": "9", "requests.cpu": "4", f"requests.{GPU}": "8", f"limits.{GPU}": "8", GPU: "8"}
    seen = _snapshot(hard)
    assert seen.name == "work/gpu"
    assert seen.quotas == {hard_entry(GPU): Quota(8)}
    assert seen.no_effect == (f"limits.{GPU}", GPU)
    assert path_of(seen.name) == "/api/v1/namespaces/work/resourcequotas/gpu"


@pytest.mark.parametrize(
    ("quantity", "quota"), [("10k", Quota(10_000)), ("500m", Quota(1, whole=False)), ("0", Quota(0))]
)
def test_quantities_are_read_as_they_are_stored(quantity: str, quota: Quota) -> None:
    assert _snapshot({f"requests.{GPU}": quantity}).quotas == {hard_entry(GPU): quota}


def test_it_is_seen_when_the_status_has_followed() -> None:
    hard = {f"requests.{GPU}": "8"}
    for status, seen in (({}, False), ({"hard": {f"requests.{GPU}": "4"}}, False), ({"hard": hard}, True)):
        snapshot = _snapshot(hard, status)
        assert (snapshot.observed_generation == snapshot.generation) is seen


def test_a_generation_that_the_server_counts_is_taken() -> None:
    assert _snapshot({f"requests.{GPU}": "8"}, generation=3).generation == 3


@pytest.mark.parametrize(
    ("hard", "fields", "moves"),
    [
        ("8", [_writer("git"), _writer("kube-controller-manager", subresource="status")], False),
        ("9", [_writer("git")], True),
        ("8", [_writer("git", time="2026-12-02T10:00:01Z")], True),
        ("8", [_writer("git"), _writer("somebody", "f:scopes")], True),
    ],
    ids=["status", "number", "the same number again", "somebody else"],
)
def test_what_stands_for_a_generation_moves_with_every_write_but_the_status(
    hard: str, fields: list[dict[str, Any]], moves: bool
) -> None:
    before = _snapshot({f"requests.{GPU}": "8"}, managedFields=[_writer("git")])
    after = _snapshot({f"requests.{GPU}": hard}, managedFields=fields)
    assert (before.generation != after.generation) is moves


def test_the_patch_tests_version_and_uid_and_writes_one_key_of_the_map() -> None:
    change = QueueChange(_snapshot({f"requests.{GPU}": "8"}), {hard_field("default", "work/gpu", GPU): 12})
    assert operations(change) == [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "test", "path": "/metadata/uid", "value": "u1"},
        {"op": "add", "path": "/spec/hard/requests.nvidia.com~1gpu", "value": "12"},
    ]
