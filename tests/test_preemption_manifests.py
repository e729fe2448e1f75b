"""policies/kubernetes fits the schemas of Kubernetes and of Kueue, fits together, and fits policies/teams.yaml.

Kubernetes' own OpenAPI is where the official client has it: its models are made from it. Kueue's CRDs are those that
its release ships, where a control plane is built (scripts/control-plane.sh); tests/cluster lets real servers judge.
"""

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from kubernetes import client

from bot.demo.kube.kinds import KUEUE
from bot.demo.kube.quantity import parse
from tests.cluster.programs import LINES, is_built, programs
from tests.support.shipped import FOLDERS, KUBERNETES, ROOT, Obj, objects, the

GPU = "nvidia.com/gpu"
_SCALARS = {"str": str, "int": int, "bool": bool, "object": object, "float": (int, float)}


def _wrong(value: Any, kind: str, path: str) -> Iterator[str]:
    """What one of the client's types does not take: an unknown field, a wrong type."""
    if kind.startswith("List["):
        if not isinstance(value, list):
            yield f"{path} is no list"
            return
        for index, item in enumerate(value):
            yield from _wrong(item, kind[5:-1], f"{path}[{index}]")
    elif kind.startswith("Dict["):
        for key, item in value.items():
            yield from _wrong(item, kind[5:-1].split(", ")[1], f"{path}.{key}")
    elif kind in _SCALARS:
        if not isinstance(value, _SCALARS[kind]) or (kind == "int" and isinstance(value, bool)):
            yield f"{path} is no {kind}"
    elif not kind.startswith("datetime"):
        yield from _wrong_fields(value, getattr(client, kind), path)


def _wrong_fields(value: Any, model: Any, path: str) -> Iterator[str]:
    attributes = {json: python for python, json in model.attribute_map.items()}
    for key, item in value.items():
        if key not in attributes:
            yield f"{path} knows no {key}"
        else:
            yield from _wrong(item, model.openapi_types[attributes[key]], f"{path}.{key}")


def _model(obj: Obj) -> str:
    """V1Job of batch/v1."""
    return obj["apiVersion"].rpartition("/")[2].capitalize() + obj["kind"]


