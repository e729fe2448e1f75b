"""What stands between a request's object and the store, in the server's order: unknown fields, conversion, defaults,
mutating webhook, schema, expressions, validating webhook. Called by writes.py for every create, update, patch and
apply.
"""

import json
from dataclasses import dataclass
from typing import Any

from bot.demo.kube import conversion, metadata, resource_quotas, rules, status
from bot.demo.kube.cluster import Cluster
from bot.demo.kube.kinds import KUEUE, NEW, OLD, Kind
from bot.demo.kube.quantity import UNREADABLE, canonical
from bot.demo.kube.schema import broken, defaulted, pruned

Obj = dict[str, Any]
FINALIZER = "kueue.x-k8s.io/resource-in-use"
_TOP = ("apiVersion", "kind", "metadata", "spec", "status", "value", "description")
_VALIDATED = {"ClusterQueue": "vclusterqueue.kb.io", "Cohort": "vcohort.kb.io", "Workload": "vworkload.kb.io"}
_MUTATED = {
    "ClusterQueue": "mclusterqueue.kb.io",
    "ResourceFlavor": "mresourceflavor.kb.io",
    "Workload": "mworkload.kb.io",
}
_FOREIGN = {"Job": ("mjob.kb.io", "/mutate-batch-v1-job"), "Pod": ("mpod.kb.io", "/mutate--v1-pod")}
_DECODING = "strict decoding error: "


@dataclass(frozen=True, slots=True)
class Entry:
    """How an object came: through which version, by POST, PUT or PATCH, and what to do with unknown fields (Strict,
    Warn, Ignore).
    """

    kind: Kind
    version: str
    verb: str
    validation: str
    name: str


def admitted(cluster: Cluster, entry: Entry, obj: Obj, old: Obj | None) -> tuple[Obj, list[str]]:
    """The object as it is to be stored, and warnings. `obj` is in the entry's version, `old` as stored. Raises
    `ApiError`.
    """
    kind = entry.kind
    if not kind.custom:
        _foreign_webhook(cluster, kind, old)
        _schema(kind, entry.name, obj, old)
        if kind.kind == "Pod" and old is None:
            resource_quotas.admit(cluster, obj)
        return (resource_quotas.taken(obj, old) if kind.kind == "ResourceQuota" else obj), []
    obj, warnings = _known_fields(entry, obj)
    obj = stored_form(cluster, kind, obj, entry.version)
    if kind.stored in kind.spec and isinstance(obj.get("spec"), dict):
        obj = {**obj, "spec": defaulted(obj["spec"], kind.spec[kind.stored])}
    obj = _mutated(cluster, kind, obj, old)
    _schema(kind, entry.name, obj, old)
    _validated(cluster, kind, obj, old)
    return obj, warnings


def stored_form(cluster: Cluster, kind: Kind, obj: Obj, version: str) -> Obj:
    """A requested version's object as stored. Kueue's conversion webhook does it, so Kueue must be up."""
    if version != OLD:
        return obj
    _conversion_up(cluster, kind)
    return conversion.to_new(obj)


def shown(cluster: Cluster, kind: Kind, obj: Obj, version: str, *, cached: bool = False) -> Obj:
    """A stored object in the asked version. `cached`: lists and watches are served converted already, even while
    Kueue is down.
    """
    if not kind.custom or version == NEW:
        return obj
    if not cached:
        _conversion_up(cluster, kind)
    return conversion.to_old(obj)


def _conversion_up(cluster: Cluster, kind: Kind) -> None:
    if not cluster.kueue_up and NEW in cluster.versions:
        raise status.conversion_down(kind.api_version(kind.stored), kind.kind)


