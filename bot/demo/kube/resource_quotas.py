"""ResourceQuotas: what the API server takes, the quota controller that copies `spec.hard` to `status.hard`, and the
pods that are refused.

As measured on Kubernetes 1.36: any qualified name is taken as a key, `limits.<device>` and the bare name too, though
nothing counts them; quantities may be fractions and are stored in canonical form; no generation is counted. Called by
gate (what is taken and refused) and controller (what follows). Pods that a Job makes here are not asked about.
"""

import re
from collections.abc import Iterator
from typing import Any

from bot.demo.kube import status
from bot.demo.kube.cluster import Cluster
from bot.demo.kube.quantity import UNREADABLE, amount, canonical, parse, printed
from bot.demo.kube.status import Cause, bad_value

Obj = dict[str, Any]
_QUALIFIED = re.compile(r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
_STANDARD = re.compile(
    r"^((requests|limits)\.)?(cpu|memory|ephemeral-storage)$|^requests\.storage$|^hugepages-|^requests\.hugepages-"
    r"|^(pods|services|replicationcontrollers|resourcequotas|secrets|configmaps|persistentvolumeclaims"
    r"|services\.nodeports|services\.loadbalancers)$|^count/"
)
_NO_RESOURCE = ("must be a standard resource type or fully qualified", "must be a standard resource for quota")
_OVER = ("Succeeded", "Failed")


def taken(obj: Obj, old: Obj | None) -> Obj:
    """The object as it is stored. Raises `ApiError`."""
    spec, name = obj.get("spec") or {}, obj["metadata"]["name"]
    hard = spec.get("hard") or {}
    try:
        kept = {key: canonical(quantity) for key, quantity in hard.items()}
    except ValueError:
        raise _undecodable(old) from None
    causes = [cause for key, quantity in hard.items() for cause in _broken(key, quantity)]
    if old is not None and (old.get("spec") or {}).get("scopes") != spec.get("scopes"):
        causes.append(bad_value("spec.scopes", spec.get("scopes"), "field is immutable"))
    if causes:
        raise status.invalid("", "ResourceQuota", name, causes)
    return {**obj, "spec": {**spec, "hard": kept}} if hard else obj


def _undecodable(old: Obj | None) -> status.ApiError:
    """A create is turned away as it is read, a patch when its result is."""
    if old is None:
        return status.bad_request(f'ResourceQuota in version "v1" cannot be handled as a ResourceQuota: {UNREADABLE}')
    cause = bad_value("patch", "{}", UNREADABLE)
    causes = [{"reason": cause.kind, "message": cause.text, "field": cause.field}]
    return status.error(422, "Invalid", f' "" is invalid: {cause}', {"causes": causes})


def _broken(key: str, quantity: int | str) -> Iterator[Cause]:
    field = f"spec.hard[{key}]"
    if not _STANDARD.match(key) and not _QUALIFIED.match(key):
        yield from (bad_value(field, key, text) for text in _NO_RESOURCE)
    if parse(quantity) < 0:
        yield bad_value(field, canonical(quantity), "must be greater than or equal to 0")


def follow(cluster: Cluster) -> None:
    """One pass of the quota controller: limits as the spec has them, and what the pods of the namespace ask for."""
    for quota in cluster.store.all("resourcequotas"):
        counted = _counted(quota, _used(_pods(cluster, quota)))
        cluster.put_status(quota, "resourcequotas", {"hard": _hard(quota), "used": counted}, "kube-controller-manager")


def admit(cluster: Cluster, pod: Obj) -> None:
    """Raises `ApiError` for a pod that goes over a quota of its namespace."""
    for quota in cluster.store.all("resourcequotas", pod["metadata"]["namespace"]):
        if not _in_scope(quota, pod):
            continue
        hard, used = _hard(quota), _counted(quota, _used(_pods(cluster, quota)))
        asked = _counted(quota, _used([pod]))
        over = sorted(key for key in asked if 0 < parse(asked[key]) > parse(hard[key]) - parse(used[key]))
        if over:
            numbers = (("requested", asked), ("used", used), ("limited", hard))
            lists = [f"{what}: {','.join(f'{key}={values[key]}' for key in over)}" for what, values in numbers]
            name = pod["metadata"]["name"]
            message = f'pods "{name}" is forbidden: exceeded quota: {quota["metadata"]["name"]}, {", ".join(lists)}'
            raise status.error(403, "Forbidden", message, {"name": name, "kind": "pods"})


def _hard(quota: Obj) -> dict[str, str]:
    return (quota.get("spec") or {}).get("hard") or {}


def _counted(quota: Obj, used: dict[str, str]) -> dict[str, str]:
    return {key: used.get(key, "0") for key in _hard(quota) if key == "pods" or key.startswith("requests.")}


def _pods(cluster: Cluster, quota: Obj) -> list[Obj]:
    """Those that it counts."""
    pods = cluster.store.all("pods", quota["metadata"]["namespace"])
    alive = [pod for pod in pods if (pod.get("status") or {}).get("phase") not in _OVER]
    return [pod for pod in alive if _in_scope(quota, pod)]


def _in_scope(quota: Obj, pod: Obj) -> bool:
    """By priority class; no other scope is known here."""
    selector = (quota.get("spec") or {}).get("scopeSelector") or {}
    return all(_matches(term, pod["spec"].get("priorityClassName")) for term in selector.get("matchExpressions", []))


def _matches(term: Obj, name: str | None) -> bool:
    values = term.get("values", [])
    holds = {
        "In": name in values,
        "NotIn": name not in values,
        "Exists": name is not None,
        "DoesNotExist": name is None,
    }
    return holds[term["operator"]]


def _used(pods: list[Obj]) -> dict[str, str]:
    total: dict[str, int] = {}
    for container in (one for pod in pods for one in pod["spec"].get("containers", [])):
        for resource, quantity in ((container.get("resources") or {}).get("requests") or {}).items():
            total[resource] = total.get(resource, 0) + amount(resource, quantity)
    asked = {f"requests.{resource}": printed(resource, units) for resource, units in total.items()}
    return {"pods": str(len(pods)), **asked}
