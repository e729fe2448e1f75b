"""What the server demands of an object's metadata, and what it fills in itself. Called by writes.py."""

import re
from typing import Any

from bot.demo.kube import status
from bot.demo.kube.cluster import Cluster
from bot.demo.kube.kinds import DNS_SUBDOMAIN
from bot.demo.kube.route import Target

Obj = dict[str, Any]
_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character"
)
_OWNER = ("apiVersion", "kind", "name", "uid")
_TEXTS = ("name", "namespace", "generateName", "uid", "resourceVersion")
_OTHERS = (
    *(
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "managedFields",
        "selfLink",
    ),
    *("labels", "annotations", "ownerReferences", "finalizers"),
)
_KNOWN = frozenset(_TEXTS + _OTHERS)


def readable(meta: Any) -> Obj:
    """The metadata, if its fields have the types they must have. Raises 400.

    Null and empty maps and lists come out absent, as the server writes them: the last annotation takes the map with it.
    """
    if not isinstance(meta, dict):
        raise status.bad_request("metadata must be an object")
    fields: Obj = {name: value for name, value in meta.items() if value not in (None, {}, [])}
    for name in _TEXTS:
        _must(isinstance(fields.get(name, ""), str), name, "string")
    for name in ("labels", "annotations"):
        pairs = fields.get(name, {})
        _must(isinstance(pairs, dict) and all(isinstance(v, str) for v in pairs.values()), name, "map of strings")
    finalizers = fields.get("finalizers", [])
    _must(isinstance(finalizers, list) and all(isinstance(f, str) for f in finalizers), "finalizers", "list of strings")
    owners = fields.get("ownerReferences", [])
    _must(isinstance(owners, list) and all(map(_is_owner, owners)), "ownerReferences", "list of owners")
    return fields


def unknown(meta: Obj) -> list[str]:
    """Fields that metadata does not have."""
    return [f"metadata.{name}" for name in meta if name not in _KNOWN]


def _is_owner(owner: Any) -> bool:
    return isinstance(owner, dict) and all(isinstance(owner.get(name), str) for name in _OWNER)


def _must(holds: bool, name: str, wanted: str) -> None:
    if not holds:
        raise status.bad_request(f"unable to decode: ObjectMeta.{name} must be a {wanted}")


def new(cluster: Cluster, target: Target, meta: Obj) -> Obj:
    """The metadata of an object about to be created in the target's collection."""
    uid, kind = cluster.new_uid(), target.kind
    name = meta.get("name") or (f"{meta['generateName']}{uid[:5]}" if meta.get("generateName") else "")
    if not name:
        causes = [status.required("metadata.name", "name or generateName is required")]
        raise status.invalid(kind.group, kind.kind, "", causes)
    if not re.match(DNS_SUBDOMAIN, name):
        causes = [status.bad_value("metadata.name", name, _SUBDOMAIN)]
        raise status.invalid(kind.group, kind.kind, name, causes)
    if meta.get("resourceVersion"):
        raise status.bad_request("resourceVersion should not be set on objects to be created")
    meta = {key: value for key, value in meta.items() if key not in ("managedFields", "namespace", "deletionTimestamp")}
    if kind.namespaced:
        meta["namespace"] = target.namespace
    counted = {"generation": 1} if kind.counts else {}
    return {**meta, "name": name, "creationTimestamp": cluster.now(), **counted, "uid": uid}


def namespace_of(cluster: Cluster, target: Target, meta: Obj) -> None:
    """The body's namespace must be the path's, and exist."""
    if not target.kind.namespaced:
        return
    if not target.namespace or meta.get("namespace", target.namespace) != target.namespace:
        raise status.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if cluster.get("namespaces", "", target.namespace) is None:
        raise status.not_found("", "namespaces", target.namespace)


def preconditions(target: Target, old: Obj, body: Any) -> None:
    """A delete's uid and resourceVersion must be the live ones. Raises 409."""
    asked = body.get("preconditions") if isinstance(body, dict) else None
    for name, words in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        wanted, has = asked.get(name) if isinstance(asked, dict) else None, old["metadata"][name]
        if wanted and wanted != has:
            text = f"Precondition failed: {words} in precondition: {wanted}, {words} in object meta: {has}"
            raise status.conflict(target.kind.group, target.kind.plural, target.name, text)
