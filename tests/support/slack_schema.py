"""Whatever the bot shows in Slack against the JSON Schemas of tests/slack_schema, which hold Slack's published limits.

`broken` and `broken_view` look at one thing; tests/support/slack_watch shows them all that the bot sends in any test.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend
from referencing import Registry

from bot.core.messages import Message, Modal
from bot.views.modal_json import modal_json

SCHEMAS = Path(__file__).parent.parent / "slack_schema"
Kind = Literal["message", "modal", "home"]
"""Each has a schema of its name."""


class Broken(NamedTuple):
    """One limit that is not kept, and where: a JSON pointer into what was sent."""

    path: str
    why: str


def schemas() -> dict[str, dict[str, Any]]:
    """The schemas by the names of their files."""
    found = sorted(SCHEMAS.glob("*.schema.json"))
    return {path.name.partition(".")[0]: json.loads(path.read_text()) for path in found}


def broken(kind: Kind, sent: Mapping[str, Any]) -> list[Broken]:
    """Everything in it that Slack would not take, sorted by where."""
    key = (kind, _likeness(sent))
    if key in _SOUND:
        return []
    found = {Broken(_pointer(error.absolute_path), error.message[:200]) for error in _validator(kind).iter_errors(sent)}
    if not found:
        _remember(key)
    return sorted(found)


def broken_view(shown: Message | Modal) -> list[Broken]:
    """The same for what a view made."""
    if isinstance(shown, Modal):
        return broken("modal", modal_json(shown))
    return broken("message", {"text": shown.text, "blocks": list(shown.blocks)})


def _pointer(path: Iterable[str | int]) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


_SOUND: set[tuple[str, object]] = set()
"""Messages, blocks, and what these are made of, that were found sound: the same ones come again and again, and looking
takes some milliseconds."""
REMEMBERED = ("urn:slack:blocks#/$defs/in_", "urn:slack:elements#/$defs/element", "#/$defs/part", "#/$defs/inline")
_MOST_REMEMBERED = 10_000
ANY_TEXT = frozenset({"text", "value", "block_id", "action_id", "fallback"})
"""Strings of which the schemas say how long they may be and nothing else (a test holds them to it)."""


def _likeness(node: Any, key: str = "") -> object:
    """The same for blocks that differ only in instants, and in texts between the same bounds: they are equally sound.

    Type names are in it because True is 1.
    """
    if isinstance(node, str):
        return _between(len(node)) if key in ANY_TEXT else node
    if isinstance(node, dict):
        return tuple([(name, _likeness(value, name)) for name, value in node.items()])
    if isinstance(node, list | tuple):
        return ("list", *[_likeness(one) for one in node])
    if type(node) is int and key == "timestamp":
        return int
    return type(node), node


@cache
def _between(number: int) -> tuple[int, int]:
    """Which bounds of the schemas are below a number, and which are not above it."""
    return bisect_left(_bounds(), number), bisect_right(_bounds(), number)


@cache
def _bounds() -> list[int]:
    """Every length at which some schema draws a line."""
    return sorted({number for key, number in all_keys(schemas()) if key in {"minLength", "maxLength"}})


def all_keys(node: Any) -> Iterator[tuple[str, Any]]:
    """Every key of every object in it, at any depth, with what stands there."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield str(key), value
        yield from all_keys(value)


def _ref(validator: Validator, ref: str, instance: Any, schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    """As `$ref` always is, but a block that is known is not looked at again."""
    follow = Draft202012Validator.VALIDATORS["$ref"]
    if not ref.startswith(REMEMBERED):
        yield from follow(validator, ref, instance, schema)
        return
    key = (ref, _likeness(instance))
    if key not in _SOUND:
        errors = list(follow(validator, ref, instance, schema))
        if not errors:
            _remember(key)
        yield from errors


def _remember(key: tuple[str, object]) -> None:
    if len(_SOUND) >= _MOST_REMEMBERED:
        _SOUND.clear()
    _SOUND.add(key)


@cache
def _validator(kind: Kind) -> Validator:
    known = schemas()
    registry = Registry().with_contents((schema["$id"], schema) for schema in known.values())
    return extend(Draft202012Validator, {"$ref": _ref})(known[kind], registry=registry)
