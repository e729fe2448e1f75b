"""Kueue's own manifests as its kustomization names them, changed only where a cluster's network would be: the webhooks'
Service is an ExternalName for this machine, and its users are told the port.

Kueue makes the certificate of its webhooks by itself and tells the API server whom to trust. 0.8 looks for what it has
made in one fixed folder of the machine; there the tests' certificate is used, and the API server is told an address.
"""

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

Obj = dict[str, Any]
NAMESPACE = "kueue-system"
MANAGER = "kueue-controller-manager"
SERVICE = "kueue-webhook-service"
SECRET = "kueue-webhook-server-cert"
_ROLES = ("role.yaml", "manager_secrets_role.yaml")
"""The second one came with a newer Kueue; before, its rights were in the first."""
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_CORE = f"/api/v1/namespaces/{NAMESPACE}"


def kueue(components: Path, port: int, authority: bytes | None) -> Iterator[tuple[str, Obj]]:
    """(path of the collection, object), in an order that works. `port`: where Kueue's webhooks are served; `authority`:
    the PEM of who signed their certificate, if Kueue does not make one.
    """

    def client(path: str) -> Obj:
        if authority is not None:
            return {"url": f"https://localhost:{port}{path}", "caBundle": base64.b64encode(authority).decode()}
        return {"service": {"name": SERVICE, "namespace": NAMESPACE, "path": path, "port": port}}

    yield "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}
    yield f"{_CORE}/serviceaccounts", {"metadata": {"name": MANAGER}}
    external = {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}
    yield f"{_CORE}/services", {"metadata": {"name": SERVICE}, "spec": external}
    yield f"{_CORE}/secrets", {"metadata": {"name": SECRET}}
    yield from _rights(components / "rbac")
    for crd in _crds(components / "crd", client("/convert")):
        yield "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd
    for configuration in _documents(components / "webhook/manifests.yaml"):
        for webhook in configuration["webhooks"]:
            webhook["clientConfig"] = client(webhook["clientConfig"]["service"]["path"])
        _prefix(configuration)
        yield f"/apis/admissionregistration.k8s.io/v1/{configuration['kind'].lower()}s", configuration


def configuration(version: str, folder: Path, ports: Mapping[str, int], *, own_certificate: bool) -> Obj:
    """The manager's configuration. `folder`: where its certificate is or will be; `ports`: health, metrics, webhook."""
    management = {"enable": True, "webhookServiceName": SERVICE, "webhookSecretName": SECRET}
    return {
        "apiVersion": f"config.kueue.x-k8s.io/{version}",
        "kind": "Configuration",
        "namespace": NAMESPACE,
        "health": {"healthProbeBindAddress": f"127.0.0.1:{ports['health']}"},
        "metrics": {"bindAddress": f"127.0.0.1:{ports['metrics']}"},
        "webhook": {"host": "127.0.0.1", "port": ports["webhook"], "certDir": str(folder)},
        "internalCertManagement": management if own_certificate else {"enable": False},
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"qps": 300, "burst": 500},
        "integrations": {"frameworks": ["batch/job"]},
    }


def _rights(rbac: Path) -> Iterator[tuple[str, Obj]]:
    """The manager's roles as Kueue ships them, given to its service account."""
    subject = {"kind": "ServiceAccount", "name": MANAGER, "namespace": NAMESPACE}
    files = [path for name in _ROLES if (path := rbac / name).exists()]
    for role in (document for path in files for document in _documents(path)):
        _prefix(role)
        for rule in role["rules"]:
            if "admissionregistration.k8s.io" in rule.get("apiGroups", ()) and "resourceNames" in rule:
                rule["resourceNames"] = [f"kueue-{name}" for name in rule["resourceNames"]]
        base = f"{_RBAC}/namespaces/{NAMESPACE}" if role["kind"] == "Role" else _RBAC
        plural = role["kind"].lower()
        yield f"{base}/{plural}s", role
        name = role["metadata"]["name"]
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": role["kind"], "name": name}
        yield f"{base}/{plural}bindings", {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}


def _prefix(obj: Obj) -> None:
    """What kustomize does to names and namespaces."""
    obj["metadata"]["name"] = f"kueue-{obj['metadata']['name']}"
    if "namespace" in obj["metadata"]:
        obj["metadata"]["namespace"] = NAMESPACE


def _crds(folder: Path, client: Obj) -> Iterator[Obj]:
    """As kustomization.yaml puts them together."""
    (kustomization,) = _documents(folder / "kustomization.yaml")
    patches = [patch["path"] for patch in (kustomization["patches"] or ()) if "webhook_in_" in patch["path"]]
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
