"""YAML for policy files: plain values with the line of each, and none of YAML's surprises. Used by policy_files.

Only mappings, lists and scalars; `yes`, `on`, `18:00` and dates are text. Tags, anchors, aliases, a second document and
a key that is there twice are errors, and so is a file that is too large or too deep to have been written by people.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from bot.core.policy.findings import Where

MOST_BYTES = 500_000
MOST_DEPTH = 20


class BadYaml(Exception):
    """The text cannot be read. `line` counts from 1; None if it is about the whole file."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(slots=True)
class Document:
    """The values of a file, the line of each place in it, and the keys that are there twice."""

    value: Any = None
    lines: dict[Where, int] = field(default_factory=dict)
    twice: list[tuple[int, str]] = field(default_factory=list)

    def line(self, where: Where) -> int | None:
        """The line of a place, or of the nearest thing around it that the file has; None for the whole file."""
        place: Where = ()
        for part in where:
            if (*place, part) in self.lines:
                place = (*place, part)
        return self.lines.get(place)


class _Loader(yaml.SafeLoader):
    """Composes nodes; scalars other than numbers, true, false and null are text."""

    yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012  PyYAML's own shape
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise BadYaml("anchors and aliases (& and *) are not allowed here", line)
        if getattr(event, "tag", None) is not None:
            raise BadYaml(f"tags are not allowed here ({event.tag})", line)
        if self.depth > MOST_DEPTH:
            raise BadYaml(f"more than {MOST_DEPTH} levels deep", line)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


for _name, _pattern, _first in (
    ("bool", r"^(?:true|false)$", ["t", "f"]),
    ("null", r"^(?:~|null|)$", ["~", "n", ""]),
    ("int", r"^-?(?:0|[1-9][0-9]{0,17})$", list("-0123456789")),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(_pattern), _first)


def parse(text: bytes) -> Document:
    """Raises BadYaml with the line."""
    if len(text) > MOST_BYTES:
        raise BadYaml(f"larger than {MOST_BYTES:,} bytes", None)
    try:
        loader = _Loader(text.decode("utf-8-sig"))
        node = loader.get_single_node()
    except UnicodeDecodeError as error:
        raise BadYaml("not UTF-8", text.count(b"\n", 0, error.start) + 1) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadYaml(f"not YAML: {error.problem or error.context}", mark.line + 1 if mark else None) from error
    except yaml.YAMLError as error:
        raise BadYaml(f"not YAML: {' '.join(str(error).split())}", None) from error
    document = Document()
    if node is None:
        raise BadYaml("the file is empty", None)
    document.value = _value(loader, node, (), document)
    return document


def _value(loader: _Loader, node: yaml.Node, where: Where, document: Document) -> Any:
    document.lines.setdefault(where, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        return _mapping(loader, node, where, document)
    if isinstance(node, yaml.SequenceNode):
        return [_value(loader, item, (*where, index), document) for index, item in enumerate(node.value)]
    return loader.construct_object(node)


def _mapping(loader: _Loader, node: yaml.MappingNode, where: Where, document: Document) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise BadYaml("a key must be a single word", line)
        if key.value in values:
            document.twice.append((line, key.value))
            continue
        document.lines[(*where, key.value)] = line
        values[key.value] = _value(loader, value, (*where, key.value), document)
    return values
