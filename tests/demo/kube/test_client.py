"""The real Kubernetes client, unchanged, against the simulator over HTTP; and what only raw HTTP shows."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException

from bot.demo.kube.faults import Hang, Refuse, ResetAfter, ResetBefore
from bot.demo.kube.rbac import Rule
from bot.demo.kube.server import KubeServer
from bot.demo.kube.sim import KubeSim

GROUP, VERSION, PLURAL = "kueue.x-k8s.io", "v1beta2", "clusterqueues"
JSON_PATCH = "application/json-patch+json"
connect: Any = config.new_client_from_config
Watch: Any = watch.Watch
NOMINAL = "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"


@pytest.fixture
def server(sim: KubeSim) -> Iterator[KubeServer]:
    for name in ("team-a", "team-b", "team-c"):
        sim.add_cluster_queue(name, {"h100": 8}, cohort="pool")
    with KubeServer(sim) as running:
        yield running


@pytest.fixture
def connected(server: KubeServer, tmp_path: Path) -> Iterator[Any]:
    """A client configured from the kubeconfig the server writes."""
    with connect(str(server.kubeconfig(tmp_path / "config", token="t"))) as made:
        yield made


@pytest.fixture
def queues(connected: Any) -> Any:
    return client.CustomObjectsApi(connected)


def _patch(queues: Any, name: str, operations: list[dict[str, Any]], **options: Any) -> Any:
    return queues.patch_cluster_custom_object(
        GROUP, VERSION, PLURAL, name, operations, _content_type=JSON_PATCH, _request_timeout=5, **options
    )


def test_it_lists_and_patches_with_tests(queues: Any, sim: KubeSim) -> None:
    listed = queues.list_cluster_custom_object(GROUP, VERSION, PLURAL)
    assert [item["metadata"]["name"] for item in listed["items"]] == ["team-a", "team-b", "team-c"]
    version = listed["items"][0]["metadata"]["resourceVersion"]
    operations = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": version},
        {"op": "add", "path": NOMINAL, "value": "6"},
    ]
    patched = _patch(queues, "team-a", operations, field_validation="Strict", field_manager="quota-bot")
    assert patched["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] == "6"
    assert sim.history[-1].manager == "quota-bot"
    with pytest.raises(ApiException) as refused:
        _patch(queues, "team-a", operations)
    assert refused.value.status == 422
    assert "the server rejected our request" in str(refused.value.body)


def test_a_list_sent_as_the_client_sends_it_by_default_is_a_bad_merge_patch(queues: Any) -> None:
    """The trap of the client: without a content type a list goes out as a merge patch."""
    with pytest.raises(ApiException) as refused:
        queues.patch_cluster_custom_object(GROUP, VERSION, PLURAL, "team-a", [{"op": "remove", "path": "/spec"}])
    assert refused.value.status == 400


def test_a_stale_replace_is_a_conflict(queues: Any) -> None:
    body = queues.get_cluster_custom_object(GROUP, VERSION, PLURAL, "team-a")
    _patch(queues, "team-a", [{"op": "add", "path": NOMINAL, "value": "7"}])
    with pytest.raises(ApiException) as refused:
        queues.replace_cluster_custom_object(GROUP, VERSION, PLURAL, "team-a", body)
    assert (refused.value.status, json.loads(str(refused.value.body))["reason"]) == (409, "Conflict")


def test_a_list_comes_in_pages_of_one_moment(queues: Any) -> None:
    first = queues.list_cluster_custom_object(GROUP, VERSION, PLURAL, limit=2)
    assert first["metadata"]["remainingItemCount"] == 1
    _patch(queues, "team-c", [{"op": "add", "path": NOMINAL, "value": "1"}])
    token = first["metadata"]["continue"]
    rest = queues.list_cluster_custom_object(GROUP, VERSION, PLURAL, limit=2, _continue=token)
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert "continue" not in rest["metadata"]
    (last,) = rest["items"]
    assert last["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] == "8"


def test_a_page_asked_for_too_late_is_gone(queues: Any, sim: KubeSim) -> None:
    token = queues.list_cluster_custom_object(GROUP, VERSION, PLURAL, limit=1)["metadata"]["continue"]
    sim.annotate("team-a", note="later")
    sim.compact()
    with pytest.raises(ApiException) as gone:
        queues.list_cluster_custom_object(GROUP, VERSION, PLURAL, limit=1, _continue=token)
    assert gone.value.status == 410
    inconsistent = json.loads(str(gone.value.body))["metadata"]["continue"]
    rest = queues.list_cluster_custom_object(GROUP, VERSION, PLURAL, _continue=inconsistent)
    assert [item["metadata"]["name"] for item in rest["items"]] == ["team-b", "team-c"]


def _events(queues: Any, version: str, **options: Any) -> Iterator[Any]:
    arguments = (queues.list_cluster_custom_object, GROUP, VERSION, PLURAL)
    yield from Watch().stream(*arguments, resource_version=version, timeout_seconds=1, **options)


def test_a_watch_streams_changes_and_bookmarks(queues: Any, sim: KubeSim) -> None:
    version = queues.list_cluster_custom_object(GROUP, VERSION, PLURAL)["metadata"]["resourceVersion"]
    sim.hand_edit("team-a", "h100", nominal=5)
    seen: list[Any] = []
    for event in _events(queues, version, allow_watch_bookmarks=True):
        if not seen:
            sim.hand_edit("team-b", "h100", nominal=4)
            sim.bookmark()
        seen.append((event["type"], event["object"]["metadata"].get("name")))
    assert seen[:2] == [("MODIFIED", "team-a"), ("MODIFIED", "team-b")]
    assert ("BOOKMARK", None) in seen


def test_a_watch_without_bookmarks_gets_none(queues: Any, sim: KubeSim) -> None:
    assert list(_events(queues, str(sim.cluster.store.version))) == []


def test_a_watch_from_nowhere_starts_with_what_is_there(queues: Any) -> None:
    arguments = (queues.list_cluster_custom_object, GROUP, VERSION, PLURAL)
    events = list(Watch().stream(*arguments, timeout_seconds=1))
    assert [event["type"] for event in events] == ["ADDED"] * 3


@pytest.mark.parametrize("as_http", [False, True])
def test_a_watch_from_too_long_ago_raises_410_either_way(queues: Any, sim: KubeSim, as_http: bool) -> None:
    sim.gone_as_http = as_http
    sim.compact()
    with pytest.raises(ApiException) as gone:
        list(_events(queues, "1"))
    assert gone.value.status == 410


@contextmanager
def _raw_watch(server: KubeServer, query: str) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    connection.request("GET", f"/apis/{GROUP}/{VERSION}/{PLURAL}{query}")
    with closing(connection), connection.getresponse() as response:
        yield response


def test_an_open_watch_is_told_when_its_past_is_gone(server: KubeServer, sim: KubeSim) -> None:
    with _raw_watch(server, f"?watch=1&resourceVersion={sim.cluster.store.version}") as stream:
        with sim.changed:
            sim.cluster.store.compacted = sim.cluster.store.version + 1
            sim.changed.notify_all()
        assert json.loads(stream.readline())["object"]["code"] == 410
        assert stream.readline() == b""


def test_closing_the_server_ends_open_watches(sim: KubeSim) -> None:
    with KubeServer(sim) as server, _raw_watch(server, "?watch=true") as stream:
        server.close()
        assert stream.readline() == b""


def test_core_lists_carry_no_kind_in_their_items(connected: Any, sim: KubeSim) -> None:
    sim.add_local_queue("team-a", "lq", "team-a")
    sim.submit_job("team-a", "j", "lq", 2)
    sim.reconcile()
    core: Any = client.CoreV1Api(connected)
    assert [item.metadata.name for item in core.list_namespace().items] == ["team-a"]
    (pod,) = core.list_namespaced_pod("team-a").items
    assert pod.status.phase == "Running"
    raw = json.loads(core.list_namespaced_pod("team-a", _preload_content=False).data)
    assert "kind" not in raw["items"][0]
    assert {event.reason for event in core.list_event_for_all_namespaces().items} >= {"Admitted", "QuotaReserved"}


def test_discovery_through_the_client(connected: Any) -> None:
    groups = {group.name: group for group in client.ApisApi(connected).get_api_versions().groups}
    assert [version.version for version in groups["kueue.x-k8s.io"].versions] == ["v1beta2", "v1beta1"]
    assert [version.version for version in groups["batch"].versions] == ["v1"]
    assert client.VersionApi(connected).get_code().git_version == "v1.36.2"


def test_a_token_that_may_not_is_refused_in_words(queues: Any, sim: KubeSim) -> None:
    sim.access.grant("t", "system:serviceaccount:bots:quota-bot", [Rule(("get", "list", "watch"), (PLURAL,))])
    with pytest.raises(ApiException) as refused:
        _patch(queues, "team-a", [{"op": "add", "path": NOMINAL, "value": "7"}])
    assert refused.value.status == 403
    said = json.loads(str(refused.value.body))["message"]
    assert 'cannot patch resource "clusterqueues" in API group "kueue.x-k8s.io"' in said


def test_an_answer_lost_after_the_patch_landed(queues: Any, sim: KubeSim) -> None:
    sim.faults.plan(ResetAfter(), verb="patch")
    with pytest.raises(Exception, match=r"(?i)reset|aborted|closed"):
        _patch(queues, "team-a", [{"op": "add", "path": NOMINAL, "value": "7"}])
    assert sim.nominal("team-a", "h100") == "7"


def test_a_reset_before_the_patch_leaves_the_queue_alone(queues: Any, sim: KubeSim) -> None:
    sim.faults.plan(ResetBefore(), verb="patch")
    with pytest.raises(Exception, match=r"(?i)reset|aborted|closed"):
        _patch(queues, "team-a", [{"op": "add", "path": NOMINAL, "value": "7"}])
    assert sim.nominal("team-a", "h100") == "8"


@pytest.mark.parametrize("code", [409, 500, 503])
def test_a_planned_error_comes_through_the_client(queues: Any, sim: KubeSim, code: int) -> None:
    sim.faults.plan(Refuse(code), verb="get", resource=PLURAL, name="team-a")
    with pytest.raises(ApiException) as refused:
        queues.get_cluster_custom_object(GROUP, VERSION, PLURAL, "team-a")
    assert refused.value.status == code
    assert queues.get_cluster_custom_object(GROUP, VERSION, PLURAL, "team-a")["kind"] == "ClusterQueue"


def test_a_patch_nobody_waits_for_lands_later(queues: Any, sim: KubeSim) -> None:
    sim.faults.plan(Hang(0.3), verb="patch")
    landed = threading.Event()

    def wait() -> None:
        with sim.changed:
            if sim.changed.wait_for(lambda: sim.nominal("team-a", "h100") == "7", timeout=10):
                landed.set()

    waiter = threading.Thread(target=wait)
    waiter.start()
    with pytest.raises(Exception, match=r"(?i)timed out"):
        queues.patch_cluster_custom_object(
            GROUP, VERSION, PLURAL, "team-a", [{"op": "add", "path": NOMINAL, "value": "7"}],
            _content_type=JSON_PATCH, _request_timeout=0.1,
        )  # fmt: skip
    waiter.join()
    assert landed.is_set()


def test_the_controllers_can_work_after_each_write(sim: KubeSim, tmp_path: Path) -> None:
    with KubeServer(sim, reconcile=True) as server:
        sim.add_cluster_queue("team-a", {"h100": 8})
        made = connect(str(server.kubeconfig(tmp_path / "config")))
        queues: Any = client.CustomObjectsApi(made)
        _patch(queues, "team-a", [{"op": "add", "path": NOMINAL, "value": "7"}])
        seen = queues.get_cluster_custom_object(GROUP, VERSION, PLURAL, "team-a")
        made.close()
    (active,) = seen["status"]["conditions"]
    assert active["observedGeneration"] == seen["metadata"]["generation"] == 2


def _raw(server: KubeServer, method: str, path: str, body: bytes, content_type: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    connection.request(method, path, body, {"Content-Type": content_type, "User-Agent": "kubectl/v1.36"})
    response = connection.getresponse()
    text = response.read()
    connection.close()
    is_json = response.headers["Content-Type"] == "application/json"
    return response.status, json.loads(text) if is_json else text.decode()


def test_raw_http_speaks_yaml_for_apply_only(server: KubeServer) -> None:
    path = f"/apis/{GROUP}/{VERSION}/{PLURAL}/team-a"
    applied = b"apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nspec: {stopPolicy: Hold}\n"
    query = "?fieldManager=me&force=true"
    status, body = _raw(server, "PATCH", path + query, applied, "application/apply-patch+yaml")
    assert (status, body["spec"]["stopPolicy"]) == (200, "Hold")
    status, body = _raw(server, "PATCH", path, b"{not json", "application/merge-patch+json")
    assert (status, body["reason"]) == (400, "BadRequest")
    assert _raw(server, "GET", "/apis/none.example/v1/things", b"", "")[:2] == (404, "404 page not found\n")
    assert _raw(server, "GET", "/readyz", b"", "") == (200, "ok")


def test_it_listens_on_loopback_only(server: KubeServer) -> None:
    host, _, port = server.url.removeprefix("http://").partition(":")
    assert host == "127.0.0.1"
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        assert connection.getpeername()[0] == "127.0.0.1"
