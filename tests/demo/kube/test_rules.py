"""Every rule that refuses a quota write, one break each; and the shapes that real clusters have, which must load."""

from typing import Any

import pytest

from bot.demo.kube.sim import KubeSim

QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
COHORTS = "/apis/kueue.x-k8s.io/v1beta2/cohorts"
GPU = "nvidia.com/gpu"
DENIED = 'admission webhook "vclusterqueue.kb.io" denied the request: '
AT = "spec.resourceGroups[0].flavors[0].resources[0]"


def _group(name: str = "h100", resource: str = GPU, **quota: Any) -> dict[str, Any]:
    quota = {"nominalQuota": 8, **quota}
    return {"coveredResources": [resource], "flavors": [{"name": name, "resources": [{"name": resource, **quota}]}]}


def _spec(*groups: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"resourceGroups": list(groups) or [_group()], **fields}


def _create(sim: KubeSim, spec: dict[str, Any], path: str = QUEUES, **query: str) -> tuple[int, str]:
    kind = {"clusterqueues": "ClusterQueue", "cohorts": "Cohort"}[path.rsplit("/", 1)[1]]
    obj = {"apiVersion": "/".join(path.split("/")[2:4]), "kind": kind, "metadata": {"name": "q"}, "spec": spec}
    status, _, body = sim.handle("POST", path, query, {}, obj)
    return status, body.get("message", "")


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "R1 borrowing alone": (_spec(_group(borrowingLimit=1)), 422, "borrowingLimit must be nil when cohort is empty"),
    "R2 fewer resources than covered": (
        _spec({**_group(), "coveredResources": ["cpu", GPU]}),
        422,
        "flavors must have the same number of resources as the coveredResources",
    ),
    "R3 borrow within cohort without reclaim": (
        _spec(preemption={"borrowWithinCohort": {"policy": "LowerPriority"}}),
        422,
        "spec.preemption: Invalid value: reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
    ),
    "R4 preference without trying on": (
        _spec(flavorFungibility={"preference": "BorrowingOverPreemption"}),
        422,
        "spec.flavorFungibility: Invalid value: preference can only be set",
    ),
    "R5 too many groups": (
        _spec(*[_group(f"f{n}", f"r{n}") for n in range(17)]),
        422,
        "spec.resourceGroups: Too many: 17: must have at most 16 items",
    ),
    "R5 a flavor twice in a group": (
        _spec({**_group(), "flavors": _group()["flavors"] * 2}),
        422,
        'spec.resourceGroups[0].flavors[1]: Duplicate value: {"name":"h100"}',
    ),
    "R5 no flavors": (_spec({**_group(), "flavors": []}), 422, "should have at least 1 items"),
    "R5 not a name": (_spec(_group("H100")), 422, "spec.resourceGroups[0].flavors[0].name in body should match"),
    "R6 words": (_spec(_group(nominalQuota="8 GPUs")), 400, "quantities must match the regular expression"),
    "R6 a truth value": (_spec(_group(nominalQuota=True)), 400, "quantities must match the regular expression"),
    "R7 below zero": (
        _spec(_group(nominalQuota=-1)),
        403,
        f'{DENIED}{AT}.nominalQuota: Invalid value: "-1": must be greater than or equal to 0',
    ),
    "R7 a limit below zero": (
        _spec(_group(lendingLimit="-2"), cohortName="c"),
        403,
        f'{DENIED}{AT}.lendingLimit: Invalid value: "-2": must be greater than or equal to 0',
    ),
    "R8 lending alone": (
        _spec(_group(lendingLimit=1)),
        403,
        f'{DENIED}{AT}.lendingLimit: Invalid value: "1": must be nil when cohort is empty',
    ),
    "R9 lending more than nominal": (
        _spec(_group(lendingLimit="9k"), cohortName="c"),
        403,
        f'{DENIED}{AT}.lendingLimit: Invalid value: "9k": must be less than or equal to the nominalQuota',
    ),
    "R11 a resource in two groups": (
        _spec(_group(), _group("a100")),
        403,
        f'{DENIED}spec.resourceGroups[1].coveredResources[0]: Duplicate value: "{GPU}"',
    ),
    "R13 a weight too small to count": (
        _spec(fairSharing={"weight": "1n"}),
        403,
        "must be either 0, or greater than 10^-9",
    ),
    "R14 a check on an unlisted flavor": (
        _spec(admissionChecksStrategy={"admissionChecks": [{"name": "c", "onFlavors": ["a100"]}]}),
        403,
        "onFlavors[0]: Invalid value",
    ),
    "a wrong type": (_spec(stopPolicy=3), 422, 'spec.stopPolicy in body must be of type string: "integer"'),
    "not an enum value": (_spec(queueingStrategy="LIFO"), 422, 'supported values: "StrictFIFO", "BestEffortFIFO"'),
}