def _core(folder: str) -> list[Obj]:
    return [obj for obj in objects(folder) if not obj["apiVersion"].startswith(KUEUE)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_kubernetes_schema_takes_every_object(folder: str) -> None:
    assert _core(folder)
    assert [fault for obj in _core(folder) for fault in _wrong(obj, _model(obj), obj["metadata"]["name"])] == []


@pytest.mark.parametrize(
    ("kind", "path", "value", "said"),
    [
        ("ResourceQuota", ("spec", "hart"), {}, "gpu.spec knows no hart"),
        ("PriorityClass", ("value",), "1000", "training.value is no int"),
        ("ValidatingAdmissionPolicyBinding", ("spec", "validationActions"), "Warn", "validationActions is no list"),
    ],
)
def test_the_schema_check_bites(kind: str, path: tuple[str, ...], value: Any, said: str) -> None:
    obj = next(one for one in objects("base") if one["kind"] == kind and one["metadata"]["name"] != "gpu-stack")
    obj["metadata"]["name"] = "training" if kind == "PriorityClass" else "gpu"
    inner = obj
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert said in "\n".join(_wrong(obj, _model(obj), obj["metadata"]["name"]))


def _strict(schema: Any) -> Any:
    """A structural schema as JSON schema that refuses what the API server would prune."""
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    new = {key: _strict(value) for key, value in schema.items() if key != "x-kubernetes-validations"}
    if new.get("x-kubernetes-int-or-string"):
        new.pop("type", None)
    if isinstance(new.get("properties"), dict) and "additionalProperties" not in new:
        new["additionalProperties"] = bool(new.get("x-kubernetes-preserve-unknown-fields"))
    return new


def _crds(line: str) -> dict[tuple[str, str], Any]:
    """(kind, version) -> the schema of the CRD that Kueue ships."""
    found = {}
    for path in (programs(line).components / "crd/bases").glob("*.yaml"):
        crd = yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        for version in crd["spec"]["versions"]:
            schema = _strict(version["schema"]["openAPIV3Schema"])
            schema["properties"]["metadata"] = {"type": "object"}
            found[crd["spec"]["names"]["kind"], version["name"]] = schema
    return found


@pytest.mark.parametrize("line", LINES)
def test_kueues_own_schemas_take_every_object_of_theirs(line: str) -> None:
    if not is_built(line):
        pytest.skip(f"the control plane of {line} is not built")
    crds = _crds(line)
    newest = "base" if ("ClusterQueue", "v1beta2") in crds else "v1beta1"
    theirs = [obj for obj in objects(newest) if obj["apiVersion"].startswith(KUEUE)]
    assert {obj["kind"] for obj in theirs} == {"ResourceFlavor", "ClusterQueue", "LocalQueue", "WorkloadPriorityClass"}
    faults = []
    for obj in theirs:
        schema = crds[obj["kind"], obj["apiVersion"].rpartition("/")[2]]
        assert list(Draft202012Validator(schema).iter_errors({**obj, "speck": {}})), "nothing is checked"
        faults += [f"{obj['metadata']['name']}: {one.message}" for one in Draft202012Validator(schema).iter_errors(obj)]
    assert faults == []


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine")
@pytest.mark.parametrize("folder", FOLDERS)
def test_kubectl_reads_the_folders_as_the_tests_do(folder: str) -> None:
    done = subprocess.run(
        ["kubectl", "kustomize", KUBERNETES / folder], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    built = [obj for obj in yaml.safe_load_all(done.stdout) if obj]
    assert sorted(map(str, map(_sorted, built))) == sorted(map(str, map(_sorted, objects(folder))))


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value


def _of(kind: str, folder: str = "base") -> dict[str, Obj]:
    return {obj["metadata"]["name"]: obj for obj in objects(folder) if obj["kind"] == kind}


def test_every_team_of_the_example_policy_has_its_queue_its_namespace_and_a_local_queue_there() -> None:
    teams = yaml.safe_load((ROOT / "policies/teams.yaml").read_text())["teams"]
    queues, namespaces = _of("ClusterQueue"), _of("Namespace")
    local = {
        (one["metadata"]["namespace"], one["spec"]["clusterQueue"])
        for one in objects("base")
        if one["kind"] == "LocalQueue"
    }
    for team in teams.values():
        for queue in team["queues"]:
            selected = queues[queue]["spec"]["namespaceSelector"]["matchLabels"]
            for namespace in team["namespaces"]:
                assert selected.items() <= namespaces[namespace]["metadata"]["labels"].items()
                assert (namespace, queue) in local
    assert local == {(one["metadata"]["namespace"], one["spec"]["clusterQueue"]) for one in _local_in(namespaces)}


def _local_in(namespaces: dict[str, Obj]) -> list[Obj]:
    found = [one for one in objects("base") if one["kind"] == "LocalQueue"]
    return [one for one in found if one["metadata"]["namespace"] in namespaces]


def test_priorities_are_the_same_for_kueue_and_kube_scheduler_and_far_below_the_systems() -> None:
    kueues, pods = _of("WorkloadPriorityClass"), _of("PriorityClass")
    assert {name: one["value"] for name, one in kueues.items()} == {
        name: one["value"] for name, one in pods.items() if name != "gpu-stack"
    }
    assert max(one["value"] for one in pods.values()) * 100 < 2_000_000_000
    assert {name for name, one in pods.items() if one.get("preemptionPolicy") != "Never"} == {"inference"}


def _gpu_quotas(queue: Obj) -> dict[str, Obj]:
    (group,) = queue["spec"]["resourceGroups"]
    return {flavor["name"]: flavor["resources"][0] for flavor in group["flavors"]}


def test_a_quota_of_a_namespace_is_the_most_that_its_queue_can_ever_use() -> None:
    """Its own, what it may borrow, and what others lend where no limit is set. Else it would refuse admitted work."""
    queues = _of("ClusterQueue")
    lendable = {
        (name, flavor): parse(quota.get("lendingLimit", quota["nominalQuota"]))
        for name, queue in queues.items()
        for flavor, quota in _gpu_quotas(queue).items()
    }
    for local in (one for one in objects("base") if one["kind"] == "LocalQueue"):
        name = local["spec"]["clusterQueue"]
        most = 0
        for flavor, quota in _gpu_quotas(queues[name]).items():
            others = sum(number for (other, of), number in lendable.items() if of == flavor and other != name)
            most += parse(quota["nominalQuota"]) + min(others, parse(quota.get("borrowingLimit", others)))
        (gpu,) = (
            one["spec"]["hard"]
            for one in objects("base")
            if (one["kind"], one["metadata"]["name"]) == ("ResourceQuota", "gpu")
            and one["metadata"]["namespace"] == local["metadata"]["namespace"]
        )
        assert gpu.keys() == {f"requests.{GPU}"}, "Kubernetes counts no other key"
        assert parse(gpu[f"requests.{GPU}"]) == most, name


def test_each_disruption_budget_selects_the_pods_of_its_work() -> None:
    job, serving = the("Job", "train-example", folder="examples"), the("Deployment", "serve-example", folder="examples")
    budgets = _of("PodDisruptionBudget", "examples")
    for work in (job, serving):
        spec = budgets[work["metadata"]["name"]]["spec"]
        assert spec["selector"]["matchLabels"].items() <= work["spec"]["template"]["metadata"]["labels"].items()
    assert budgets["train-example"]["spec"]["minAvailable"] == job["spec"]["parallelism"]
    assert budgets["serve-example"]["spec"]["maxUnavailable"] < serving["spec"]["replicas"]
