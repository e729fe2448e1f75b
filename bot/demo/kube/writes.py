"""Create, update, patch, apply and delete: from a request to a stored object. Called by api.py, after access was
decided.

Nothing is stored unless every step passed; with `dryRun=All` everything runs and nothing is stored.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.demo.kube import apply, json_patch, metadata, status
from bot.demo.kube.cluster import Cluster
from bot.demo.kube.gate import Entry, admitted, shown, stored_form
from bot.demo.kube.managed_fields import Writer, applied, fields, updated
from bot.demo.kube.reads import TRUE
from bot.demo.kube.route import Target

Obj = dict[str, Any]
JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
STRATEGIC = "application/strategic-merge-patch+json"
_FIXED = ("name", "namespace", "uid", "creationTimestamp", "generation", "selfLink", "deletionTimestamp")


@dataclass(frozen=True, slots=True)
class Options:
    """What the query and headers say about a write."""

    content_type: str
    manager: str
    explicit_manager: bool
    dry_run: bool
    validation: str
    force: bool


def options(query: Mapping[str, str], headers: Mapping[str, str], *, custom: bool) -> Options:
    """Read and check them. The manager is `fieldManager`, else the User-Agent up to its first slash."""
    if query.get("dryRun", "All") not in ("All", ""):
        causes = [status.unsupported("dryRun", query["dryRun"], ("All",))]
        raise status.invalid("meta.k8s.io", "PatchOptions", "", causes)
    validation = query.get("fieldValidation", "Warn" if custom else "Ignore")
    if validation not in ("Strict", "Warn", "Ignore"):
        causes = [status.unsupported("fieldValidation", validation, ("Ignore", "Strict", "Warn"))]
        raise status.invalid("meta.k8s.io", "PatchOptions", "", causes)
    agent = headers.get("user-agent", "").split("/")[0] or "unknown"
    return Options(
        content_type=headers.get("content-type", "application/json").split(";")[0].strip(),
        manager=query.get("fieldManager") or agent,
        explicit_manager=bool(query.get("fieldManager")),
        dry_run=query.get("dryRun") == "All",
        validation=validation,
        force=query.get("force") in TRUE,
    )


@dataclass(frozen=True, slots=True)
class Written:
    """What a write answers: the object in the asked version, and warnings for the client."""

    code: int
    obj: Obj
    warnings: list[str]


def create(cluster: Cluster, target: Target, opts: Options, body: Any) -> Written:
    kind = target.kind
    obj = _decoded(target, body)
    given = metadata.readable(obj.get("metadata") or {})
    metadata.namespace_of(cluster, target, given)
    meta = metadata.new(cluster, target, given)
    name, namespace = meta["name"], meta.get("namespace", "")
    obj = {**obj, "metadata": meta}
    if kind.status and kind.kind != "Node":
        obj.pop("status", None)
    entry = Entry(kind, target.version, "POST", opts.validation, name)
    obj, warnings = admitted(cluster, entry, obj, None)
    if cluster.store.get(kind, namespace, name) is not None:
        raise status.already_exists(kind.group, kind.plural, name)
    if opts.content_type == APPLY_PATCH:  # what was not said, such as defaults, belongs to nobody
        owner, said = _writer(cluster, target, opts, "Apply"), set(fields({**body, "metadata": given}))
        obj["metadata"]["managedFields"] = applied([], owner, said, set())
    else:
        obj["metadata"]["managedFields"] = updated(None, obj, _writer(cluster, target, opts, "Update"))
    if not opts.dry_run:
        obj = cluster.store.put(kind, obj, opts.manager)
    return Written(201, shown(cluster, kind, obj, target.version), warnings)


def update(cluster: Cluster, target: Target, opts: Options, body: Any) -> Written:
    """PUT. The body must carry the resource version it is based on (custom resources), and the name of the path."""
    old = _existing(cluster, target)
    obj = _decoded(target, body)
    meta = metadata.readable(obj.get("metadata") or {})
    if meta.get("name") != target.name:
        text = f"the name of the object ({meta.get('name', '')}) does not match the name on the URL ({target.name})"
        raise status.bad_request(text)
    if target.kind.custom and not meta.get("resourceVersion"):
        causes = [status.bad_value("metadata.resourceVersion", 0, "must be specified for an update")]
        raise status.invalid(target.kind.group, target.kind.plural, target.name, causes)
    return _replace(cluster, target, opts, "PUT", old, obj)


def patch(cluster: Cluster, target: Target, opts: Options, body: Any) -> Written:
    accepted = (
        (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
        if target.kind.custom
        else (JSON_PATCH, MERGE_PATCH, STRATEGIC, APPLY_PATCH)
    )
    if opts.content_type not in accepted:
        raise status.unsupported_media_type(accepted)
    if opts.content_type == APPLY_PATCH:
        return _apply(cluster, target, opts, body)
    old = _existing(cluster, target)
    change = _patcher(opts.content_type, body)
    changed = _object(target, change(shown(cluster, target.kind, old, target.version)))
    return _replace(cluster, target, opts, "PATCH", old, changed)


def delete(cluster: Cluster, target: Target, opts: Options, body: Any) -> Written | Obj:
    """Remove it, or mark it while finalizers hold it. The answer is the marked object, or a Success status."""
    old = _existing(cluster, target)
    metadata.preconditions(target, old, body)
    meta = old["metadata"]
    if not meta.get("finalizers"):
        if not opts.dry_run:
            cluster.remove(old, target.kind.plural, opts.manager)
        details = {"name": target.name, "group": target.kind.group, "kind": target.kind.plural, "uid": meta["uid"]}
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}
    if "deletionTimestamp" not in meta:
        marks = {
            "deletionTimestamp": cluster.now(),
            "deletionGracePeriodSeconds": 0,
        }
        if target.kind.counts:
            marks["generation"] = meta["generation"] + 1
        old = {**old, "metadata": {**meta, **marks}}
        if not opts.dry_run:
            old = cluster.store.put(target.kind, old, opts.manager)
    return Written(200, shown(cluster, target.kind, old, target.version), [])


def _existing(cluster: Cluster, target: Target) -> Obj:
    old = cluster.store.get(target.kind, target.namespace, target.name)
    if old is None:
        raise status.not_found(target.kind.group, target.kind.plural, target.name)
    return old


def _decoded(target: Target, body: Any) -> Obj:
    kind, version = target.kind.kind, target.kind.api_version(target.version)
    if not isinstance(body, dict):
        raise status.bad_request(f"the object provided is unrecognized (must be of type {kind})")
    if target.kind.custom and not body.get("kind"):  # only built-in kinds are known by their path
        missing = f"Object 'Kind' is missing in '{json.dumps(body)}'"
        raise status.bad_request(f"the object provided is unrecognized (must be of type {kind}): {missing}")
    got = body.get("apiVersion", "" if target.kind.custom else version)
    if body.get("kind", kind) != kind or got != version:
        raise status.bad_request(
            f"the API version in the data ({got}) does not match the expected API version ({version})"
        )
    return {**body, "apiVersion": version, "kind": kind}


def _writer(cluster: Cluster, target: Target, opts: Options, operation: str) -> Writer:
    version = target.kind.api_version(target.version)
    return Writer(opts.manager, operation, version, cluster.now(), target.subresource)


def _patcher(content_type: str, body: Any) -> Callable[[Obj], Any]:
    if content_type == JSON_PATCH:
        if not isinstance(body, list):
            raise _wrong_patch(body, "[]handlers.jsonPatchOp")
        operations = body
        return lambda current: _patched(current, operations)
    if not isinstance(body, dict):
        raise _wrong_patch(body, "map[string]interface {}")
    return lambda current: apply.merged(current, body)


def _wrong_patch(body: Any, wanted: str) -> status.ApiError:
    got = {list: "array", dict: "object", str: "string", type(None): "null"}.get(type(body), "number")
    return status.bad_request(f"error decoding patch: json: cannot unmarshal {got} into Go value of type {wanted}")


def _patched(current: Obj, operations: list[Any]) -> Any:
    try:
        return json_patch.apply(current, operations)
    except json_patch.PatchError:
        raise status.patch_failed() from None


def _object(target: Target, value: Any) -> Obj:
    """What a patch made, if it is still an object of the kind."""
    if not isinstance(value, dict) or not isinstance(value.get("metadata"), dict):
        raise status.patch_failed()
    for name in ("kind", "apiVersion"):
        if not value.get(name):
            raise status.bad_request(f"Object '{name[0].upper()}{name[1:]}' is missing in the patched object")
    return _decoded(target, value)


def _replace(cluster: Cluster, target: Target, opts: Options, verb: str, old: Obj, obj: Obj) -> Written:
    """Store `obj` (in the asked version) in place of `old` (as stored), unless it came out the same."""
    kind = target.kind
    given = metadata.readable(obj.get("metadata") or {})
    meta = {**given, **{k: old["metadata"][k] for k in _FIXED if k in old["metadata"]}}
    claimed = given.get("uid") or meta["uid"]
    if claimed != meta["uid"]:
        text = f"Precondition failed: UID in precondition: {claimed}, UID in object meta: {meta['uid']}"
        raise status.conflict(kind.group, kind.plural, target.name, text)
    if given.get("resourceVersion") not in (None, "", old["metadata"]["resourceVersion"]):
        raise status.conflict(kind.group, kind.plural, target.name)
    meta["resourceVersion"] = old["metadata"]["resourceVersion"]
    by_apply = opts.content_type == APPLY_PATCH
    if not by_apply:
        meta["managedFields"] = old["metadata"].get("managedFields", [])
    entry = Entry(kind, target.version, verb, opts.validation, target.name)
    obj, warnings = _one_side(cluster, target, entry, old, {**obj, "metadata": meta})
    if kind.counts and obj.get("spec") != old.get("spec"):
        obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
    if not by_apply:
        obj["metadata"]["managedFields"] = updated(old, obj, _writer(cluster, target, opts, "Update"))
    if not opts.dry_run and obj != old:
        obj = cluster.store.put(kind, obj, opts.manager)
        obj = _released(cluster, target, obj, opts)
    return Written(200, shown(cluster, kind, obj, target.version), warnings)


def _one_side(cluster: Cluster, target: Target, entry: Entry, old: Obj, obj: Obj) -> tuple[Obj, list[str]]:
    """`.../status` changes the status alone, everything else all but the status."""
    if target.subresource == "status":
        new = stored_form(cluster, target.kind, obj, target.version)
        kept = {name: value for name, value in old.items() if name != "status"}
        meta = {**old["metadata"], "managedFields": obj["metadata"]["managedFields"]}
        return {**kept, "metadata": meta, "status": new.get("status", {})}, []
    new, warnings = admitted(cluster, entry, obj, old)
    new = dict(new)
    if target.kind.status:
        new.pop("status", None)
        if "status" in old:
            new["status"] = old["status"]
    return new, warnings


def _released(cluster: Cluster, target: Target, obj: Obj, opts: Options) -> Obj:
    """An object marked for deletion goes when its last finalizer is taken away."""
    meta = obj["metadata"]
    if "deletionTimestamp" in meta and not meta.get("finalizers"):
        cluster.remove(obj, target.kind.plural, opts.manager)
    return obj


def _apply(cluster: Cluster, target: Target, opts: Options, body: Any) -> Written:
    if not opts.explicit_manager:
        causes = [status.required("fieldManager", "is required for apply patch")]
        raise status.invalid("meta.k8s.io", "PatchOptions", "", causes)
    config = _decoded(target, body)
    meta = {"name": target.name, **metadata.readable(config.get("metadata") or {})}
    if meta["name"] != target.name:
        raise status.bad_request(f"metadata.name ({meta['name']}) does not match the name on the URL ({target.name})")
    config = {**config, "metadata": meta}
    old = cluster.store.get(target.kind, target.namespace, target.name)
    if old is None:
        return create(cluster, target, opts, config)
    live = shown(cluster, target.kind, old, target.version)
    result = apply.server_side(live, config, _writer(cluster, target, opts, "Apply"), force=opts.force)
    before = live["metadata"].get("managedFields", [])
    if _untimed(result["metadata"]["managedFields"]) == _untimed(before):
        result["metadata"]["managedFields"] = before
    return _replace(cluster, target, opts, "PATCH", old, result)


def _untimed(entries: list[Obj]) -> list[Obj]:
    return [{name: value for name, value in entry.items() if name != "time"} for entry in entries]
