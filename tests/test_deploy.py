"""deploy/kustomize/base fits together, fits image and settings, and gives the least rights; docs/install.md uses it."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from bot.app.run import STOP_WITHIN
from bot.cli.commands import app
from bot.core.errors import Rejected
from bot.demo.kube.rbac import Rule
from bot.demo.run_stage import Stage
from bot.demo.script_loop import EVICTING_RULE, tell_loop
from bot.settings import Settings, documented, load_settings
from bot.web import Pages, web_app
from tests.support.stage import CaseStage, Policy

ROOT = Path(__file__).parent.parent
BASE = ROOT / "deploy/kustomize/base"
NAME = "gpu-quota-bot"
USER = f"system:serviceaccount:{NAME}:{NAME}"


def _objects() -> dict[str, Any]:
    """Kind -> object, of every file that the kustomization names."""
    files = yaml.safe_load((BASE / "kustomization.yaml").read_text())["resources"]
    every = [one for file in files for one in yaml.safe_load_all((BASE / file).read_text())]
    objects = {one["kind"]: one for one in every}
    assert len(objects) == len(every)
    return objects


OBJECTS = _objects()
EXAMPLE = yaml.safe_load((BASE / "secret.example.yaml").read_text())
POD = OBJECTS["Deployment"]["spec"]["template"]["spec"]
CONTAINERS = POD["initContainers"] + POD["containers"]
BOT = POD["containers"][0]


def test_every_file_is_applied_but_the_example_secret() -> None:
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    there = {path.name for path in BASE.iterdir()} - {"kustomization.yaml"}
    assert there - set(kustomization["resources"]) == {"secret.example.yaml"}


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine")
def test_kustomize_builds_it() -> None:
    done = subprocess.run(["kubectl", "kustomize", BASE], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    built = {one["kind"]: one for one in yaml.safe_load_all(done.stdout)}
    assert built.keys() == OBJECTS.keys()
    labels = built["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert built["Deployment"]["spec"]["selector"]["matchLabels"] == labels == built["Service"]["spec"]["selector"]


def test_names_that_are_referred_to_exist() -> None:
    binding = OBJECTS["ClusterRoleBinding"]
    assert binding["roleRef"]["name"] == OBJECTS["ClusterRole"]["metadata"]["name"]
    assert binding["subjects"][0]["name"] == POD["serviceAccountName"] == OBJECTS["ServiceAccount"]["metadata"]["name"]
    volumes = {one["name"]: one for one in POD["volumes"]}
    claim = volumes["data"]["persistentVolumeClaim"]["claimName"]
    assert claim == OBJECTS["PersistentVolumeClaim"]["metadata"]["name"]
    for container in CONTAINERS:
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes.keys()
        sources = [one[kind]["name"] for one in container["envFrom"] for kind in one]
        assert sources == [OBJECTS["ConfigMap"]["metadata"]["name"], EXAMPLE["metadata"]["name"]]


def test_the_config_maps_and_the_secrets_keys_are_settings_of_the_right_secrecy() -> None:
    plain, secret = OBJECTS["ConfigMap"]["data"], EXAMPLE["stringData"]
    assert (plain.keys() | secret.keys()) <= documented().keys()
    assert [key for key in plain if key.startswith("SLACK_")] == []
    commented = re.findall(r"^  # ([A-Z_]+):", (BASE / "secret.example.yaml").read_text(), re.MULTILINE)
    assert set(commented) <= documented().keys()


def test_paths_in_the_settings_are_mounted_and_the_bot_would_start_with_them(tmp_path: Path) -> None:
    given = OBJECTS["ConfigMap"]["data"]
    mounts = {mount["name"]: mount["mountPath"] for mount in BOT["volumeMounts"]}
    assert given["POLICIES_DIR"] == mounts["policies"]
    assert given["DATABASE_URL"].startswith(f"sqlite:///{mounts['data']}/")
    here = {key: value.replace(mounts["data"] + "/", f"{tmp_path}/") for key, value in given.items()}
    here |= {"POLICIES_DIR": str(ROOT / "policies"), "SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}
    assert load_settings(here, None, Settings).socket_mode


def test_the_pod_runs_as_the_images_user_without_rights_on_the_node() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    context = POD["securityContext"]
    assert f"\nUSER {context['runAsUser']}:{context['runAsGroup']}\n" in dockerfile
    assert context["fsGroup"] == context["runAsGroup"] > 0
    assert context["runAsNonRoot"] is True
    for container in CONTAINERS:
        locked = container["securityContext"]
        assert locked["readOnlyRootFilesystem"] is True
        assert locked["allowPrivilegeEscalation"] is False
        assert locked["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


def test_probes_and_ports_are_those_that_the_bot_serves() -> None:
    pages = Pages(dict, dict, bytes)
    routes = {route.path for route in web_app(None, None, pages).routes}  # type: ignore[arg-type, attr-defined]
    probes = {BOT[kind]["httpGet"]["path"] for kind in ("readinessProbe", "livenessProbe")}
    assert probes == {"/healthz", "/readyz"} <= routes
    assert [str(port["containerPort"]) for port in BOT["ports"]] == [documented()["HTTP_PORT"][0]]
    names = {port["name"] for port in BOT["ports"]}
    assert {BOT[kind]["httpGet"]["port"] for kind in ("readinessProbe", "livenessProbe")} == names
    assert {port["targetPort"] for port in OBJECTS["Service"]["spec"]["ports"]} == names


def test_sqlite_never_has_two_pods_and_a_stopping_bot_is_waited_for() -> None:
    spec = OBJECTS["Deployment"]["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    assert POD["terminationGracePeriodSeconds"] > STOP_WITHIN.total_seconds() + 20


RIGHTS = [
    (verb, resource)
    for rule in OBJECTS["ClusterRole"]["rules"]
    for resource in rule["resources"]
    for verb in rule["verbs"]
]


READ_FOR_READINESS = {
    "batch": {"jobs"},
    "apps": {"deployments", "statefulsets", "daemonsets"},
    "policy": {"poddisruptionbudgets"},
    "scheduling.k8s.io": {"priorityclasses"},
}


def test_the_role_names_only_what_the_bot_reads_and_no_right_twice() -> None:
    """Of what readiness reads nothing is written."""
    rules = OBJECTS["ClusterRole"]["rules"]
    others = [rule for rule in rules if rule["apiGroups"] not in (["kueue.x-k8s.io"], [""])]
    named = {
        group: {one for rule in others if rule["apiGroups"] == [group] for one in rule["resources"]}
        for group in READ_FOR_READINESS
    }
    assert named == READ_FOR_READINESS
    assert sum(len(rule["resources"]) for rule in others) == sum(map(len, READ_FOR_READINESS.values()))
    assert {verb for rule in others for verb in rule["verbs"]} == {"list"}
    plain = [rule["resources"] for rule in rules if rule["apiGroups"] == [""]]
    assert sorted(plain) == [["events"], ["namespaces"], ["nodes"], ["pods"], ["resourcequotas"]]
    assert len(RIGHTS) == len(set(RIGHTS))
    assert "*" not in {word for right in RIGHTS for word in right}


def test_each_right_says_what_it_is_for() -> None:
    verbs = re.findall(r"^      - (\w+)(  # .+)?$", (BASE / "clusterrole.yaml").read_text(), re.MULTILINE)
    assert [verb for verb, _why in verbs] == [verb for verb, _resource in RIGHTS]
    assert all(why for _verb, why in verbs)


def _stage(rights: list[tuple[str, str]]) -> Stage:
    stage = Stage(kube_token="the-bots")
    stage.kube.access.grant("the-bots", USER, [Rule((verb,), (resource,)) for verb, resource in rights])
    return stage


def _name_quota(policy: Policy) -> None:
    vision = policy["teams"]["teams"]["vision"]
    vision["namespaces"] = ["vision-train"]
    vision["resource_quota"] = {"namespace": "vision-train", "name": "gpu"}


def _with_quota(rights: list[tuple[str, str]]) -> Stage:
    """Vision's policy names a ResourceQuota."""
    stage = CaseStage(edit=_name_quota, kube_token="the-bots")
    stage.kube.access.grant("the-bots", USER, [Rule((verb,), (resource,)) for verb, resource in rights])
    stage.kube.ensure("namespaces", "vision-train")
    hard = {"spec": {"hard": {"requests.nvidia.com/gpu": "16"}}}
    stage.kube.add("resourcequotas", "gpu", hard, "vision-train")
    return stage


