"""The stored objects and the log of every change, as etcd keeps them: one counter of resource versions for everything.

Objects in the store are never changed in place; a write stores a new one. `log` is what watches, paged lists and
the recorder read.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bot.demo.kube.kinds import Kind

Obj = dict[str, Any]
Key = tuple[str, str]
FIRST = 400
"""The resource version of an empty store: above 1, so that a watch from 1 is too old, as on a real server."""


@dataclass(frozen=True, slots=True)
class Change:
    """One write. `type` is ADDED, MODIFIED or DELETED; `obj` the object after it (before it, when deleted), with
    its new version.
    """

    version: int
    type: str
    plural: str
    obj: Obj
    old: Obj | None
    manager: str


def key_of(obj: Obj) -> Key:
    meta = obj["metadata"]
    return meta.get("namespace", ""), meta["name"]


class Store:
    """Objects by plural and (namespace, name). `version` is the last resource version, `compacted` the oldest a
    watch may ask for,
    `born` the version at which each uid was created: the order of creation within one second."""

    def __init__(self) -> None:
        self.version = FIRST
        self.compacted = FIRST
        self.log: list[Change] = []
        self.born: dict[str, int] = {}
        self._objects: dict[str, dict[Key, Obj]] = {}
        self._by_kind: dict[str, list[Change]] = {}

    def get(self, kind: Kind | str, namespace: str, name: str) -> Obj | None:
        return self._of(kind).get((namespace, name))

    def all(self, kind: Kind | str, namespace: str = "") -> list[Obj]:
        """Every object of the kind (of the namespace), in the order of a list."""
        found = self._of(kind)
        return [found[key] for key in sorted(found) if not namespace or key[0] == namespace]

    def put(self, kind: Kind, obj: Obj, manager: str) -> Obj:
        """Store the object under the next resource version and return it as stored."""
        objects = self._of(kind)
        old = objects.get(key_of(obj))
        self.version += 1
        stored = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
        objects[key_of(obj)] = stored
        self.born.setdefault(stored["metadata"]["uid"], self.version)
        self._record(Change(self.version, "MODIFIED" if old else "ADDED", kind.plural, stored, old, manager))
        return stored

    def remove(self, kind: Kind, namespace: str, name: str, manager: str) -> Obj:
        """Take the object out; the DELETED change carries its last state under a new resource version."""
        old = self._of(kind).pop((namespace, name))
        self.version += 1
        last = {**old, "metadata": {**old["metadata"], "resourceVersion": str(self.version)}}
        self._record(Change(self.version, "DELETED", kind.plural, last, old, manager))
        return last

    def since(self, kind: Kind | str, version: int) -> list[Change]:
        """Changes of the kind after the resource version, oldest first."""
        log = self._by_kind.get(_plural(kind), [])
        return log[bisect_right(log, version, key=_version) :]

    def at(self, kind: Kind, version: int, namespace: str = "") -> list[Obj]:
        """The objects as they were at a past resource version: what the later pages of a list show."""
        found = dict(self._of(kind))
        for change in reversed(self.since(kind, version)):
            key = key_of(change.obj)
            if change.old is None:
                found.pop(key, None)
            else:
                found[key] = change.old
        return [found[key] for key in sorted(found) if not namespace or key[0] == namespace]

    def compact(self) -> None:
        """Forget the past: watches and list continuations from before now are answered with 410."""
        self.compacted = self.version

    def history(self, plural: str) -> Iterator[Change]:
        return iter(self._by_kind.get(plural, []))

    def _record(self, change: Change) -> None:
        self.log.append(change)
        self._by_kind.setdefault(change.plural, []).append(change)

    def _of(self, kind: Kind | str) -> dict[Key, Obj]:
        return self._objects.setdefault(_plural(kind), {})


def _plural(kind: Kind | str) -> str:
    return kind if isinstance(kind, str) else kind.plural


def _version(change: Change) -> int:
    return change.version
