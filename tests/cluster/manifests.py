"""Kueue's own manifests, changed only where a cluster's network would be: webhooks are called on a loopback port."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

Obj = dict[str, Any]
MANAGER = "kueue-controller-manager"
NAMESPACE = "kueue-system"


def kueue(components: Path, port: int, authority: bytes) -> Iterator[tuple[str, Obj]]:
    """(path of the collection, object), in an order that works. `port`: where Kueue's webhooks are served; `authority`:
    PEM of who signed their certificate.
    """
    bundle = base64.b64encode(authority).decode()

    def client(path: str) -> Obj:
        return {"url": f"https://127.0.0.1:{port}{path}", "caBundle": bundle}

    yield "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}
    yield f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": MANAGER}}
    yield from _rights(components / "rbac")
    for crd in _crds(components / "crd", client("/convert")):
        yield "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd
    for configuration in _documents(components / "webhook/manifests.yaml"):
        for webhook in configuration["webhooks"]:
            webhook["clientConfig"] = client(webhook["clientConfig"]["service"]["path"])
        configuration["metadata"]["name"] = f"kueue-{configuration['metadata']['name']}"
        plural = f"{configuration['kind'].lower()}s"
        yield f"/apis/admissionregistration.k8s.io/v1/{plural}", configuration


def configuration(folder: Path, ports: dict[str, int]) -> Obj:
    """The manager's configuration. `folder` has its certificate; `ports` are health, metrics and webhook."""
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": f"127.0.0.1:{ports['health']}"},
        "metrics": {"bindAddress": f"127.0.0.1:{ports['metrics']}"},
        "webhook": {"host": "127.0.0.1", "port": ports["webhook"], "certDir": str(folder)},
        "internalCertManagement": {"enable": False},
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": 300, "burst": 500},
        "integrations": {"frameworks": ["batch/job"]},
        "featureGates": {"VisibilityOnDemand": False},
    }


def _rights(rbac: Path) -> Iterator[tuple[str, Obj]]:
    """The manager's role as Kueue ships it, given to its service account."""
    group = "/apis/rbac.authorization.k8s.io/v1"
    subject = {"kind": "ServiceAccount", "name": MANAGER, "namespace": NAMESPACE}
    for role in _documents(rbac / "role.yaml"):
        if role["kind"] != "ClusterRole":
            continue
        role["metadata"]["name"] = f"kueue-{role['metadata']['name']}"
        yield f"{group}/clusterroles", role
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role["metadata"]["name"]}
        binding = {"metadata": {"name": role["metadata"]["name"]}, "roleRef": reference, "subjects": [subject]}
        yield f"{group}/clusterrolebindings", binding


def _crds(folder: Path, client: Obj) -> Iterator[Obj]:
    """As kustomization.yaml puts them together."""
    (kustomization,) = _documents(folder / "kustomization.yaml")
    patches = [patch["path"] for patch in kustomization["patches"] if "webhook_in_" in patch["path"]]
    converted = {document["metadata"]["name"] for path in patches for document in _documents(folder / path)}
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    for path in kustomization["resources"]:
        for crd in _documents(folder / path):
            if crd["metadata"]["name"] in converted:
                crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
            yield crd


def _documents(path: Path) -> list[Obj]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # one of the CRDs is 1.4 MB
    return [document for document in yaml.load_all(path.read_text(), loader) if document]
