"""Label and field selectors, as lists and watches take them. A selector becomes a predicate over stored objects."""

import re
from collections.abc import Callable
from typing import Any

from bot.demo.kube.kinds import NEW, Kind
from bot.demo.kube.status import bad_request

Obj = dict[str, Any]
Matches = Callable[[Obj], bool]

_EVERYWHERE = ("metadata.name", "metadata.namespace")
_FIELDS: dict[str, tuple[str, ...]] = {
    "pods": ("spec.nodeName", "spec.schedulerName", "spec.restartPolicy", "status.phase"),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "jobs": ("status.successful",),
    "events": (
        *(f"involvedObject.{name}" for name in ("kind", "namespace", "name", "uid", "apiVersion", "fieldPath")),
        "reason",
        "type",
        "reportingComponent",
    ),
}
_SET = re.compile(r"^(\S+)\s+(in|notin)\s+\(([^)]*)\)$")
_TERM = re.compile(r",(?![^(]*\))")


def matcher(kind: Kind, version: str, labels: str, fields: str) -> Matches:
    """Raises 400 for a selector that does not parse or a field the kind does not offer in this version."""
    tests = [_label(term.strip()) for term in _TERM.split(labels) if term.strip()]
    tests += [_field(kind, version, term.strip()) for term in fields.split(",") if term.strip()]
    return lambda obj: all(test(obj) for test in tests)


def _label(term: str) -> Matches:
    if match := _SET.match(term):
        name, how, listed = match.groups()
        values = {value.strip() for value in listed.split(",")}
        return lambda obj: (_labels(obj).get(name) in values) == (how == "in")
    for sign, equal in (("!=", False), ("==", True), ("=", True)):
        name, found, value = term.partition(sign)
        if found:
            return lambda obj: (_labels(obj).get(name.strip()) == value.strip()) == equal
    if term.startswith("!"):
        return lambda obj: term[1:].strip() not in _labels(obj)
    if not re.match(r"^[\w./-]+$", term):
        raise bad_request(f"unable to parse requirement: found '{term}', expected: identifier")
    return lambda obj: term in _labels(obj)


def _labels(obj: Obj) -> Obj:
    labels: Obj = obj["metadata"].get("labels") or {}
    return labels


def _field(kind: Kind, version: str, term: str) -> Matches:
    match = re.match(r"^([^=!]+)(!=|==|=)(.*)$", term)
    if match is None:
        raise bad_request(f"invalid selector: '{term}'; can't understand '{term}'")
    path, sign, value = match.groups()
    offered = _EVERYWHERE + _FIELDS.get(kind.plural, ())
    if kind.plural == "workloads" and version == NEW:
        offered += ("status.admission.clusterQueue",)
    if path not in offered:
        raise bad_request(f"field label not supported: {path}")
    return lambda obj: (_at(obj, path) == value) == (sign != "!=")


def _at(obj: Any, path: str) -> str:
    for part in path.split("."):
        obj = obj.get(part) if isinstance(obj, dict) else None
    return "" if obj is None else str(obj)