@pytest.mark.one_database("which rights the cluster asks for does not depend on it")
def test_the_loop_is_played_with_exactly_these_rights() -> None:
    told: list[str] = []
    with _stage(RIGHTS) as stage:
        tell_loop(stage, told.append)
    assert told


def _ask(stage: Stage, how: str = "from nlp") -> None:
    line = f"/gpu-quota request 8 a100 {how} for 3d because paper deadline"
    stage.slack.type_command(stage.people["mira"], stage.channels["vision"], line)


def _platform(stage: Stage, words: str) -> bool:
    return stage.find("gpu-platform", words) is not None


def _card(stage: Stage, words: str) -> bool:
    return stage.find("gpu-approvals", words) is not None


Seen = Callable[[Stage, str], bool]
MISSED: dict[tuple[str, str], tuple[Seen, str]] = {
    ("list", "clusterqueues"): (_platform, 'cannot list resource "clusterqueues"'),
    ("patch", "clusterqueues"): (_card, "The bot may not write ClusterQueue nlp. Admins: allow patch on it"),
    ("list", "cohorts"): (_platform, 'cannot list resource "cohorts"'),
    ("patch", "workloads"): (_platform, "The bot may not patch workloads"),
    ("list", "localqueues"): (_card, "No live figures"),
    ("list", "workloads"): (_card, "No live figures"),
    ("list", "resourceflavors"): (_card, "what the nodes have is not known: the bot may not list resourceflavors"),
    ("list", "admissionchecks"): (_card, "too is not known: the bot may not list admissionchecks"),
    ("list", "nodes"): (_card, "what the nodes have is not known: the bot may not list nodes"),
    ("get", "resourcequotas"): (_card, "The bot may not read ResourceQuota vision-train/gpu. Admins: allow get on it"),
    ("patch", "resourcequotas"): (_card, "The bot may not write ResourceQuota vision-train/gpu. Admins: allow patch"),
    ("watch", "workloads"): (_platform, "The bot may not watch workloads"),
    ("list", "pods"): (_platform, "The bot may not list pods"),
    ("watch", "pods"): (_platform, "The bot may not watch pods"),
    ("list", "events"): (_platform, "The bot may not list events"),
    ("watch", "events"): (_platform, "The bot may not watch events"),
}
"""Right -> where its absence shows when somebody asks, and the words."""


