"""The places where the contract is tried: the simulator, or a real API server with a real Kueue. Both over HTTP.

What differs between them is only how a user comes to be. Chosen by tests/cluster/conftest.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import yaml

from bot.demo.kube.rbac import EVERYTHING, Rule
from bot.demo.kube.server import KubeServer
from bot.demo.kube.sim import KubeSim
from tests.cluster.api import Api, Obj
from tests.cluster.programs import LINES, OPTIONAL, ROOT, is_built
from tests.cluster.waiting import eventually

SIMULATOR = "simulator"
GROUP = "kueue.x-k8s.io"
VERSIONS = ("v1beta2", "v1beta1")
RBAC = "/apis/rbac.authorization.k8s.io/v1"
Rights = Mapping[str, tuple[str, ...]]
"""Resource of the shipped role -> verbs."""
GIVEN = os.environ.get("CLUSTER_KUBECONFIG")
"""An administrator's, of the cluster that serves instead of the lines."""
REAL = ("given",) if GIVEN else tuple(line for line in LINES if line not in OPTIONAL or is_built(line))
"""The real places of this run."""


def _shipped_rules() -> list[Obj]:
    text = (ROOT / "deploy/kustomize/base/clusterrole.yaml").read_text()
    (role,) = (one for one in yaml.safe_load_all(text) if one["kind"] == "ClusterRole")
    rules: list[Obj] = role["rules"]
    return rules


BOT: Rights = {resource: tuple(rule["verbs"]) for rule in _shipped_rules() for resource in rule["resources"]}
"""All that the bot may do."""
_GROUPS = {resource: rule["apiGroups"][0] for rule in _shipped_rules() for resource in rule["resources"]}


class Place(Protocol):
    """Where a site stands: how users come to be. `version` is the newest of Kueue's API that is served there."""

    what: str
    version: str
    admin: Api

    def user(self, name: str, rights: Rights) -> Path:
        """A kubeconfig for a new user with these rights and no others."""
        ...

    def remove(self, name: str) -> None:
        """The user is no more."""
        ...


def newest_version(admin: Api) -> str:
    """Of Kueue's API, among those that are served."""
    served = {one["version"] for one in admin.must("GET", f"/apis/{GROUP}")["versions"]}
    return next(version for version in VERSIONS if version in served)


def _group(resource: str) -> str:
    return str(_GROUPS[resource])


class Simulated:
    """The simulator, with access rules on."""

    what = SIMULATOR

    def __init__(self, folder: Path, sim: KubeSim, server: KubeServer) -> None:
        self._folder = folder
        self._sim = sim
        self._server = server
        sim.access.grant("admin", "admin", (EVERYTHING,))
        self.admin = Api(server.kubeconfig(folder / "admin.kubeconfig", "admin"))
        self.version = newest_version(self.admin)

    def user(self, name: str, rights: Rights) -> Path:
        self._sim.access.grant(name, name, [Rule(verbs, (resource,)) for resource, verbs in rights.items()])
        return self._server.kubeconfig(self._folder / f"{name}.kubeconfig", name)

    def remove(self, name: str) -> None:
        self._sim.access.revoke(name)

    def kueue(self, *, up: bool) -> None:
        """Stop or start its manager."""
        self._sim.kueue_up = up


@contextmanager
def simulated(folder: Path) -> Iterator[Simulated]:
    """A simulator of its own, on a free port."""
    sim = KubeSim()
    with KubeServer(sim, reconcile=True) as server:
        place = Simulated(folder, sim, server)
        try:
            yield place
        finally:
            place.admin.close()


class Real:
    """A real API server, known by an administrator's kubeconfig."""

    def __init__(self, what: str, folder: Path, kubeconfig: Path) -> None:
        self.what = what
        self.admin = Api(kubeconfig)
        self.version = newest_version(self.admin)
        self._folder = folder

    def user(self, name: str, rights: Rights) -> Path:
        """A service account; returns when its rights are in force."""
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        self.admin.must("POST", accounts, {"metadata": {"name": name}})
        token = self.admin.must("POST", f"{accounts}/{name}/token", {"spec": {"expirationSeconds": 3600}})
        kubeconfig = self.admin.as_token(token["status"]["token"], self._folder / f"{name}.kubeconfig")
        rules = [
            {"apiGroups": [_group(resource)], "resources": [resource], "verbs": list(verbs)}
            for resource, verbs in rights.items()
        ]
        self.admin.must("POST", f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules})
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
        subject = {"kind": "ServiceAccount", "name": name, "namespace": "default"}
        binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}
        self.admin.must("POST", f"{RBAC}/clusterrolebindings", binding)
        self._in_force(kubeconfig, rights)
        return kubeconfig

    def remove(self, name: str) -> None:
        for path in (
            f"{RBAC}/clusterrolebindings/{name}",
            f"{RBAC}/clusterroles/{name}",
            f"/api/v1/namespaces/default/serviceaccounts/{name}",
        ):
            self.admin.request("DELETE", path)

    def _in_force(self, kubeconfig: Path, rights: Rights) -> None:
        reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        user = Api(kubeconfig)
        for resource, verbs in rights.items():
            for verb in verbs:
                asked = {"group": _group(resource), "resource": resource, "verb": verb}
                body = {"spec": {"resourceAttributes": asked}}
                eventually(f"{verb} {resource}", lambda b=body: user.must("POST", reviews, b)["status"]["allowed"])  # type: ignore[misc]
        user.close()
