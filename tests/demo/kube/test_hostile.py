"""Whatever is sent, the server answers with a status; it never breaks, and what it refuses it does not store."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.demo.kube.people import Limits
from bot.demo.kube.sim import KubeSim

QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
NAMES = [
    "metadata", "name", "spec", "resourceGroups", "flavors", "resources", "nominalQuota", "lendingLimit",
    "borrowingLimit", "coveredResources", "cohortName", "preemption", "borrowWithinCohort", "policy", "fairSharing",
    "weight", "status", "annotations", "labels", "managedFields", "finalizers", "resourceVersion", "uid", "kind",
    "namespaceSelector", "admissionChecksStrategy", "admissionChecks", "onFlavors", "concurrentAdmissionPolicy",
    "parentName", "apiVersion",
]  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 9) | st.sampled_from(["8", "h100", "", "8k", "x y", "Any", "Never"])
)
BODY = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)
PATHS = st.lists(st.sampled_from([*NAMES, "0", "1", "-"]), max_size=6).map(
    lambda parts: "".join(f"/{p}" for p in parts)
)
OPERATIONS = st.lists(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "replace", "remove", "test", "move", "copy"]), "path": PATHS},
        optional={"value": BODY, "from": PATHS},
    ),
    max_size=3,
)


def _stored(sim: KubeSim) -> str:
    return json.dumps(sim.queue("q"))


def _simulator() -> KubeSim:
    sim = KubeSim()
    sim.add_cluster_queue("q", {"h100": {"nominal": 8, "borrowing": 2}}, cohort="c")
    return sim


@pytest.mark.parametrize("content_type", ["application/merge-patch+json", "application/apply-patch+yaml"])
@settings(deadline=None)
@given(body=BODY, dry=st.booleans())
def test_any_merge_or_apply(content_type: str, body: Any, dry: bool) -> None:
    _check("PATCH", f"{QUEUES}/q", content_type, body, dry)


@settings(deadline=None)
@given(body=OPERATIONS, dry=st.booleans())
def test_any_json_patch(body: Any, dry: bool) -> None:
    _check("PATCH", f"{QUEUES}/q", "application/json-patch+json", body, dry)


@settings(deadline=None)
@given(body=BODY, method=st.sampled_from(["POST", "PUT", "DELETE", "BREW"]), dry=st.booleans())
def test_any_body(body: Any, method: str, dry: bool) -> None:
    _check(method, QUEUES if method == "POST" else f"{QUEUES}/q", "application/json", body, dry)


@settings(max_examples=50, deadline=None)
@given(spec=BODY, kind=st.sampled_from(["Cohort", "ResourceFlavor", "ClusterQueue"]))
def test_any_spec_of_a_new_object_and_the_controllers_live_with_what_was_accepted(spec: Any, kind: str) -> None:
    sim = _simulator()
    body = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": "new"}, "spec": spec}
    status, _, _ = sim.handle("POST", f"/apis/kueue.x-k8s.io/v1beta2/{kind.lower()}s", {}, {}, body)
    assert status in (201, 400, 403, 422)
    sim.reconcile()
    assert sim.queue("q")["status"]["conditions"][0]["reason"] == "Ready"


def test_a_number_beyond_json_integers_is_a_bad_request() -> None:
    _check("PATCH", f"{QUEUES}/q", "application/merge-patch+json", {"spec": {"stopPolicy": 2**70}}, False)


def _check(method: str, path: str, content_type: str, body: Any, dry: bool) -> None:
    sim = _simulator()
    before = _stored(sim)
    query = {"fieldManager": "m", "force": "true", **({"dryRun": "All"} if dry else {})}
    status, _, answer = sim.handle(method, path, query, {"Content-Type": content_type}, body)
    assert status in (200, 201, 400, 403, 405, 409, 415, 422)
    assert isinstance(answer, dict)
    if dry or status >= 400:
        assert _stored(sim) == before


def _pointers(value: Any, at: str = "") -> list[str]:
    """Every place in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for name, item in inner for place in _pointers(item, f"{at}/{str(name).replace('/', '~1')}"))]


FULL: dict[str, Any] = {
    "preemption": {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}},
    "fairSharing": {"weight": "1"},
    "admissionChecksStrategy": {"admissionChecks": [{"name": "check", "onFlavors": ["h100"]}]},
    "namespaceSelector": {"matchLabels": {"a": "b"}},
}


PLURALS = ["clusterqueues", "cohorts", "localqueues", "workloads", "resourceflavors", "workloadpriorityclasses", "jobs"]


@pytest.mark.parametrize("plural", PLURALS)
@settings(deadline=None)
@given(data=st.data())
def test_anything_in_any_place_of_a_real_object(plural: str, data: st.DataObject) -> None:
    """Each place of an object in use, overwritten or removed; then the controllers must live with what was accepted."""
    sim = _busy()
    victim = sim.cluster.store.all(plural)[0]
    before = json.dumps(victim)
    operations = []
    for _ in range(data.draw(st.integers(1, 2))):
        change = {"op": "remove"} if data.draw(st.booleans()) else {"op": "add", "value": data.draw(BODY)}
        operations.append({**change, "path": data.draw(st.sampled_from(_pointers(victim)))})
    name, namespace = victim["metadata"]["name"], victim["metadata"].get("namespace", "")
    headers = {"Content-Type": "application/json-patch+json"}
    status, _, _ = sim.handle("PATCH", sim.path(plural, namespace, name), {}, headers, operations)
    assert status in (200, 400, 403, 409, 422)
    if status >= 400:
        assert json.dumps(sim.cluster.get(plural, namespace, name)) == before
    sim.reconcile()
    assert sim.reconcile() == 0


def _busy() -> KubeSim:
    """One queue that uses every field, in a cohort with a pool, with a job that runs and one that waits."""
    sim = KubeSim()
    quotas: dict[str, Limits | int | str] = {"h100": {"nominal": 8, "borrowing": 2, "lending": 3}}
    sim.add_cluster_queue("q", quotas, cohort="c", **FULL)
    group = sim.queue("q")["spec"]["resourceGroups"][0]
    sim.add("cohorts", "c", {"spec": {"parentName": "root", "resourceGroups": [group]}})
    sim.add_local_queue("ns", "lq", "q")
    sim.submit_job("ns", "j", "lq", 4, priority=5)
    sim.submit_job("ns", "waits", "lq", 90)
    sim.reconcile()
    return sim
