"""The quotas of a ClusterQueue that change, as a unified diff of YAML: what somebody is to change in Git.

Only the entries that change are in it, with the names above them that tell where they stand. Used by views/proposals.
"""

import json
import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import groupby
from typing import Protocol

from bot.core.convergence.facts import FieldName

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9./_-]*")
_NO_TEXT = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})
"""What YAML takes for something else."""


class Change(Protocol):
    """One number before and after; None: not set. The lendingLimit follows a nominalQuota, both None: there is none."""

    @property
    def flavor(self) -> str: ...
    @property
    def resource(self) -> str: ...
    @property
    def name(self) -> FieldName: ...
    @property
    def before(self) -> int | None: ...
    @property
    def after(self) -> int | None: ...
    @property
    def lending_before(self) -> int | None: ...
    @property
    def lending_after(self) -> int | None: ...


def difference(queue: str, changes: Sequence[Change]) -> str:
    """`--- now`, `+++ proposed`, and every line of the excerpt, changed ones marked."""
    ordered = sorted(changes, key=lambda one: (one.flavor, one.resource, one.name != FieldName.NOMINAL))
    before, after = list(_excerpt(queue, ordered, old=True)), list(_excerpt(queue, ordered, old=False))
    return "\n".join(unified_diff(before, after, "now", "proposed", n=len(before) + len(after), lineterm=""))


def _excerpt(queue: str, changes: Sequence[Change], *, old: bool) -> Iterator[str]:
    yield from ("kind: ClusterQueue", "metadata:", f"  name: {_name(queue)}", "spec:", "  resourceGroups:")
    yield "  - flavors:"
    for flavor, of_flavor in groupby(changes, lambda one: one.flavor):
        yield f"    - name: {_name(flavor)}"
        yield "      resources:"
        for resource, entry in groupby(of_flavor, lambda one: one.resource):
            yield f"      - name: {_name(resource)}"
            for one in entry:
                yield from _numbers(one, old=old)


def _numbers(one: Change, *, old: bool) -> Iterator[str]:
    key = "nominalQuota" if one.name is FieldName.NOMINAL else "borrowingLimit"
    numbers = {key: one.before if old else one.after, "lendingLimit": one.lending_before if old else one.lending_after}
    for name, number in numbers.items():
        if number is not None:
            yield f"        {name}: {number}"


def _name(name: str) -> str:
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _NO_TEXT
    return name if is_plain else json.dumps(name)