def _known_fields(entry: Entry, obj: Obj) -> tuple[Obj, list[str]]:
    kept = {name: value for name, value in obj.items() if name in _TOP}
    unknown = [name for name in obj if name not in _TOP]
    if strange := metadata.unknown(obj["metadata"]):
        unknown += strange
        kept["metadata"] = {k: v for k, v in obj["metadata"].items() if f"metadata.{k}" not in strange}
    node = entry.kind.spec.get(entry.version)
    if node is not None and isinstance(obj.get("spec"), dict):
        kept["spec"], lost = pruned(obj["spec"], node, "spec")
        unknown += lost
    texts = [f'unknown field "{path}"' for path in unknown]
    if texts and entry.validation == "Strict":
        raise _strict(entry, obj, _DECODING + ", ".join(texts))
    return kept, texts if entry.validation == "Warn" else []


def _strict(entry: Entry, obj: Obj, text: str) -> status.ApiError:
    kind = entry.kind.kind
    if entry.verb != "PATCH":
        return status.bad_request(f'{kind} in version "{entry.version}" cannot be handled as a {kind}: {text}')
    whole = json.dumps(obj, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    cause = status.bad_value("patch", whole, text)
    return status.error(
        422,
        "Invalid",
        f' "" is invalid: {cause}',
        {"causes": [{"reason": cause.kind, "message": cause.text, "field": cause.field}]},
    )


def _foreign_webhook(cluster: Cluster, kind: Kind, old: Obj | None) -> None:
    """Kueue's webhooks on Jobs and plain Pods: creating either needs Kueue up."""
    if cluster.versions and not cluster.kueue_up and old is None and kind.kind in _FOREIGN:
        raise status.webhook_down(*_FOREIGN[kind.kind])


def _webhook_path(kind: Kind, what: str) -> str:
    return f"/{what}-{KUEUE.replace('.', '-')}-{kind.stored}-{kind.kind.lower()}"


def _mutated(cluster: Cluster, kind: Kind, obj: Obj, old: Obj | None) -> Obj:
    """On create only: the finalizer, and quantities written back as strings."""
    if old is not None or kind.kind not in _MUTATED:
        return obj
    if not cluster.kueue_up:
        raise status.webhook_down(_MUTATED[kind.kind], _webhook_path(kind, "mutate"))
    meta = obj["metadata"]
    finalizers = [*meta.get("finalizers", [])]
    if FINALIZER not in finalizers:
        finalizers.append(FINALIZER)
    obj = {**obj, "metadata": {**meta, "finalizers": finalizers}}
    if kind.kind == "ClusterQueue":
        try:
            obj = {**obj, "spec": _normalised(obj.get("spec", {}))}
        except ValueError:
            raise status.undecodable(_MUTATED[kind.kind], UNREADABLE) from None
    return obj


def _normalised(value: Any, name: str = "") -> Any:
    if name in ("nominalQuota", "borrowingLimit", "lendingLimit", "weight") and isinstance(value, int | str):
        return canonical(value)
    if isinstance(value, dict):
        return {key: _normalised(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_normalised(inner) for inner in value]
    return value


def _schema(kind: Kind, name: str, obj: Obj, old: Obj | None) -> None:
    node = kind.spec.get(kind.stored)
    if node is None:
        return
    spec = obj.get("spec", {})
    causes = list(broken(spec, node, "spec"))
    if causes:
        if kind.kind in ("ClusterQueue", "Cohort", "LocalQueue", "Workload"):
            causes.append(status.NOT_CHECKED)
    else:
        causes = rules.expressions(kind.kind, spec)
        if old is not None:
            causes += rules.immutable(kind.kind, old.get("spec", {}), spec)
    if causes:
        raise status.invalid(kind.group, kind.kind, name, causes)


def _validated(cluster: Cluster, kind: Kind, obj: Obj, old: Obj | None) -> None:
    if kind.kind not in _VALIDATED:
        return
    webhook = _VALIDATED[kind.kind]
    if not cluster.kueue_up:
        raise status.webhook_down(webhook, _webhook_path(kind, "validate"))
    if kind.kind == "Workload":
        return
    causes = rules.webhook(kind.kind, obj.get("spec", {}), old.get("spec", {}) if old else None)
    if causes:
        raise status.denied(webhook, status.joined(causes))
