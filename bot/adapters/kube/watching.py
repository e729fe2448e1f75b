"""Lists and watches one kind of object over a real API server: Workloads, pods with accelerators, FailedCreate Events.

Implements `bot.ports.watching.Source`. Plain JSON; most lines of a large cluster's watch are of no interest, so each
is looked at no further than it takes to know that: pods without accelerators are not even parsed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson
import structlog

from bot.adapters.kube.client import Answer, KubeApi
from bot.adapters.kube.objects import Json
from bot.adapters.kube.seen import read_event, read_pod, read_workload
from bot.adapters.kube.served import GROUP, failure, kueue_base
from bot.adapters.kube.streams import Stream
from bot.core.errors import Rejected, Unavailable
from bot.core.incidents.facts import Kind, Observed, Wanted
from bot.ports.watching import Expired, News, Page

PAGE = 250
"""Objects in a part of a list: some MB of JSON, so that a list of 50,000 pods is never in memory at once."""
WATCH_SECONDS = 300
"""How long a watch is asked for, give or take a fifth, so that those of many bots do not all come back at once."""
SILENT_SECONDS = 150.0
"""A server sends a bookmark each minute: after so long without a byte the connection is taken for dead."""
_LOOKED_AT = frozenset({"PodScheduled", "DisruptionTarget", "Ready"})

log = structlog.get_logger(__name__)

Read: TypeAlias = Callable[[str, Json, Wanted], Observed | None]


@dataclass(frozen=True, slots=True)
class _Way:
    """Where a kind is, and how it is read."""

    plural: str
    read: Read
    path: str | None = None
    """None: one of Kueue's kinds."""
    query: Mapping[str, str] | None = None


_WAYS: Mapping[Kind, _Way] = {
    Kind.WORKLOAD: _Way(f"workloads.{GROUP}", read_workload),
    Kind.POD: _Way("pods", read_pod, "/api/v1/pods"),
    Kind.EVENT: _Way("events", read_event, "/api/v1/events", {"fieldSelector": "reason=FailedCreate"}),
}


