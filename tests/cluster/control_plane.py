"""A control plane with Kueue as processes of this machine, on free ports of the loopback.

etcd, kube-apiserver with RBAC on, kube-controller-manager with the controllers that Kueue and the tests need (jobs,
garbage collection, namespaces, ResourceQuotas), kube-scheduler, Kueue's manager with its webhooks. No kubelet and,
until a test makes some, no nodes: pods stay unbound, which is enough for quota. Started by tests/cluster/conftest for
one line of tests/cluster/lines, and by test_kueue_down for itself.
"""

import base64
import secrets
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cluster import manifests
from tests.cluster.api import Api, condition, kubeconfig
from tests.cluster.programs import Programs, Running, free_ports, running
from tests.cluster.waiting import eventually

CONTROLLERS = ",".join(
    f"{name}-controller" for name in ("garbage-collector", "job", "namespace", "resourcequota", "serviceaccount")
)


@dataclass(frozen=True, slots=True)
class ControlPlane:
    """What is running. `kubeconfig` is an administrator's; Kueue's manager can be stopped and started again."""

    kubeconfig: Path
    programs: Programs
    stop_kueue: Callable[[], None]
    start_kueue: Callable[[], None]


@contextmanager
def control_plane(programs: Programs) -> Iterator[ControlPlane]:
    """Up and ready within the context; everything is stopped and its folder removed at the end."""
    with tempfile.TemporaryDirectory(prefix="control-plane-") as name, ExitStack() as stack:
        start = _Start(programs, Path(name), stack)
        start.certificates()
        start.etcd()
        start.api_server()
        start.controllers()
        start.scheduler()
        start.kueue()
        yield ControlPlane(start.admin, programs, start.managers.close, start.manager)