@pytest.mark.parametrize("rule", REFUSED)
def test_a_broken_rule_refuses_the_queue(sim: KubeSim, rule: str) -> None:
    spec, status, message = REFUSED[rule]
    before = sim.cluster.store.version
    got, said = _create(sim, spec)
    assert (got, message in said) == (status, True), said
    assert sim.cluster.store.version == before


@pytest.mark.parametrize("rule", REFUSED)
def test_a_dry_run_finds_the_same_fault(sim: KubeSim, rule: str) -> None:
    assert _create(sim, REFUSED[rule][0], dryRun="All") == _create(sim, REFUSED[rule][0])


@pytest.mark.parametrize("rule", [rule for rule in REFUSED if not rule.startswith("R6")])
def test_an_update_is_held_to_the_same_rules(sim: KubeSim, rule: str) -> None:
    spec, status, _ = REFUSED[rule]
    sim.add("clusterqueues", "q", {"spec": _spec()})
    headers = {"Content-Type": "application/merge-patch+json"}
    assert sim.handle("PATCH", f"{QUEUES}/q", {}, headers, {"spec": spec})[0] == status


def test_words_for_a_number_are_the_schemas_business_on_update(sim: KubeSim) -> None:
    """The webhook that decodes quantities runs on create only: the same fault is 400 there and 422 here."""
    sim.add("clusterqueues", "q", {"spec": _spec()})
    patch = [{"op": "add", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": "eight"}]
    status, _, body = sim.handle("PATCH", f"{QUEUES}/q", {}, {"Content-Type": "application/json-patch+json"}, patch)
    assert status == 422
    assert f'{AT}.nominalQuota: Invalid value: "eight"' in body["message"]


def test_a_queue_may_drop_its_cohort_only_without_limits(sim: KubeSim) -> None:
    sim.add_cluster_queue("q", {"h100": {"nominal": 8, "borrowing": 2}}, cohort="c")
    headers = {"Content-Type": "application/merge-patch+json"}
    assert sim.handle("PATCH", f"{QUEUES}/q", {}, headers, {"spec": {"cohortName": None}})[0] == 422
    sim.hand_edit("q", "h100", borrowing=None)
    assert sim.handle("PATCH", f"{QUEUES}/q", {}, headers, {"spec": {"cohortName": None}})[0] == 200


def test_a_cohort_may_lend_more_than_it_has(sim: KubeSim) -> None:
    """Unlike a ClusterQueue; and its quantities keep their type, there being no webhook that rewrites them."""
    assert _create(sim, _spec(_group(lendingLimit=9), parentName="root"), COHORTS)[0] == 201
    stored = sim.cluster.get("cohorts", "", "q")
    assert stored is not None
    assert stored["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0] == {
        "name": GPU, "nominalQuota": 8, "lendingLimit": 9,
    }  # fmt: skip


def test_concurrent_admission_is_immutable_and_lost_through_the_old_version(sim: KubeSim) -> None:
    sim.add("clusterqueues", "q", {"spec": _spec(concurrentAdmissionPolicy={"migration": {"mode": "x"}})})
    headers = {"Content-Type": "application/json-patch+json"}
    patch = [{"op": "add", "path": "/spec/stopPolicy", "value": "Hold"}]
    status, _, body = sim.handle("PATCH", f"{QUEUES.replace('v1beta2', 'v1beta1')}/q", {}, headers, patch)
    assert (status, "concurrentAdmissionPolicy" in body["message"]) == (403, True)
    assert sim.handle("PATCH", f"{QUEUES}/q", {}, headers, patch)[0] == 200


def test_a_local_queue_never_changes_its_cluster_queue(sim: KubeSim) -> None:
    sim.add_local_queue("ns", "lq", "q")
    body = {"spec": {"clusterQueue": "other"}}
    headers = {"Content-Type": "application/merge-patch+json"}
    status, _, refused = sim.handle("PATCH", sim.path("localqueues", "ns", "lq"), {}, headers, body)
    assert (status, "field is immutable" in refused["message"]) == (422, True)


SHAPES: dict[str, tuple[dict[str, Any], list[list[Any]]]] = {
    "no cohort": (_spec(_group(nominalQuota="8")), [["8"]]),
    "a number": (_spec(_group(nominalQuota=8)), [["8"]]),
    "half a GPU": (_spec(_group(nominalQuota="0.5")), [["500m"]]),
    "thousands and tebibytes": (
        _spec(_group("f", "github.com/fuse", nominalQuota="10k"), _group("g", "memory", nominalQuota="2Ti")),
        [["10k"], ["2Ti"]],
    ),
    "several groups and flavors": (
        _spec(
            {
                "coveredResources": ["cpu", GPU],
                "flavors": [
                    {
                        "name": name,
                        "resources": [{"name": "cpu", "nominalQuota": "1500m"}, {"name": GPU, "nominalQuota": 0}],
                    }
                    for name in ("gpu-a40", "gpu-a100")
                ],
            },
            _group("pods", "pods", nominalQuota=100),
        ),
        [["1500m", "0", "1500m", "0"], ["100"]],
    ),
    "a slice of a GPU": (_spec(_group("a100-mig", "nvidia.com/mig-1g.5gb", nominalQuota="7")), [["7"]]),
}


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_shapes_of_real_queues_load_in_both_versions(sim: KubeSim, shape: str, version: str) -> None:
    spec, expected = SHAPES[shape]
    path = f"/apis/kueue.x-k8s.io/{version}/clusterqueues"
    cohort = {} if shape == "no cohort" else {"cohort" if version == "v1beta1" else "cohortName": "c"}
    assert _create(sim, {**spec, **cohort}, path, fieldValidation="Strict")[0] == 201
    _, _, read = sim.handle("GET", f"{path}/q")
    groups = read["spec"]["resourceGroups"]
    written = [[q["nominalQuota"] for f in group["flavors"] for q in f["resources"]] for group in groups]
    assert written == expected
    assert sim.queue("q")["spec"].get("cohortName") == cohort.get("cohort", cohort.get("cohortName"))


def test_versions_differ_in_the_names_they_know(sim: KubeSim) -> None:
    old = _spec(cohort="c", admissionChecks=["check"], flavorFungibility={"whenCanBorrow": "Borrow"})
    path = QUEUES.replace("v1beta2", "v1beta1")
    assert _create(sim, old, path, fieldValidation="Strict")[0] == 201
    spec = sim.queue("q")["spec"]
    assert spec["admissionChecksStrategy"] == {"admissionChecks": [{"name": "check"}]}
    assert spec["flavorFungibility"]["whenCanBorrow"] == "MayStopSearch"
    assert _create(sim, old, QUEUES, fieldValidation="Strict")[0] == 400