class KubeSource:
    """Implements ports.watching.Source. `chance` gives numbers from 0 to 1."""

    def __init__(self, cluster: str, api: KubeApi, kind: Kind, chance: Callable[[], float]) -> None:
        self.cluster = cluster
        self.kind = kind
        self._api = api
        self._way = _WAYS[kind]
        self._chance = chance
        self._known: dict[str, int] = {}
        """Of pods: uid -> what matters of it, as a number."""
        self._stream: Stream | None = None
        self._stopped = False

    def reset(self) -> None:
        """Give everything again."""
        self._known.clear()

    def stop(self) -> None:
        """End the stream. One that is opened at this moment sees the flag."""
        self._stopped = True
        stream = self._stream
        if stream is not None:
            stream.interrupt()

    def pages(self, wanted: Wanted) -> Iterator[Page]:
        """Without a resourceVersion: what etcd has now, all parts as of one moment."""
        self._known.clear()
        path, query = self._path(), {**(self._way.query or {}), "limit": str(PAGE)}
        while not self._stopped:
            answer = self._api.request("GET", path, query)
            if answer.status != 200:
                raise self._failure(answer, "list")
            metadata = answer.body.get("metadata") or {}
            seen = [one for raw in answer.body.get("items") or () if (one := self._listed(raw, wanted)) is not None]
            yield Page(seen, str(metadata.get("resourceVersion") or ""))
            if not metadata.get("continue"):
                return
            query["continue"] = metadata["continue"]
        raise Unavailable("API server", "the bot stops")

    def _listed(self, raw: Json, wanted: Wanted) -> Observed | None:
        seen = self._read(raw, wanted)
        if seen is not None and self.kind is Kind.POD:
            self._known[seen.uid] = _gist(raw)
        return seen

    def _read(self, raw: Json, wanted: Wanted) -> Observed | None:
        """An object of a shape that nobody foresaw must not keep all others from being seen."""
        try:
            return self._way.read(self.cluster, raw, wanted)
        except (TypeError, ValueError, AttributeError, KeyError):
            log.exception("an object cannot be read", cluster=self.cluster, kind=self.kind.value)
            return None

    def follow(self, version: str, wanted: Wanted) -> Iterator[News]:
        """With bookmarks, so that a quiet kind does not fall behind."""
        seconds = WATCH_SECONDS * (0.8 + 0.4 * self._chance())
        query = {"watch": "1", "allowWatchBookmarks": "true", "timeoutSeconds": str(int(seconds))}
        query |= {"resourceVersion": version, **(self._way.query or {})}
        opened = self._api.watch(self._path(), query, SILENT_SECONDS)
        if isinstance(opened, Answer):
            raise self._failure(opened, "watch")
        self._stream = opened
        try:
            if self._stopped:
                return
            names = [name.encode() for name in wanted.accelerators] if self.kind is not Kind.EVENT else None
            for lines in opened.bursts():
                yield self._news(lines, names, wanted)
        finally:
            self._stream = None
            opened.close()

    def _news(self, lines: list[bytes], names: list[bytes] | None, wanted: Wanted) -> News:
        """`names`: lines without any of these are of no object that matters; Kubernetes escapes no slash."""
        changes: list[tuple[Observed, bool]] = []
        version = ""
        for line in lines:
            if names is not None and line.startswith(_OBJECT) and not any(name in line for name in names):
                continue
            event = _parsed(line)
            kind, raw = event.get("type"), event.get("object") or {}
            if kind == "ERROR":
                raise _told(raw)
            version = (raw.get("metadata") or {}).get("resourceVersion") or version
            if kind != "BOOKMARK" and self._is_new(raw, gone=kind == "DELETED"):
                seen = self._read(raw, wanted)
                if seen is not None:
                    changes.append((seen, kind == "DELETED"))
        return News(changes, version)

    def _is_new(self, raw: Json, *, gone: bool) -> bool:
        """Most changes of a pod change nothing of what is judged."""
        if self.kind is not Kind.POD:
            return True
        uid = str((raw.get("metadata") or {}).get("uid"))
        if gone:
            self._known.pop(uid, None)
            return True
        gist = _gist(raw)
        if self._known.get(uid) == gist:
            return False
        self._known[uid] = gist
        return True

    def _path(self) -> str:
        return self._way.path or f"{kueue_base(self._api)}/workloads"

    def _failure(self, answer: Answer, verb: str) -> Exception:
        if _is_expired(answer.status, answer.body):
            return Expired(answer.message)
        if answer.status == 404:
            return Rejected("API server", "no such kind", self._way.plural)
        return failure(answer, verb, self._way.plural)


_OBJECT = (b'{"type":"ADDED"', b'{"type":"MODIFIED"', b'{"type":"DELETED"')


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise Unavailable("API server", "a line of a watch is no JSON") from error
    return event if isinstance(event, dict) else {}


def _told(status: Json) -> Exception:
    """An ERROR in the stream carries a Status."""
    code = status.get("code")
    if _is_expired(code, status):
        return Expired(str(status.get("message") or ""))
    return Unavailable("API server", f"watch ended: {status.get('message') or code}")


def _is_expired(code: Any, status: Mapping[str, Any]) -> bool:
    """Also a version that the server has not reached and will not, such as after etcd was restored."""
    causes = (status.get("details") or {}).get("causes") or ()
    too_large = any(one.get("reason") == "ResourceVersionTooLarge" for one in causes)
    return code == 410 or too_large


def _gist(raw: Json) -> int:
    """All that core/incidents judges of a pod, but for the versions and times that change with it."""
    metadata, spec, status = (raw.get(key) or {} for key in ("metadata", "spec", "status"))
    said = [
        (one.get("type"), one.get("status"), one.get("reason"), one.get("message"))
        for one in status.get("conditions") or ()
        if one.get("type") in _LOOKED_AT
    ]
    places = (status.get("phase"), spec.get("nodeName"), status.get("nominatedNodeName"))
    return hash(repr((*places, "deletionTimestamp" in metadata, *said)))