@pytest.mark.one_database("which rights the cluster asks for does not depend on it")
def test_readiness_asks_for_exactly_its_rights_and_says_which_one_is_missing() -> None:
    with _stage(RIGHTS) as stage:
        cluster = stage.bot.world.clusters["default"]
        assert cluster.preemption_facts(("nvidia.com/gpu",)).unread == ()
        for resource in sorted(READINESS):
            left = [Rule((verb,), (name,)) for verb, name in RIGHTS if name != resource]
            stage.kube.access.grant("the-bots", USER, left)
            (unread,) = cluster.preemption_facts(("nvidia.com/gpu",)).unread
            assert unread.split(".")[0] == resource


def _let_one_be_evicted(stage: Stage) -> None:
    """A loan ends, and by its rule the work on it is evicted."""
    stage.add_rule(EVICTING_RULE)
    line = "/gpu-quota request 4 a100 as borrow for 1h because a nightly sweep"
    stage.slack.type_command(stage.people["mira"], stage.channels["vision"], line)
    stage.wait("in force", lambda: _card(stage, "In force since"))
    stage.submit("vision", "train", 20, 100)
    stage.submit("vision", "sweep", 4)
    stage.clock.move(timedelta(hours=1))
    stage.wait("announced", lambda: stage.find_dm("mira", "sweep (4 GPUs) is evicted"))
    stage.clock.move(timedelta(hours=1))


def _work_goes_to_workers(stage: Stage) -> None:
    """Vision's work must pass an admission check."""
    stage.kube.ensure("admissionchecks", "dispatch", {"spec": {"controllerName": "kueue.x-k8s.io/multikueue"}})
    body = {"spec": {"admissionChecksStrategy": {"admissionChecks": [{"name": "dispatch"}]}}}
    path = stage.kube.path("clusterqueues", "", "vision")
    stage.kube.request("PATCH", path, body, content_type="application/merge-patch+json")


READINESS = {"workloadpriorityclasses", *(name for names in READ_FOR_READINESS.values() for name in names)}
"""Asked for only where somebody asks about readiness."""
ALERTS = {("watch", "workloads"), *((verb, name) for verb in ("list", "watch") for name in ("pods", "events"))}
"""Asked for by watches, whatever people do."""
NOT_MISSED = {("get", "namespaces")}
"""Whose the work of a namespace is can be said in other places too; without it the team hears."""
EXTRA = ("resourceflavors", "nodes")
"""Asked for only where an extra loan is asked for."""


@pytest.mark.one_database("which rights the cluster asks for does not depend on it")
@pytest.mark.parametrize(
    "right", [one for one in RIGHTS if one[1] not in READINESS and one not in NOT_MISSED], ids=" ".join
)
def test_without_any_one_right_something_fails_and_says_so(right: tuple[str, str]) -> None:
    seen, words = MISSED[right]
    staged = _with_quota if right[1] == "resourcequotas" else _stage
    with staged([one for one in RIGHTS if one != right]) as stage:
        if right == ("patch", "workloads"):
            _let_one_be_evicted(stage)
            stage.wait(words, lambda: seen(stage, words))
            assert stage.is_running("vision", "sweep")
            return
        if right in ALERTS:
            stage.wait(words, lambda: seen(stage, words))
            return
        if right[1] == "admissionchecks":
            _work_goes_to_workers(stage)
        _ask(stage, "as extra" if right[1] in EXTRA else "from nlp")
        stage.wait(words, lambda: seen(stage, words))
        if right[1] in EXTRA:
            stage.wait("the admins are told", lambda: _platform(stage, f'cannot list resource "{right[1]}"'))
        assert (stage.nominal("nlp"), stage.nominal("vision")) == (24, 16)
        if right[1] in {"localqueues", "workloads"}:
            with pytest.raises(Rejected, match=f"no right list {right[1]}: .* cannot list"):
                stage.bot.world.clusters["default"].workloads(["vision"])