class _Start:
    def __init__(self, programs: Programs, folder: Path, stack: ExitStack) -> None:
        self._programs = programs
        self._folder = folder
        self._stack = stack
        self.managers = stack.enter_context(ExitStack())
        names = ("etcd", "peer", "api", "webhook", "health", "metrics")
        self._ports = dict(zip(names, free_ports(len(names)), strict=True))
        self._binary = programs.control_plane
        self._version = "v1beta2" if programs.minor >= 15 else "v1beta1"
        self._own_certificate = programs.minor >= 9
        self.admin = folder / "admin.kubeconfig"

    def certificates(self) -> None:
        """One pair for every server of this run; its authority is in the same file."""
        subprocess.run([self._binary, "certificates", self._folder], check=True)
        token = secrets.token_hex(16)
        (self._folder / "tokens.csv").write_text(f"{token},admin,admin,system:masters\n")
        self._kubeconfig(self.admin, token)

    def etcd(self) -> None:
        client, peer = (f"http://127.0.0.1:{self._ports[name]}" for name in ("etcd", "peer"))
        listen = [f"--listen-client-urls={client}", f"--advertise-client-urls={client}"]
        peers = [f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"]
        cluster = f"--initial-cluster=default={peer}"
        self._run("etcd", *listen, *peers, cluster, f"--data-dir={self._folder / 'etcd'}", "--unsafe-no-fsync")

    def api_server(self) -> None:
        """It waits for etcd by itself."""
        server = self._run(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{self._ports['etcd']}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self._ports['api']}",
            f"--tls-cert-file={self._folder / 'tls.crt'}",
            f"--tls-private-key-file={self._folder / 'tls.key'}",
            f"--token-auth-file={self._folder / 'tokens.csv'}",
            "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self._folder / 'sa.key'}",
            f"--service-account-signing-key-file={self._folder / 'sa.key'}",
            "--service-cluster-ip-range=10.96.0.0/24",
            "--endpoint-reconciler-type=none",
            "--disable-admission-plugins=ServiceAccount",  # nothing here runs in a pod
        )
        self._api = Api(self.admin)
        self._until_ready(server, lambda: self._api.try_get("/readyz") is not None)

    def controllers(self) -> None:
        flags = [f"--controllers={CONTROLLERS}", "--leader-elect=false", "--secure-port=0"]
        self._run("kube-controller-manager", f"--kubeconfig={self.admin}", *flags)

    def scheduler(self) -> None:
        self._run("kube-scheduler", f"--kubeconfig={self.admin}", "--leader-elect=false", "--secure-port=0")

    def kueue(self) -> None:
        """The manifests, then the manager as its service account."""
        authority = None if self._own_certificate else (self._folder / "tls.crt").read_bytes()
        for path, obj in manifests.kueue(self._programs.components, self._ports["webhook"], authority):
            self._api.must("POST", path, obj)
        account = f"/api/v1/namespaces/{manifests.NAMESPACE}/serviceaccounts/{manifests.MANAGER}/token"
        token = self._api.must("POST", account, {"spec": {"expirationSeconds": 86_400}})["status"]["token"]
        self._kubeconfig(self._folder / "kueue.kubeconfig", token)
        self._established()
        self.manager()

    def manager(self) -> None:
        """Returns when its webhooks answer."""
        own = self._own_certificate
        mounted = self._folder / "webhook" if own else self._folder
        configuration = self._folder / "kueue.yaml"
        content = manifests.configuration(self._version, mounted, self._ports, own_certificate=own)
        configuration.write_text(yaml.safe_dump(content))
        gates = {"VisibilityOnDemand": "false", **({"LendingLimit": "true"} if self._programs.minor < 9 else {})}
        program = running(
            self._folder,
            "kueue",
            self._programs.manager,
            f"--config={configuration}",
            f"--feature-gates={','.join(f'{name}={value}' for name, value in gates.items())}",
            environment={"KUBECONFIG": str(self._folder / "kueue.kubeconfig")},
        )
        kueue = self.managers.enter_context(program)
        if own:
            self._until_ready(kueue, lambda: self._mounts(mounted))
        self._until_ready(kueue, self._kueue_is_ready)

    def _mounts(self, folder: Path) -> bool:
        """A kubelet's part: the manager keeps its certificate in a Secret and reads it from a mounted folder."""
        if folder.exists():
            return True
        secret = self._api.must("GET", f"/api/v1/namespaces/{manifests.NAMESPACE}/secrets/{manifests.SECRET}")
        if not secret.get("data"):
            return False
        new = folder.with_suffix(".new")
        new.mkdir()
        for name, content in secret["data"].items():
            (new / name).write_bytes(base64.b64decode(content))
        new.rename(folder)
        return True

    def _established(self) -> None:
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

        def all_of_them() -> bool:
            crds = self._api.must("GET", path)["items"]
            return all(condition(crd, "Established") == "True" for crd in crds)

        eventually("Kueue's CRDs established", all_of_them)

    def _kueue_is_ready(self) -> bool:
        """Its health comes up while it still waits for its certificate: ready is when its webhook answers."""
        version = f"kueue.x-k8s.io/{self._version}"
        probe = {"apiVersion": version, "kind": "ResourceFlavor", "metadata": {"name": "probe"}}
        path, query = f"/apis/{version}/resourceflavors", {"dryRun": "All"}
        return self._api.request("POST", path, probe, query=query).status == 201

    def _run(self, name: str, *flags: str) -> Running:
        return self._stack.enter_context(running(self._folder, name, self._binary, name, *flags))

    def _until_ready(self, program: Running, ready: Any) -> None:
        def look() -> bool:
            program.check()
            return bool(ready())

        try:
            eventually(f"{program.name} ready", look, patience=300)
        except AssertionError as late:
            raise AssertionError(f"{late}: {program.last_words()}") from None

    def _kubeconfig(self, path: Path, token: str) -> None:
        server = f"https://127.0.0.1:{self._ports['api']}"
        path.write_text(kubeconfig(server, token, (self._folder / "tls.crt").read_bytes()))
