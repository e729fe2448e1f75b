"""What any client of the API relies on: versions, generations, no-ops, dry runs, selectors, watches, discovery."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.demo.kube.faults import AnswerLost, Hang, Hung, NotReached, Refuse, ResetAfter, ResetBefore
from bot.demo.kube.rbac import Rule
from bot.demo.kube.sim import KubeSim

QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
OLD_QUEUES = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues"
QUOTA = "/spec/resourceGroups/0/flavors/0/resources/0"
JSON_PATCH = {"Content-Type": "application/json-patch+json", "User-Agent": "quota-bot/1.0"}
MERGE = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture
def queue(sim: KubeSim) -> KubeSim:
    """A simulator with the queue `q`."""
    sim.add_cluster_queue("q", {"h100": 8}, cohort="pool")
    sim.reconcile()
    return sim


def _patch(sim: KubeSim, value: Any, field: str = "nominalQuota", **query: str) -> tuple[int, Any]:
    operations = [{"op": "add", "path": f"{QUOTA}/{field}", "value": value}]
    status, _, body = sim.handle("PATCH", f"{QUEUES}/q", query, JSON_PATCH, operations)
    return status, body


def test_every_write_raises_the_resource_version_and_spec_moves_the_generation(queue: KubeSim) -> None:
    _, first = _patch(queue, "7")
    queue.annotate("q", note="x")
    second = queue.queue("q")
    _, third = _patch(queue, "6")
    versions = [int(obj["metadata"]["resourceVersion"]) for obj in (first, second, third)]
    assert versions == sorted(set(versions))
    assert [obj["metadata"]["generation"] for obj in (first, second, third)] == [2, 2, 3]


def test_a_patch_that_changes_nothing_writes_nothing(queue: KubeSim) -> None:
    _, first = _patch(queue, "7")
    history = len(queue.history)
    _, again = _patch(queue, "7")
    assert again == first
    assert len(queue.history) == history


def test_a_patched_number_stays_a_number(queue: KubeSim) -> None:
    assert queue.nominal("q", "h100") == "8"
    _patch(queue, 8)
    assert queue.nominal("q", "h100") == 8
    _patch(queue, "8000m")
    assert queue.nominal("q", "h100") == "8000m"


def test_a_dry_run_shows_the_result_and_stores_nothing(queue: KubeSim) -> None:
    before, version = queue.queue("q"), queue.cluster.store.version
    status, body = _patch(queue, "3", dryRun="All")
    assert (status, body["metadata"]["generation"]) == (200, before["metadata"]["generation"] + 1)
    assert body["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] == "3"
    assert queue.queue("q") == before
    assert queue.cluster.store.version == version
    assert queue.handle("DELETE", f"{QUEUES}/q", {"dryRun": "All"})[0] == 200
    assert "deletionTimestamp" not in queue.queue("q")["metadata"]
    assert queue.handle("PATCH", f"{QUEUES}/q", {"dryRun": "Some"}, JSON_PATCH, [])[0] == 422


def test_the_controller_says_which_generation_it_saw(queue: KubeSim) -> None:
    _patch(queue, "7")
    active = queue.queue("q")["status"]["conditions"][0]
    assert (active["observedGeneration"], queue.queue("q")["metadata"]["generation"]) == (1, 2)
    queue.reconcile()
    assert queue.queue("q")["status"]["conditions"][0]["observedGeneration"] == 2


def test_status_is_the_controllers_alone(queue: KubeSim) -> None:
    body: dict[str, Any] = {"status": {"pendingWorkloads": 99}, "spec": {"stopPolicy": "Hold"}}
    _, _, after = queue.handle("PATCH", f"{QUEUES}/q", {}, MERGE, body)
    assert (after["status"]["pendingWorkloads"], after["spec"]["stopPolicy"]) == (0, "Hold")
    body["spec"]["stopPolicy"] = "None"
    _, _, after = queue.handle("PATCH", f"{QUEUES}/q/status", {}, MERGE, body)
    assert (after["status"]["pendingWorkloads"], after["spec"]["stopPolicy"]) == (99, "Hold")


def test_the_last_annotation_takes_the_map_with_it(queue: KubeSim) -> None:
    """So a JSON Patch that adds one annotation must know whether there are any."""
    one = [{"op": "add", "path": "/metadata/annotations/a~1b", "value": "x"}]
    assert queue.handle("PATCH", f"{QUEUES}/q", {}, JSON_PATCH, one)[0] == 422
    whole = [{"op": "add", "path": "/metadata/annotations", "value": {"c": "y"}}]
    assert queue.handle("PATCH", f"{QUEUES}/q", {}, JSON_PATCH, [*whole, *one])[0] == 200
    assert queue.queue("q")["metadata"]["annotations"] == {"a/b": "x", "c": "y"}
    gone = [{"op": "remove", "path": "/metadata/annotations/a~1b"}, {"op": "remove", "path": "/metadata/annotations/c"}]
    assert queue.handle("PATCH", f"{QUEUES}/q", {}, JSON_PATCH, gone)[0] == 200
    assert "annotations" not in queue.queue("q")["metadata"]
    assert queue.queue("q")["metadata"]["generation"] == 1


@pytest.mark.parametrize("value", [1, True, {"a": "b"}])
def test_annotations_are_strings(queue: KubeSim, value: Any) -> None:
    body = {"metadata": {"annotations": {"a": value}}}
    assert queue.handle("PATCH", f"{QUEUES}/q", {}, MERGE, body)[0] == 400


def test_unknown_metadata_is_dropped_or_strictly_refused(queue: KubeSim) -> None:
    body = {"metadata": {"note": "x"}}
    status, headers, after = queue.handle("PATCH", f"{QUEUES}/q", {}, MERGE, body)
    assert (status, headers["Warning"]) == (200, '299 - "unknown field \\"metadata.note\\""')
    assert "note" not in after["metadata"]
    assert queue.handle("PATCH", f"{QUEUES}/q", {"fieldValidation": "Strict"}, MERGE, body)[0] == 422


def test_history_names_every_version_and_who_wrote_it(queue: KubeSim) -> None:
    _patch(queue, "6")
    queue.hand_edit("q", "h100", nominal=9)
    queue.gitops_revert("q")
    seen = [(version.type, version.manager) for version in queue.history]
    assert seen == [
        ("ADDED", "kubectl-create"),
        ("MODIFIED", "kueue"),
        ("MODIFIED", "quota-bot"),
        ("MODIFIED", "kubectl-edit"),
        ("MODIFIED", "argocd-controller"),
    ]
    assert [version.version for version in queue.history] == sorted(version.version for version in queue.history)
    assert queue.nominal("q", "h100") == "8"


def test_git_may_strip_annotations_or_leave_them(queue: KubeSim) -> None:
    queue.annotate("q", loans="x")
    queue.gitops_revert("q")
    assert queue.queue("q")["metadata"]["annotations"] == {"loans": "x"}
    queue.gitops_revert("q", strip=True)
    assert not queue.queue("q")["metadata"].get("annotations")


@pytest.mark.parametrize(
    ("meta", "status"),
    [
        ({"name": "q"}, 422),
        ({"name": "other", "resourceVersion": "1"}, 400),
        ({"name": "q", "resourceVersion": "1"}, 409),
    ],
)
def test_a_replace_names_the_object_and_the_version_it_is_based_on(queue: KubeSim, meta: Any, status: int) -> None:
    body = {**queue.queue("q"), "metadata": meta}
    assert queue.handle("PUT", f"{QUEUES}/q", {}, {}, body)[0] == status


def test_a_patch_of_another_life_of_the_object_is_a_conflict(queue: KubeSim) -> None:
    body = {"metadata": {"uid": "00000000-0000-0000-0000-000000000000"}}
    status, _, said = queue.handle("PATCH", f"{QUEUES}/q", {}, MERGE, body)
    assert (status, said["reason"]) == (409, "Conflict")


def test_names_are_taken_once_and_namespaces_must_exist(queue: KubeSim) -> None:
    version = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
    again = {**version, "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {}}
    assert queue.handle("POST", QUEUES, {}, {}, again)[0] == 409
    local = {**version, "kind": "LocalQueue", "metadata": {"name": "lq"}, "spec": {"clusterQueue": "q"}}
    path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/none/localqueues"
    status, _, said = queue.handle("POST", path, {}, {}, local)
    assert (status, said["message"]) == (404, 'namespaces "none" not found')


def test_deleting_and_creating_again_is_another_life(queue: KubeSim) -> None:
    first = queue.queue("q")["metadata"]["uid"]
    queue.delete("clusterqueues", "q")
    assert queue.queue("q")["metadata"]["deletionTimestamp"]
    queue.reconcile()
    assert queue.handle("GET", f"{QUEUES}/q")[0] == 404
    queue.add_cluster_queue("q", {"h100": 8}, cohort="pool")
    assert queue.queue("q")["metadata"]["uid"] != first
    assert [version.type for version in queue.history if version.type != "MODIFIED"] == ["ADDED", "DELETED", "ADDED"]


def _served(sim: KubeSim) -> list[str]:
    status, _, body = sim.handle("GET", "/apis/kueue.x-k8s.io")
    return [version["version"] for version in body["versions"]] if status == 200 else []


@pytest.mark.parametrize(
    ("versions", "served"),
    [
        (("v1beta1",), ["v1beta1"]),
        (("v1beta1", "v1beta2"), ["v1beta2", "v1beta1"]),
        (("v1beta2",), ["v1beta2"]),
        ((), []),
    ],
)
def test_discovery_shows_what_is_served_and_the_rest_is_not_found(
    clock: Any, versions: tuple[str, ...], served: list[str]
) -> None:
    sim = KubeSim(clock, versions=versions)
    assert _served(sim) == served
    for version in ("v1beta1", "v1beta2"):
        expected = 200 if version in versions else 404
        assert sim.handle("GET", f"/apis/kueue.x-k8s.io/{version}")[0] == expected
        assert sim.handle("GET", f"/apis/kueue.x-k8s.io/{version}/clusterqueues")[0] == expected
    groups = [group["name"] for group in sim.handle("GET", "/apis")[2]["groups"]]
    assert ("kueue.x-k8s.io" in groups) == bool(versions)
    assert {"apps", "batch", "policy", "scheduling.k8s.io"} <= set(groups)
    assert sim.handle("GET", "/api/v1/namespaces")[0] == 200
    assert sim.handle("GET", "/version")[2]["major"] == "1"


def test_a_cluster_with_the_old_version_alone_works_and_warns_nobody(clock: Any) -> None:
    sim = KubeSim(clock, versions=("v1beta1",))
    sim.add_cluster_queue("q", {"h100": 8}, cohort="pool")
    sim.reconcile()
    status, headers, body = sim.handle("GET", f"{OLD_QUEUES}/q")
    assert (status, body["spec"]["cohort"], headers) == (200, "pool", {})
    sim.hand_edit("q", "h100", nominal=5)
    sim.gitops_revert("q")
    assert sim.nominal("q", "h100") == "8"


def test_the_resource_list_names_what_each_version_has(sim: KubeSim) -> None:
    _, _, body = sim.handle("GET", "/apis/kueue.x-k8s.io/v1beta2")
    names = {resource["name"] for resource in body["resources"]}
    assert {"clusterqueues", "clusterqueues/status", "cohorts", "localqueues", "workloads", "resourceflavors"} <= names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({}, ["a", "b", "c"]),
        ({"labelSelector": "team=x"}, ["a", "b"]),
        ({"labelSelector": "team==x,tier!=gold"}, ["b"]),
        ({"labelSelector": "tier"}, ["a"]),
        ({"labelSelector": "!tier"}, ["b", "c"]),
        ({"labelSelector": "team in (x, y),tier notin (gold)"}, ["b", "c"]),
        ({"fieldSelector": "metadata.name=b"}, ["b"]),
        ({"fieldSelector": "metadata.name!=b"}, ["a", "c"]),
    ],
)
def test_selectors(sim: KubeSim, query: dict[str, str], names: list[str]) -> None:
    for name, labels in (("a", {"team": "x", "tier": "gold"}), ("b", {"team": "x"}), ("c", {"team": "y"})):
        sim.add("namespaces", name, labels=labels)
    _, _, body = sim.handle("GET", "/api/v1/namespaces", query)
    assert [item["metadata"]["name"] for item in body["items"]] == names


def test_workloads_are_selected_by_queue_in_the_new_version_only(queue: KubeSim) -> None:
    queue.add_local_queue("ns", "lq", "q")
    for name, gpus in (("runs", 4), ("waits", 100)):
        queue.submit_job("ns", name, "lq", gpus)
    queue.reconcile()
    query = {"fieldSelector": "status.admission.clusterQueue=q"}
    _, _, body = queue.handle("GET", "/apis/kueue.x-k8s.io/v1beta2/workloads", query)
    assert [item["metadata"]["ownerReferences"][0]["name"] for item in body["items"]] == ["runs"]
    status, _, said = queue.handle("GET", "/apis/kueue.x-k8s.io/v1beta1/workloads", query)
    assert (status, said["message"]) == (400, "field label not supported: status.admission.clusterQueue")


def test_a_watch_sees_objects_enter_and_leave_its_selection(sim: KubeSim) -> None:
    sim.add("namespaces", "n")
    watch = sim.watch(
        "/api/v1/namespaces", {"labelSelector": "team=x", "resourceVersion": str(sim.cluster.store.version)}
    )
    for labels in ({"team": "x"}, {"team": "x", "more": "y"}, {"team": None}, {"team": "x"}):
        sim.handle("PATCH", "/api/v1/namespaces/n", {}, MERGE, {"metadata": {"labels": labels}})
    sim.delete("namespaces", "n")
    assert [event["type"] for event in watch.pending()] == ["ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"]
    assert watch.pending() == []


def test_a_watch_through_the_old_version_speaks_it(queue: KubeSim) -> None:
    watch = queue.watch(OLD_QUEUES, {"allowWatchBookmarks": "true"})
    (event,) = watch.pending()
    assert (event["type"], event["object"]["spec"]["cohort"]) == ("ADDED", "pool")
    bookmark = watch.bookmark()["object"]
    assert bookmark["apiVersion"] == "kueue.x-k8s.io/v1beta1"
    assert bookmark["metadata"]["resourceVersion"] == str(queue.cluster.store.version)


def test_answers_and_arguments_are_the_callers_own(queue: KubeSim) -> None:
    _, _, body = queue.handle("GET", f"{QUEUES}/q")
    body["spec"]["resourceGroups"].clear()
    value = {"a": "b"}
    queue.handle(
        "PATCH", f"{QUEUES}/q", {}, JSON_PATCH, [{"op": "add", "path": "/metadata/annotations", "value": value}]
    )
    value["a"] = "changed"
    assert queue.nominal("q", "h100") == "8"
    assert queue.queue("q")["metadata"]["annotations"] == {"a": "b"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404), ("GET", "/api/v2/pods", 404), ("GET", f"{QUEUES}/none", 404),
        ("GET", f"{QUEUES}/q/scale", 404),
        ("POST", f"{QUEUES}/q", 405), ("PATCH", QUEUES, 405), ("DELETE", QUEUES, 405), ("POST", "/version", 404),
        ("GET", "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/clusterqueues", 404), ("GET", "/livez", 200),
    ],
)  # fmt: skip
def test_paths_and_methods_that_are_not_there(queue: KubeSim, method: str, path: str, status: int) -> None:
    assert queue.handle(method, path, {}, MERGE, {})[0] == status


class TestFaults:
    def test_a_reset_before_leaves_no_trace_and_one_after_does(self, queue: KubeSim) -> None:
        queue.faults.plan(ResetBefore(), verb="patch", resource="clusterqueues", name="q")
        with pytest.raises(NotReached):
            _patch(queue, "7")
        assert queue.nominal("q", "h100") == "8"
        queue.faults.plan(ResetAfter(), verb="patch")
        with pytest.raises(AnswerLost) as lost:
            _patch(queue, "7")
        assert (queue.nominal("q", "h100"), lost.value.answer[0]) == ("7", 200)

    def test_a_request_given_up_may_land_late_or_never(self, queue: KubeSim) -> None:
        queue.faults.plan(Hang(9), verb="patch", times=2)
        with pytest.raises(Hung) as first:
            _patch(queue, "7")
        with pytest.raises(Hung):
            _patch(queue, "6")
        queue.hand_edit("q", "h100", nominal=5)
        assert first.value.land()[0] == 200
        assert queue.nominal("q", "h100") == "7"

    def test_a_late_patch_on_an_old_version_is_dead(self, queue: KubeSim) -> None:
        version = queue.queue("q")["metadata"]["resourceVersion"]
        operations = [
            {"op": "test", "path": "/metadata/resourceVersion", "value": version},
            {"op": "add", "path": f"{QUOTA}/nominalQuota", "value": "7"},
        ]
        queue.faults.plan(Hang(9))
        with pytest.raises(Hung) as late:
            queue.handle("PATCH", f"{QUEUES}/q", {}, JSON_PATCH, operations)
        queue.annotate("q", fence="1.1")
        assert late.value.land()[0] == 422
        assert queue.nominal("q", "h100") == "8"

    @pytest.mark.parametrize(
        ("code", "reason"), [(500, "InternalError"), (503, "ServiceUnavailable"), (409, "Conflict")]
    )
    def test_errors_until_cleared(self, queue: KubeSim, code: int, reason: str) -> None:
        queue.faults.plan(Refuse(code), verb="get", times=None)
        for _ in range(3):
            status, _, body = queue.handle("GET", f"{QUEUES}/q")
            assert (status, body["reason"]) == (code, reason)
        assert queue.handle("GET", QUEUES)[0] == 200
        queue.faults.clear()
        assert queue.handle("GET", f"{QUEUES}/q")[0] == 200

    def test_too_many_requests_says_when_to_come_back(self, queue: KubeSim) -> None:
        queue.faults.plan(Refuse(429, retry_after=7), resource="clusterqueues")
        status, headers, body = queue.handle("GET", QUEUES)
        assert (status, headers["Retry-After"], body["details"]["retryAfterSeconds"]) == (429, "7", 7)


class TestAccess:
    def test_rules_are_per_verb_resource_and_name(self, queue: KubeSim) -> None:
        rules = [Rule(("get", "list"), ("clusterqueues",)), Rule(("patch",), ("clusterqueues",), ("q",))]
        queue.access.grant("token", "bot", rules)
        headers = {**JSON_PATCH, "Authorization": "Bearer token"}
        assert queue.handle("GET", QUEUES, {}, headers)[0] == 200
        assert queue.handle("PATCH", f"{QUEUES}/q", {}, headers, [])[0] == 200
        assert queue.handle("PATCH", f"{QUEUES}/other", {}, headers, [])[0] == 403
        status, _, body = queue.handle("GET", "/api/v1/namespaces/ns/pods", {"watch": "1"}, headers)
        said = 'pods is forbidden: User "bot" cannot watch resource "pods" in API group "" in the namespace "ns"'
        assert (status, body["message"]) == (403, said)

    def test_people_and_controllers_need_no_token(self, queue: KubeSim) -> None:
        queue.access.grant("token", "bot", ())
        queue.hand_edit("q", "h100", nominal=3)
        assert queue.nominal("q", "h100") == 3

    def test_a_revoked_token_is_unknown(self, queue: KubeSim) -> None:
        queue.access.grant("token", "bot")
        headers = {"Authorization": "Bearer token"}
        assert queue.handle("GET", QUEUES, {}, headers)[0] == 200
        queue.access.revoke("token")
        assert queue.handle("GET", QUEUES, {}, headers)[0] == 401
        assert queue.handle("GET", "/version", {}, {})[0] == 401


QUANTITIES = st.sampled_from(["8", 8, "8000m", "10k", "2Ti", "0.5", 0, "1500m", 100])


@settings(deadline=None)
@given(st.lists(st.tuples(QUANTITIES, QUANTITIES), min_size=1, max_size=4), st.data())
def test_a_patch_of_one_quota_keeps_every_sibling_byte_for_byte(quotas: list[Any], data: st.DataObject) -> None:
    """Whatever types and forms the siblings have, patched in one by one, the next patch leaves them as they were."""
    sim = KubeSim()
    names = [f"f{n}" for n in range(len(quotas))]
    resources = ("cpu", "nvidia.com/gpu")
    zero = [{"name": name, "nominalQuota": 0} for name in resources]
    group = {"coveredResources": list(resources), "flavors": [{"name": name, "resources": zero} for name in names]}
    sim.add("clusterqueues", "q", {"spec": {"resourceGroups": [group]}})
    for name, pair in zip(names, quotas, strict=True):
        for resource, value in zip(resources, pair, strict=True):
            sim.hand_edit("q", name, resource, nominal=value)
    name, resource = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(resources))
    before = json.loads(json.dumps(sim.queue("q")["spec"]))
    sim.hand_edit("q", name, resource, nominal="7777")
    (edited,) = [
        q
        for f in before["resourceGroups"][0]["flavors"]
        for q in f["resources"]
        if (f["name"], q["name"]) == (name, resource)
    ]
    edited["nominalQuota"] = "7777"
    assert json.dumps(sim.queue("q")["spec"]) == json.dumps(before)