INSTALL = ROOT / "docs/install.md"


def _lines() -> list[str]:
    """Every line of a shell block, continued ones joined."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", INSTALL.read_text(), re.MULTILINE | re.DOTALL)
    return [line.strip() for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def _words() -> Iterator[list[str]]:
    for line in _lines():
        yield shlex.split(line, comments=True)


def _bots_words(words: list[str]) -> list[str] | None:
    """What is said to the bot in a line: behind its name, in a pod behind `--`, or behind the image that is run."""
    words = words[: words.index(">")] if ">" in words else words
    if words[:2] == ["docker", "run"]:
        return words[words.index("$IMAGE") + 1 :]
    if "--" in words:
        words = words[words.index("--") + 1 :]
    return words[1:] if words[0] == NAME else None


def test_the_install_page_says_only_what_the_bot_understands() -> None:
    said = [rest for words in _words() if (rest := _bots_words(words)) is not None]
    assert {tuple(words[:1]) for words in said} >= {("manifest",), ("policy",), ("converge",), ("loans",)}
    for words in said:
        command: Any = typer.main.get_command(app)
        while hasattr(command, "commands"):
            command, words = command.commands[words[0]], words[1:]  # noqa: PLW2901
        command.make_context(NAME, words)  # raises for an option or a number of words that it does not take


def test_each_line_of_the_install_page_is_of_a_known_program() -> None:
    assert {words[0] for words in _words()} == {
        "IMAGE=registry.example.com/gpu-quota-bot:0.1.0",
        "cp",
        "docker",
        "kubectl",
        "mkdir",
    }


def test_the_install_page_names_files_that_exist() -> None:
    paths = set(re.findall(r"(?:deploy|policies|docs)/[\w./-]+\w", INSTALL.read_text()))
    assert {"deploy/kustomize/base/secret.example.yaml"} <= paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_install_page_names_objects_that_exist() -> None:
    """The Deployment, and the account whose rights are asked for."""
    named = {word.split("/")[1] for words in _words() for word in words if word.startswith("deployment/")}
    assert named == {OBJECTS["Deployment"]["metadata"]["name"]}
    accounts = {word.split("=")[1] for words in _words() for word in words if word.startswith("--as=")}
    assert accounts == {USER}


def _overlay() -> Any:
    return yaml.safe_load(re.findall(r"```yaml\n(.*?)```", INSTALL.read_text(), re.DOTALL)[0])


def test_the_overlay_in_the_install_page_is_made_for_the_base() -> None:
    overlay, policies = _overlay(), _overlay()["configMapGenerator"][0]
    assert policies["name"] == next(one["configMap"]["name"] for one in POD["volumes"] if one["name"] == "policies")
    assert {file.split("/")[1] for file in policies["files"]} == {
        path.name for path in (ROOT / "policies").glob("*.yaml")
    }
    assert [one["name"] for one in overlay["images"]] == [BOT["image"]]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl on this machine")
@pytest.mark.parametrize("namespace", [NAME, "elsewhere"])
def test_the_overlay_in_the_install_page_is_built(tmp_path: Path, namespace: str) -> None:
    """And its namespace gets to everything that has one, the subject of the binding too."""
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    shutil.copytree(ROOT / "policies", tmp_path / "my-cluster/policies")
    overlay = _overlay() | {"namespace": namespace}
    (tmp_path / "my-cluster/kustomization.yaml").write_text(yaml.safe_dump(overlay))
    command = ["kubectl", "kustomize", str(tmp_path / "my-cluster")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    built = list(yaml.safe_load_all(done.stdout))
    pod = next(one for one in built if one["kind"] == "Deployment")["spec"]["template"]["spec"]
    image = f"{_overlay()['images'][0]['newName']}:{_overlay()['images'][0]['newTag']}"
    assert {one["image"] for one in pod["initContainers"] + pod["containers"]} == {image}
    subject = next(one for one in built if one["kind"] == "ClusterRoleBinding")["subjects"][0]
    inside = {one["metadata"].get("namespace") for one in built if not one["kind"].startswith("ClusterRole")}
    assert inside == {subject["namespace"]} == {namespace}
