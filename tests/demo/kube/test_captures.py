"""The recorded requests again: the simulator answers as the real API server with Kueue did."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from bot.demo.kube.rbac import Rule
from bot.demo.kube.sim import KubeSim

QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
QUEUE = f"{QUEUES}/p1"
JSON_PATCH = "application/json-patch+json"
Captured = Callable[[str], list[dict[str, Any]]]

TOLERATED = {
    "merge patch: unknown field, fieldValidation=Strict": "the message quotes the whole object: times and ids differ",
    "watch from too old resourceVersion=1": "the oldest kept version is the server's own number",
}
"""Cases whose message is compared but for the part named here."""

RECORDED_LATE = {"merge patch: whole resourceGroups list + resourceVersion"}
"""The recorder changed this request's body for the next case before writing it down: sent was 22, the file says 23."""


def _send(sim: KubeSim, entry: dict[str, Any], token: str = "") -> tuple[int, dict[str, str], Any]:
    request = entry["request"]
    headers = {"Content-Type": request["contentType"], "User-Agent": "python-requests/2.32.3"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return sim.handle(request["method"], request["path"], request["query"], headers, request["body"])


class Replay:
    """Sends recorded requests; recorded resource versions and uids are exchanged for the simulator's."""

    def __init__(self, sim: KubeSim) -> None:
        self.sim = sim
        self.known: dict[str, str] = {}

    def send(self, entry: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        if entry["case"] == "json patch: test metadata.resourceVersion ok":
            recorded = entry["request"]["body"][0]["value"]
            self.known[recorded] = self.sim.queue("p1")["metadata"]["resourceVersion"]
        answer = _send(self.sim, {"request": self._translated(entry)})
        self._learn(entry["response"], answer[2])
        if entry["request"]["query"].get("watch") is None:
            self.sim.reconcile()
        return answer

    def _translated(self, entry: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(entry["request"]["body"])
        if entry["case"] in RECORDED_LATE:
            text = text.replace('"23"', '"22"')
        for recorded, own in self.known.items():
            text = text.replace(f'"{recorded}"', f'"{own}"')
        return {**entry["request"], "body": json.loads(text)}

    def _learn(self, recorded: Any, own: Any) -> None:
        if isinstance(recorded, dict) and isinstance(own, dict):
            for name in ("resourceVersion", "uid"):
                if name in recorded.get("metadata", {}) and name in own.get("metadata", {}):
                    self.known[recorded["metadata"][name]] = own["metadata"][name]


@pytest.fixture
def replayed(sim: KubeSim, captured: Captured) -> list[tuple[dict[str, Any], tuple[int, dict[str, str], Any]]]:
    """Every recorded case with the simulator's answer, in the recorded order."""
    for flavor in ("h100", "a100"):
        sim.add("resourceflavors", flavor)
    replay = Replay(sim)
    cases = captured("kueue-responses.json")
    plain = [entry for entry in cases if "request" in entry]
    answers = [(entry, replay.send(entry)) for entry in plain]
    by_case = {entry["case"]: entry for entry in cases}
    sim.access.grant("good", "nobody-bot", rules=())
    patch = {"method": "PATCH", "path": QUEUE, "query": {}, "contentType": JSON_PATCH, "body": []}
    listing: dict[str, Any] = {
        "method": "GET",
        "path": QUEUES,
        "query": {},
        "contentType": "application/json",
        "body": None,
    }
    for case, request, token in (
        ("forbidden (RBAC)", patch, "good"),
        ("forbidden list", listing, "good"),
        ("unauthorized", listing, "wrong"),
    ):
        answers.append((by_case[case], _send(sim, {"request": request}, token)))
    return answers


def test_all_62_requests_get_the_recorded_status(replayed: Any) -> None:
    assert len(replayed) == 62
    differing = [
        (entry["case"], answer[0], entry["status"]) for entry, answer in replayed if answer[0] != entry["status"]
    ]
    assert differing == []


def test_every_refusal_says_what_the_real_one_said(replayed: Any) -> None:
    refused = [(entry, answer[2]) for entry, answer in replayed if entry["status"] >= 400]
    assert len(refused) == 35
    for entry, body in refused:
        if entry["case"] not in TOLERATED:
            assert body == entry["response"], entry["case"]


def test_the_strict_refusal_differs_in_the_quoted_object_only(replayed: Any) -> None:
    case = "merge patch: unknown field, fieldValidation=Strict"
    entry, answer = next(pair for pair in replayed if pair[0]["case"] == case)
    said, recorded = answer[2], entry["response"]
    head, tail = ' "" is invalid: patch: Invalid value: "{', '}": strict decoding error: unknown field "spec.foo"'
    for body in (said, recorded):
        assert body["message"].startswith(head)
        assert body["message"].endswith(tail)
        assert '\\"spec\\":{\\"cohortName\\":\\"c\\",' in body["message"]
    assert {**said, "message": "", "details": {}} == {**recorded, "message": "", "details": {}}
    assert [cause["field"] for cause in said["details"]["causes"]] == ["patch"]


def test_every_written_or_read_object_has_the_recorded_spec(replayed: Any) -> None:
    compared = 0
    for entry, (_, _, body) in replayed:
        if entry["status"] < 300 and isinstance(entry["response"], dict) and "spec" in entry["response"]:
            assert body["spec"] == entry["response"]["spec"], entry["case"]
            assert body["apiVersion"] == entry["response"]["apiVersion"]
            assert body["metadata"]["generation"] == entry["response"]["metadata"]["generation"], entry["case"]
            compared += 1
    assert compared == 26


def test_managers_are_those_of_the_real_server(replayed: Any) -> None:
    """Manager, operation, version and subresource of each entry; the order of entries is not promised by the server."""
    compared = 0
    for entry, (_, _, body) in replayed:
        recorded = entry["response"].get("metadata", {}).get("managedFields") if "spec" in entry["response"] else None
        if recorded and entry["response"]["kind"] == "ClusterQueue":
            assert _managers(body) == _managers(entry["response"]), entry["case"]
            compared += 1
    assert compared == 22


def _managers(body: Any) -> list[tuple[str, ...]]:
    """With the fields each owns, but for the status (its entries come and go with the controller's timing)."""
    entries = body["metadata"]["managedFields"]
    return sorted(
        (entry["manager"], entry["operation"], entry["apiVersion"], json.dumps(entry["fieldsV1"], sort_keys=True))
        for entry in entries
        if "subresource" not in entry
    )


def test_warnings_are_the_recorded_ones(replayed: Any) -> None:
    for entry, (_, headers, _) in replayed:
        if "warningHeader" in entry:
            assert headers.get("Warning") == entry["warningHeader"], entry["case"]


def test_a_stopped_queue_in_a_circle_of_cohorts_shows_the_recorded_status(replayed: Any) -> None:
    entry, answer = next(pair for pair in replayed if pair[0]["case"] == "cohort cycle -> CQ status")
    said, recorded = answer[2]["status"], entry["response"]["status"]
    for condition in (*said["conditions"], *recorded["conditions"]):
        del condition["lastTransitionTime"]
    assert said == recorded


def test_a_watch_from_long_ago_is_one_error_event(replayed: Any) -> None:
    entry, answer = next(pair for pair in replayed if pair[0]["case"] == "watch from too old resourceVersion=1")
    recorded = entry["response"]
    (event,) = answer[2]
    assert event["type"] == recorded["type"] == "ERROR"
    assert event["object"]["message"].startswith("too old resource version: 1 (")
    assert {**event["object"], "message": ""} == {**recorded["object"], "message": ""}


VISIBLE = "/apis/visibility.kueue.x-k8s.io/v1beta2"
RAISE = [{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": "2"}]
JOB = {"metadata": {"name": "j"}, "spec": {"template": {"spec": {"containers": []}}}}
POD = {"metadata": {"name": "p"}, "spec": {"containers": []}}
OLD = "/apis/kueue.x-k8s.io/v1beta1/clusterqueues"
WHILE_DOWN = {
    "PATCH CQ while Kueue down": ("PATCH", f"{QUEUES}/down1", {}, RAISE),
    "PATCH CQ dryRun while Kueue down": ("PATCH", f"{QUEUES}/down1", {"dryRun": "All"}, RAISE),
    "GET CQ v1beta2 while down": ("GET", f"{QUEUES}/down1", {}, None),
    "GET CQ v1beta1 (conversion) while down": ("GET", f"{OLD}/down1", {}, None),
    "LIST CQ v1beta1 while down": ("GET", OLD, {}, None),
    "create Job while down": ("POST", "/apis/batch/v1/namespaces/team-a/jobs", {}, JOB),
    "create plain pod without queue label while down": ("POST", "/api/v1/namespaces/team-a/pods", {}, POD),
    "visibility API while down": ("GET", f"{VISIBLE}/clusterqueues/down1/pendingworkloads", {}, None),
    "api discovery while down (/apis)": ("GET", "/apis", {}, None),
}
BEFORE = {
    "visibility: pendingworkloads of CQ": f"{VISIBLE}/clusterqueues/down1/pendingworkloads",
    "visibility: pendingworkloads of LQ": f"{VISIBLE}/namespaces/team-a/localqueues/lq/pendingworkloads",
    "visibility: unknown CQ": f"{VISIBLE}/clusterqueues/nope/pendingworkloads",
}


@pytest.fixture
def down(sim: KubeSim) -> KubeSim:
    sim.add_cluster_queue("down1", {"h100": 1}, cohort="c")
    sim.add_local_queue("team-a", "lq", "down1")
    sim.reconcile()
    return sim


@pytest.mark.parametrize("case", BEFORE)
def test_visibility_answers_as_recorded(down: KubeSim, captured: Captured, case: str) -> None:
    entry = next(entry for entry in captured("kueue-down-responses.json") if entry["case"] == case)
    status, _, body = down.handle("GET", BEFORE[case])
    assert (status, body) == (entry["status"], entry["response"])


@pytest.mark.parametrize("case", WHILE_DOWN)
def test_answers_while_kueue_is_down_are_the_recorded_ones(down: KubeSim, captured: Captured, case: str) -> None:
    entry = next(entry for entry in captured("kueue-down-responses.json") if entry["case"] == case)
    method, path, query, body = WHILE_DOWN[case]
    down.kueue_up = False
    status, _, answer = down.handle(method, path, query, {"Content-Type": JSON_PATCH if body is RAISE else ""}, body)
    assert status == entry["status"]
    if status >= 400:
        assert answer == entry["response"]
    else:
        assert answer["kind"] == entry["response"]["kind"]


def test_both_files_are_covered(captured: Captured) -> None:
    assert {entry["case"] for entry in captured("kueue-down-responses.json")} == WHILE_DOWN.keys() | BEFORE.keys()
    assert TOLERATED.keys() | RECORDED_LATE <= {entry["case"] for entry in captured("kueue-responses.json")}


def test_kueue_back_again_takes_writes(down: KubeSim) -> None:
    down.kueue_up = False
    assert down.handle("PATCH", f"{QUEUES}/down1", {}, {"Content-Type": JSON_PATCH}, RAISE)[0] == 500
    down.kueue_up = True
    assert down.handle("PATCH", f"{QUEUES}/down1", {}, {"Content-Type": JSON_PATCH}, RAISE)[0] == 200
    assert down.nominal("down1", "h100") == "2"


def test_a_name_nobody_may_touch_is_refused_before_it_is_looked_for(sim: KubeSim) -> None:
    sim.access.grant("t", "bot", [Rule(("get",), ("clusterqueues",))])
    assert sim.handle("DELETE", f"{QUEUES}/nope", {}, {"Authorization": "Bearer t"})[0] == 403
