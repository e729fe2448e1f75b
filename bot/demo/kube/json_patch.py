"""JSON Patch (RFC 6902), as the API server applies it.

One measured deviation from the RFC: `replace` of an absent member of an object adds it (an index outside a list still
fails). Comparison is by JSON type and value: `8` and `"8"` differ, `true` and `1` differ.
"""

from typing import Any

Doc = Any

OPERATIONS = frozenset({"add", "remove", "replace", "move", "copy", "test"})


class PatchError(Exception):
    """The patch does not apply; nothing was changed."""


def apply(document: Doc, operations: list[Any]) -> Doc:
    """A changed copy of `document`, sharing untouched parts with it. Raises `PatchError`; `document` itself never
    changes.
    """
    for operation in operations:
        if not isinstance(operation, dict) or operation.get("op") not in OPERATIONS:
            raise PatchError("unexpected operation")
        document = _one(document, operation)
    return document


def same(left: Doc, right: Doc) -> bool:
    """Equality of JSON values; numbers compare by value, but a number is never a string or a truth value."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    return bool(left == right)


def _one(document: Doc, operation: dict[str, Any]) -> Doc:
    kind, path = operation["op"], pointer(operation.get("path"))
    if kind == "test":
        if not same(_read(document, path, absent_is_null=True), operation.get("value")):
            raise PatchError("test failed")
        return document
    if kind == "remove":
        return _write(document, path, _REMOVE)
    if kind in ("add", "replace"):
        if "value" not in operation:
            raise PatchError("no value")
        return _write(document, path, _Put(operation["value"], insert=kind == "add"))
    source = pointer(operation.get("from"))
    value = _read(document, source)
    if kind == "move":
        if path[: len(source)] == source and len(path) > len(source):
            raise PatchError("a value cannot move into itself")
        document = _write(document, source, _REMOVE)
    return _write(document, path, _Put(value, insert=True))


def pointer(text: object) -> list[str]:
    """RFC 6901: '/a~1b/0' -> ['a/b', '0']."""
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise PatchError("not a pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


class _Put:
    __slots__ = ("insert", "value")

    def __init__(self, value: Doc, *, insert: bool) -> None:
        self.value = value
        self.insert = insert


_REMOVE = _Put(None, insert=False)


def _index(part: str, last: int) -> int:
    if not part.isascii() or not part.isdigit() or (part[0] == "0" and part != "0") or int(part) > last:
        raise PatchError("no such index")
    return int(part)


def _read(document: Doc, path: list[str], *, absent_is_null: bool = False) -> Doc:
    for depth, part in enumerate(path):
        if isinstance(document, dict):
            if part not in document:
                if absent_is_null and depth == len(path) - 1:
                    return None
                raise PatchError("no such member")
            document = document[part]
        elif isinstance(document, list):
            document = document[_index(part, len(document) - 1)]
        else:
            raise PatchError("not a container")
    return document


def _write(document: Doc, path: list[str], put: _Put) -> Doc:
    if not path:
        if put is _REMOVE:
            raise PatchError("the whole document cannot be removed")
        return put.value
    part, rest = path[0], path[1:]
    if isinstance(document, dict):
        return _write_member(document, part, rest, put)
    if isinstance(document, list):
        return _write_item(document, part, rest, put)
    raise PatchError("not a container")


def _write_member(members: dict[str, Doc], part: str, rest: list[str], put: _Put) -> Doc:
    changed = dict(members)
    if rest:
        if part not in members:
            raise PatchError("no such member")
        changed[part] = _write(members[part], rest, put)
    elif put is _REMOVE:
        if part not in members:
            raise PatchError("no such member")
        del changed[part]
    else:
        changed[part] = put.value
    return changed


def _write_item(items: list[Doc], part: str, rest: list[str], put: _Put) -> Doc:
    changed = list(items)
    if rest:
        at = _index(part, len(items) - 1)
        changed[at] = _write(items[at], rest, put)
    elif put is _REMOVE:
        del changed[_index(part, len(items) - 1)]
    elif put.insert:
        changed.insert(len(items) if part == "-" else _index(part, len(items)), put.value)
    else:
        changed[_index(part, len(items) - 1)] = put.value
    return changed
