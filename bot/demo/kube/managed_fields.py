"""Who wrote which field: `metadata.managedFields`, for updates and for server-side apply.

A set of fields is a set of paths; a path is a tuple of FieldsV1 keys ('f:spec', 'f:cohortName'). Lists in `.spec` are
atomic, lists in `.status` are keyed by `type` or `name`. Called by writes.py, apply.py and the controller.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Obj = dict[str, Any]
Path = tuple[str, ...]
_MISSING = object()
_CONTAINER = object()
"""The value of a map or keyed list that has something in it: only its presence counts."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes: the manager's name, Update or Apply, through which version, to which subresource, at what time
    (RFC 3339).
    """

    manager: str
    operation: str
    api_version: str
    time: str
    subresource: str = ""

    def entry(self, paths: set[Path]) -> Obj:
        entry: Obj = {
            "apiVersion": self.api_version,
            "fieldsType": "FieldsV1",
            "fieldsV1": _tree(paths),
            "manager": self.manager,
            "operation": self.operation,
        }
        if self.subresource:
            entry["subresource"] = self.subresource
        return {**entry, "time": self.time}

    def owns(self, entry: Obj) -> bool:
        theirs = (entry["manager"], entry["operation"], entry["apiVersion"], entry.get("subresource", ""))
        return theirs == (self.manager, self.operation, self.api_version, self.subresource)


def updated(old: Obj | None, new: Obj, writer: Writer) -> list[Obj]:
    """managedFields after an update: what changed belongs to the writer alone, what vanished to nobody."""
    before = dict(_fields(old, writer.subresource)) if old else {}
    after = dict(_fields(new, writer.subresource))
    changed = {path for path, value in after.items() if before.get(path, _MISSING) != value}
    removed = before.keys() - after.keys()
    entries = (old or new)["metadata"].get("managedFields", [])
    if not changed and not removed:
        return list(entries)
    return _reassigned(entries, writer, changed, changed | removed)


def _reassigned(entries: list[Obj], writer: Writer, gained: set[Path], lost: set[Path]) -> list[Obj]:
    mine, rest = set(gained), []
    for entry in entries:
        paths = owned(entry)
        if writer.owns(entry):
            mine |= paths - (lost - gained)
        elif left := paths - lost:
            rest.append(entry if left == paths else {**entry, "fieldsV1": _tree(left)})
    return rest + ([writer.entry(mine)] if mine else [])


def owned(entry: Obj) -> set[Path]:
    """The paths of one managedFields entry."""
    return set(_paths(entry["fieldsV1"], ()))


def applied(entries: list[Obj], writer: Writer, config: set[Path], forced: set[Path]) -> list[Obj]:
    """managedFields after an apply: exactly the configuration belongs to the writer, what was forced is taken from
    the others.
    """
    rest = []
    for entry in entries:
        if writer.owns(entry):
            continue
        paths = owned(entry)
        if left := paths - forced:
            rest.append(entry if left == paths else {**entry, "fieldsV1": _tree(left)})
    return [writer.entry(config), *rest] if config else rest


def fields(obj: Obj) -> dict[Path, object]:
    """Every leaf of the object's annotations, labels and spec with its value: what an applied configuration owns."""
    return {path: value for path, value in _fields(obj, "") if value is not _CONTAINER}


def _fields(obj: Obj, subresource: str) -> Iterator[tuple[Path, object]]:
    if subresource == "status":
        if "status" in obj:
            yield from _walk(obj["status"], ("f:status",), keyed=True)
        return
    for name in ("annotations", "labels"):
        if obj["metadata"].get(name):
            yield from _walk(obj["metadata"][name], ("f:metadata", f"f:{name}"), keyed=False)
    for name in obj:
        if name not in ("metadata", "status", "apiVersion", "kind"):
            yield from _walk(obj[name], (f"f:{name}",), keyed=False)


def _walk(value: object, path: Path, *, keyed: bool) -> Iterator[tuple[Path, object]]:
    if isinstance(value, dict) and value:
        yield path, _CONTAINER
        for name, inner in value.items():
            yield from _walk(inner, (*path, f"f:{name}"), keyed=keyed)
    elif keyed and isinstance(value, list) and (key := _list_key(value)):
        yield path, _CONTAINER
        for item in value:
            named = f"k:{json.dumps({key: item[key]}, separators=(',', ':'))}"
            yield from _walk(item, (*path, named), keyed=True)
    else:
        yield path, value


def _list_key(value: list[Any]) -> str:
    for key in ("type", "name"):
        if value and all(isinstance(item, dict) and key in item for item in value):
            return key
    return ""


def _tree(paths: set[Path]) -> Obj:
    tree: Obj = {}
    for path in sorted(paths):
        at = tree
        for part in path:
            at = at.setdefault(part, {})
        at["."] = {}
    return _leaves(tree)


def _leaves(tree: Obj) -> Obj:
    """'.' marks a map that is itself owned; a leaf needs none."""
    return {part: {} if set(inner) == {"."} or not inner else _leaves(inner) for part, inner in tree.items()}


def _paths(tree: Obj, path: Path) -> Iterator[Path]:
    for part, inner in tree.items():
        if part == ".":
            yield path
        elif inner:
            yield from _paths(inner, (*path, part))
        else:
            yield (*path, part)
