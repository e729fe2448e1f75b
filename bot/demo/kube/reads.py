"""Get, list in pages, and watch. Called by api.py; `Watch` is also what the HTTP server streams from."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from bot.demo.kube import status
from bot.demo.kube.cluster import Cluster
from bot.demo.kube.gate import shown
from bot.demo.kube.route import Target
from bot.demo.kube.selectors import Matches, matcher
from bot.demo.kube.store import Change, key_of

Obj = dict[str, Any]
TRUE = ("1", "t", "T", "true", "TRUE", "True")
"""What the server takes for true in a query."""
_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. "
    "You can start a new list without the continue parameter, or use the continue token in this response "
    "to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - "
    "objects that were created, modified, or deleted between the time the first chunk was returned and now "
    "may show up in the list."
)


def get(cluster: Cluster, target: Target) -> Obj:
    obj = cluster.store.get(target.kind, target.namespace, target.name)
    if obj is None:
        raise status.not_found(target.kind.group, target.kind.plural, target.name)
    return shown(cluster, target.kind, obj, target.version)


def list_(cluster: Cluster, target: Target, query: Mapping[str, str]) -> Obj:
    """A page of the collection. All pages of one list show the same moment; 410 once that is no longer kept."""
    kind = target.kind
    version, after = cluster.store.version, ("", "")
    if query.get("continue"):
        version, after = _continued(cluster, query["continue"])
    elif query.get("resourceVersionMatch") == "Exact":
        version = _number(query, "resourceVersion")
        if version < cluster.store.compacted:
            raise status.ApiError(410, status.gone(version, cluster.store.compacted))
    matches = _matcher(target, query)
    past = version != cluster.store.version
    stored = cluster.store.at(kind, version, target.namespace) if past else cluster.store.all(kind, target.namespace)
    found = [obj for obj in stored if key_of(obj) > after and matches(obj)]
    limit = _number(query, "limit")
    page = found[:limit] if limit else found
    meta: Obj = {"resourceVersion": str(version)}
    if len(page) < len(found):
        meta["continue"] = _token(version, key_of(page[-1]))
        meta["remainingItemCount"] = len(found) - len(page)
    return {
        "apiVersion": kind.api_version(target.version),
        "kind": f"{kind.kind}List",
        "metadata": meta,
        "items": [_item(cluster, target, obj) for obj in page],
    }


def _item(cluster: Cluster, target: Target, obj: Obj) -> Obj:
    """An entry of a list: built-in kinds come without apiVersion and kind."""
    obj = shown(cluster, target.kind, obj, target.version, cached=True)
    if target.kind.custom:
        return obj
    return {name: value for name, value in obj.items() if name not in ("apiVersion", "kind")}


def _matcher(target: Target, query: Mapping[str, str]) -> Matches:
    fields = query.get("fieldSelector", "")
    if target.name:
        fields = f"metadata.name={target.name}"
    return matcher(target.kind, target.version, query.get("labelSelector", ""), fields)


def _number(query: Mapping[str, str], name: str) -> int:
    value = query.get(name) or "0"
    if not (value.isascii() and value.isdigit()):
        raise status.bad_request(f'{name}: Invalid value: "{value}": must be a number')
    return int(value)


def _token(version: int, last: tuple[str, str]) -> str:
    token = {"v": "meta.k8s.io/v1", "rv": version, "start": list(last)}
    return base64.urlsafe_b64encode(json.dumps(token).encode()).decode().rstrip("=")


def _continued(cluster: Cluster, token: str) -> tuple[int, tuple[str, str]]:
    try:
        fields = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
        version, (namespace, name) = int(fields["rv"]), fields["start"]
    except (ValueError, KeyError, TypeError):
        raise status.bad_request("continue key is not valid: illegal base64 data") from None
    if version < 0:
        return cluster.store.version, (namespace, name)
    if version < cluster.store.compacted:
        gone = status.status(410, "Expired", _EXPIRED)
        gone["metadata"] = {"continue": _token(-1, (namespace, name))}
        raise status.ApiError(410, gone)
    return version, (namespace, name)


class Watch:
    """One watch: `pending` gives what happened since it was last asked. It does not wait; whoever streams it does.

    `ended` is set after an ERROR event: the server closes the stream then.
    """

    def __init__(self, cluster: Cluster, target: Target, query: Mapping[str, str]) -> None:
        self.cluster = cluster
        self.target = target
        self.bookmarks = query.get("allowWatchBookmarks") in TRUE
        self.timeout = _number(query, "timeoutSeconds")
        self.ended = False
        self._matches = _matcher(target, query)
        self._position = _number(query, "resourceVersion")
        self._first: list[Obj] = []
        if self._position == 0:
            stored = cluster.store.all(target.kind, target.namespace)
            self._first = [self._event("ADDED", obj) for obj in stored if self._matches(obj)]
            self._position = cluster.store.version

    def pending(self) -> list[Obj]:
        """New events, oldest first. A start that is no longer kept gives one ERROR event with a 410."""
        if self.ended:
            return []
        if self.expired:
            self.ended = True
            return [{"type": "ERROR", "object": status.gone(self._position, self.cluster.store.compacted)}]
        events, self._first = self._first, []
        for change in self.cluster.store.since(self.target.kind, self._position):
            if event := self._seen(change):
                events.append(event)
        self._position = max(self._position, self.cluster.store.version)
        return events

    @property
    def expired(self) -> bool:
        return self._position < self.cluster.store.compacted

    def bookmark(self) -> Obj:
        """A BOOKMARK at the current resource version; ask for `pending` first."""
        kind, version = self.target.kind, str(self._position)
        meta = {"resourceVersion": version, "creationTimestamp": None}
        obj = {"apiVersion": kind.api_version(self.target.version), "kind": kind.kind, "metadata": meta}
        return {"type": "BOOKMARK", "object": obj}

    def _seen(self, change: Change) -> Obj | None:
        """The change as this watch sees it: leaving the selection is DELETED, entering it ADDED."""
        if self.target.namespace and key_of(change.obj)[0] != self.target.namespace:
            return None
        before = change.old is not None and self._matches(change.old)
        after = change.type != "DELETED" and self._matches(change.obj)
        if after:
            return self._event("MODIFIED" if before else "ADDED", change.obj)
        return self._event("DELETED", change.obj) if before else None

    def _event(self, kind: str, obj: Obj) -> Obj:
        return {"type": kind, "object": shown(self.cluster, self.target.kind, obj, self.target.version, cached=True)}
