"""Structural schemas, as a CustomResourceDefinition has them: what is unknown, what is defaulted, what is invalid.

A schema is a tree of `Node`. The three walks are `unknown` (with pruning), `defaulted` and `broken`; they return new
objects and never change what they are given. The trees for Kueue's kinds are in kinds.py, rules between fields in
rules.py.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.demo.kube.quantity import PATTERN, parse
from bot.demo.kube.status import Cause, bad_value, duplicate, required, rule_broken, unsupported

Json = Any
_QUANTITY_HINT = f"should match '{PATTERN}'"
_GO_TYPE = {"str": "string", "int": "integer", "bool": "boolean", "float": "number", "list": "array", "dict": "object"}
_PYTHON: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "quantity": (int, str),
}


@dataclass(frozen=True, slots=True)
class Node:
    """One field. `open` objects keep whatever they contain; `values` is the schema of a map's values."""

    type: str
    fields: Mapping[str, "Node"] = field(default_factory=dict)
    items: "Node | None" = None
    required: tuple[str, ...] = ()
    enum: tuple[str, ...] = ()
    pattern: str = ""
    length: tuple[int, int] | None = None
    keys: tuple[str, ...] = ()
    default: Json = None
    open: bool = False
    values: "Node | None" = None


def text(enum: tuple[str, ...] = (), default: str | None = None, pattern: str = "", longest: int | None = None) -> Node:
    length = (0, longest) if longest else None
    return Node("string", enum=enum, default=default, pattern=pattern, length=length)


def obj(_must: tuple[str, ...] = (), _default: Json = None, /, **fields: Node) -> Node:
    """An object with these fields: those that must be there, what it is when absent, then the fields by name."""
    return Node("object", fields=fields, required=_must, default=_default)


def loose(_must: tuple[str, ...] = (), /, **fields: Node) -> Node:
    """An object that may have more fields than these, which alone are checked."""
    return Node("object", fields=fields, required=_must, open=True)


def items(of: Node, fewest: int = 0, most: int = 1000, keys: tuple[str, ...] = ()) -> Node:
    return Node("array", items=of, length=(fewest, most), keys=keys)


STRING = text()
INTEGER = Node("integer")
BOOLEAN = Node("boolean")
QUANTITY = Node("quantity")
ANYTHING = Node("any", open=True)
OPEN = Node("object", open=True)
LABELS = Node("object", open=True, values=STRING)
SELECTOR = obj(
    matchLabels=LABELS,
    matchExpressions=items(
        obj(
            ("key", "operator"),
            key=STRING,
            operator=text(enum=("In", "NotIn", "Exists", "DoesNotExist")),
            values=items(STRING),
        )
    ),
)


def pruned(value: Json, node: Node, path: str = "") -> tuple[Json, list[str]]:
    """The value without fields the schema does not know, and the paths of those that were dropped."""
    if node.open:
        return value, []
    if isinstance(value, dict) and node.type == "object":
        return _pruned_object(value, node, path)
    if isinstance(value, list) and node.items is not None:
        kept, dropped = [], []
        for index, item in enumerate(value):
            inner, lost = pruned(item, node.items, f"{path}[{index}]")
            kept.append(inner)
            dropped += lost
        return (kept if dropped else value), dropped
    return value, []


def _pruned_object(value: dict[str, Json], node: Node, path: str) -> tuple[Json, list[str]]:
    kept: dict[str, Json] = {}
    dropped: list[str] = []
    for name, inner in value.items():
        at = f"{path}.{name}" if path else name
        if name not in node.fields:
            dropped.append(at)
            continue
        kept[name], lost = pruned(inner, node.fields[name], at)
        dropped += lost
    return (kept if dropped else value), dropped


def defaulted(value: Json, node: Node) -> Json:
    """The value with the schema's defaults where a field is absent; the same object when nothing was missing."""
    if isinstance(value, dict) and node.type == "object":
        changed = dict(value)
        for name, inner in node.fields.items():
            if inner.default is not None and changed.get(name) is None:
                changed[name] = inner.default
            if name in changed:
                changed[name] = defaulted(changed[name], inner)
        return value if changed == value else changed
    if isinstance(value, list) and node.items is not None:
        new = [defaulted(item, node.items) for item in value]
        return value if new == value else new
    return value


def broken(value: Json, node: Node, path: str = "") -> Iterator[Cause]:
    """Everything that makes the value invalid by type, enum, pattern, length, uniqueness or absence."""
    if node.type == "any":
        return
    if not _has_type(value, node):
        yield _wrong_type(value, node, path)
    elif node.type == "object":
        yield from _broken_object(value, node, path)
    elif node.type == "array":
        yield from _broken_list(value, node, path)
    else:
        yield from _broken_scalar(value, node, path)


def _has_type(value: Json, node: Node) -> bool:
    return isinstance(value, _PYTHON[node.type]) and (node.type == "boolean" or not isinstance(value, bool))


def _wrong_type(value: Json, node: Node, path: str) -> Cause:
    got = "null" if value is None else _GO_TYPE.get(type(value).__name__, "object")
    wanted = "integer,string" if node.type == "quantity" else node.type
    return Cause(
        path, "FieldValueTypeInvalid", f'Invalid value: "{got}": {path} in body must be of type {wanted}: "{got}"'
    )


def _broken_object(value: dict[str, Json], node: Node, path: str) -> Iterator[Cause]:
    for name in node.required:
        if value.get(name) is None:
            yield required(f"{path}.{name}" if path else name)
    for name, inner in value.items():
        if node.values is not None:
            yield from broken(inner, node.values, f"{path}.{name}")
        if name in node.fields and (inner is not None or name not in node.required):
            yield from broken(inner, node.fields[name], f"{path}.{name}" if path else name)


def _broken_list(value: list[Json], node: Node, path: str) -> Iterator[Cause]:
    fewest, most = node.length or (0, len(value))
    if len(value) > most:
        yield Cause(path, "FieldValueTooMany", f"Too many: {len(value)}: must have at most {most} items")
    if len(value) < fewest:
        yield bad_value(path, len(value), f"{path} in body should have at least {fewest} items")
    if node.items is None:
        return
    seen: set[tuple[Json, ...]] = set()
    for index, item in enumerate(value):
        yield from broken(item, node.items, f"{path}[{index}]")
        if node.keys and isinstance(item, dict):
            key = tuple(str(item.get(name)) for name in node.keys)
            if key in seen:
                yield duplicate(f"{path}[{index}]", {name: item.get(name) for name in node.keys})
            seen.add(key)


def _broken_scalar(value: Json, node: Node, path: str) -> Iterator[Cause]:
    if node.type == "quantity":
        try:
            parse(value)
        except ValueError:
            yield bad_value(path, value, f"{path} in body {_QUANTITY_HINT}")
    if node.enum and value not in node.enum:
        yield unsupported(path, value, node.enum)
    if node.pattern and not re.match(node.pattern, value):
        yield bad_value(path, value, f"{path} in body should match '{node.pattern}'")
    if node.length and isinstance(value, str) and len(value) > node.length[1]:
        yield rule_broken(path, f"Too long: may not be more than {node.length[1]} bytes")
