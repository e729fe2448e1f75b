"""The API server without a socket: one request in, one response out. Called by sim.py (in process) and server.py
(HTTP).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.demo.kube import discovery, reads, status, visibility, writes
from bot.demo.kube.cluster import Cluster
from bot.demo.kube.kinds import OLD
from bot.demo.kube.rbac import Access
from bot.demo.kube.reads import TRUE, Watch
from bot.demo.kube.route import METHODS, Target, target
from bot.demo.kube.status import ApiError

_NOT_ALLOWED = status.error(
    405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {}
)
DEPRECATED = "This version is deprecated. Use v1beta2 instead."


@dataclass(frozen=True, slots=True)
class Request:
    """Header names in lower case; `body` is decoded JSON (or YAML, for apply)."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def watches(self) -> bool:
        return self.method == "GET" and self.query.get("watch") in TRUE


@dataclass(frozen=True, slots=True)
class Response:
    """`body` is JSON to encode, or text when it is a string. `watch` is set instead for a stream of events."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    watch: Watch | None = None


def handle(cluster: Cluster, access: Access, request: Request, *, gone_as_http: bool = False) -> Response:
    """Answer a request. `gone_as_http` answers a watch from too long ago with HTTP 410 instead of an event in the
    stream.
    """
    where = target(request.path)
    if request.method not in METHODS:
        return Response(405, _NOT_ALLOWED.body)
    try:
        verb = where.verb(request.method, watch=request.watches) if where else request.method.lower()
        access.check(request.headers, where, verb)
        if where is None:
            return _elsewhere(cluster, request)
        if not cluster.serves(where.kind, where.version):
            raise status.page_not_found()
        if request.watches:
            return _watch(cluster, where, request, gone_as_http=gone_as_http)
        return _answer(cluster, where, request)
    except ApiError as refused:
        headers = dict(refused.headers)
        if where is not None:
            headers.update(_warned(cluster, where, []))
        return Response(refused.code, refused.body, headers)


def _elsewhere(cluster: Cluster, request: Request) -> Response:
    if request.method != "GET":
        raise status.page_not_found()
    pending = visibility.answer(cluster, request.path, request.query)
    return Response(200, discovery.answer(cluster, request.path) if pending is None else pending)


def _watch(cluster: Cluster, where: Target, request: Request, *, gone_as_http: bool) -> Response:
    watch = Watch(cluster, where, request.query)
    if watch.expired and gone_as_http:
        raise ApiError(410, watch.pending()[0]["object"])
    return Response(200, None, _warned(cluster, where, []), watch)


def _answer(cluster: Cluster, where: Target, request: Request) -> Response:
    if request.method == "GET":
        body = reads.get(cluster, where) if where.name else reads.list_(cluster, where, request.query)
        return Response(200, body, _warned(cluster, where, []))
    write = _write(where, request.method)
    options = writes.options(request.query, request.headers, custom=where.kind.custom)
    written = write(cluster, where, options, request.body)
    if not isinstance(written, writes.Written):
        return Response(200, written, _warned(cluster, where, []))
    return Response(written.code, written.obj, _warned(cluster, where, written.warnings))


def _write(where: Target, method: str) -> Any:
    collection = {"POST": writes.create}
    single = {"PUT": writes.update, "PATCH": writes.patch, "DELETE": writes.delete}
    write = (single if where.name else collection).get(method)
    if write is None or (where.subresource and method == "DELETE"):
        raise status.error(
            405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {}
        )
    return write


def _warned(cluster: Cluster, where: Target, warnings: list[str]) -> dict[str, str]:
    """The Warning header: unknown fields, and the old version where the new one is served too."""
    texts = list(warnings)
    if where.kind.custom and where.version == OLD and len(cluster.versions) > 1:
        texts.append(DEPRECATED)
    if not texts:
        return {}
    quoted = [text.replace("\\", "\\\\").replace('"', '\\"') for text in texts]
    return {"Warning": ", ".join(f'299 - "{text}"' for text in quoted)}
