"""What a client asks before anything else: versions, groups, resources, health. Text answers are text, as on a real
server.
"""

from typing import Any

from bot.demo.kube.cluster import Cluster
from bot.demo.kube.kinds import KINDS, Kind
from bot.demo.kube.status import page_not_found

Obj = dict[str, Any]
GROUPS = sorted({kind.group for kind in KINDS if kind.group})
_ALL_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
_VERSION = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.2",
    "gitCommit": "0000000000000000000000000000000000000000",
    "gitTreeState": "clean",
    "buildDate": "2026-11-10T00:00:00Z",
    "goVersion": "go1.26.3",
    "compiler": "gc",
    "platform": "linux/amd64",
}


def answer(cluster: Cluster, path: str) -> Obj | str:
    """The body for a discovery or health path. Raises 404 for every other."""
    parts = [part for part in path.split("/") if part]
    if parts in (["readyz"], ["livez"], ["healthz"]):
        return "ok"
    if parts == ["version"]:
        return dict(_VERSION)
    if parts == ["api"]:
        address = {"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}
        return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [address]}
    if parts == ["apis"]:
        groups = [_group(cluster, name) for name in GROUPS if _versions(cluster, name)]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
    if parts == ["api", "v1"]:
        return _resources(cluster, "", "v1")
    if len(parts) in (2, 3) and parts[0] == "apis" and _versions(cluster, parts[1]):
        if len(parts) == 2:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(cluster, parts[1])}
        if parts[2] in _versions(cluster, parts[1]):
            return _resources(cluster, parts[1], parts[2])
    raise page_not_found()


def _versions(cluster: Cluster, group: str) -> list[str]:
    """Served versions, newest first."""
    served = {v for kind in KINDS if kind.group == group for v in kind.versions if cluster.serves(kind, v)}
    return sorted(served, reverse=True) if group else []


def _group(cluster: Cluster, group: str) -> Obj:
    versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in _versions(cluster, group)]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _resources(cluster: Cluster, group: str, version: str) -> Obj:
    resources: list[Obj] = []
    for kind in cluster.kinds(group, version):
        resources.append(_resource(kind))
        if kind.status:
            status = {
                "name": f"{kind.plural}/status",
                "singularName": "",
                "namespaced": kind.namespaced,
                "kind": kind.kind,
            }
            resources.append({**status, "verbs": ["get", "patch", "update"]})
    group_version = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources}


def _resource(kind: Kind) -> Obj:
    resource: Obj = {
        "name": kind.plural,
        "singularName": kind.kind.lower(),
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": list(_ALL_VERBS),
    }
    return {**resource, "shortNames": list(kind.short)} if kind.short else resource
