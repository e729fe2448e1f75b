"""`KubeSim`: a Kubernetes API with Kueue, in one object and without sockets. The front door of this package.

Adapter tests and the demo reach it through `server.KubeServer`; property tests call `handle` directly.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from bot.demo.kube import api, controller
from bot.demo.kube.cluster import Cluster
from bot.demo.kube.faults import Answer, AnswerLost, Faults, Hang, Hung, NotReached, Refuse, ResetBefore, refusal
from bot.demo.kube.kinds import NEW, OLD
from bot.demo.kube.people import Hands
from bot.demo.kube.rbac import Access
from bot.demo.kube.reads import Watch
from bot.demo.kube.route import METHODS, target
from bot.demo.kube.status import bad_request

Obj = dict[str, Any]
_AT_REST = 100


def _wall_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class QueueVersion:
    """One version of a ClusterQueue: `type` ADDED, MODIFIED or DELETED, `manager` who wrote it, `obj` as stored
    (v1beta2).
    """

    version: int
    type: str
    name: str
    manager: str
    obj: Obj


class KubeSim(Hands):
    """`versions`: served versions of Kueue's API, () for none. `granular`: reasons of pending workloads as Kueue
    main writes them.
    """

    def __init__(
        self,
        clock: Callable[[], datetime] = _wall_clock,
        *,
        versions: tuple[str, ...] = (OLD, NEW),
        granular: bool = False,
    ) -> None:
        self.cluster = Cluster(clock, versions=versions, granular=granular)
        self.access = Access()
        self.faults = Faults()
        self.gone_as_http = False
        self.bookmarks = 0
        self.changed = threading.Condition(threading.RLock())
        self._rested: tuple[object, ...] = ()
        """What the last pass that wrote nothing looked at."""

    @property
    def kueue_up(self) -> bool:
        """Whether Kueue's controller and webhooks answer."""
        return self.cluster.kueue_up

    @kueue_up.setter
    def kueue_up(self, up: bool) -> None:
        self.cluster.kueue_up = up

    def handle(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
    ) -> Answer:
        """(status, headers, JSON or text) for one request; a watch answers with the list of its events so far.

        The caller may do with arguments and answer what it likes. Raises `NotReached`, `AnswerLost` or `Hung` where
        a fault is planned.
        """
        lowered = {name.lower(): value for name, value in (headers or {}).items()}
        try:
            body = None if body is None else _copied(body)
        except TypeError as beyond:
            return 400, {}, bad_request(f"json: {beyond}").body
        request = api.Request(method, path, query or {}, lowered, body)
        response = self.respond(request)
        if response.watch is not None:
            return response.status, response.headers, _copied(response.watch.pending())
        return _answer(response)

    def respond(self, request: api.Request) -> api.Response:
        """The same without copies: what it returns must not be changed. For server.py."""
        where = target(request.path)
        if where is None or request.method not in METHODS:
            return self._respond(request)
        with self.changed:
            verb = where.verb(request.method, watch=request.watches)
            released = self.faults.released
            fault = self.faults.take(verb, where.kind.plural, where.name)
        if fault is None:
            return self._respond(request)
        if isinstance(fault, Refuse):
            refused = refusal(fault, where)
            return api.Response(refused.code, refused.body, dict(refused.headers))
        if isinstance(fault, ResetBefore):
            raise NotReached("connection reset before the request was handled")
        if isinstance(fault, Hang):
            raise Hung(fault.seconds, lambda: _answer(self._respond(request)), released)
        raise AnswerLost(_answer(self._respond(request)))

    def watch(self, path: str, query: Mapping[str, str] | None = None) -> Watch:
        """A watch to poll in process: `.pending()` gives the events since the last call."""
        response = self._respond(api.Request("GET", path, {**(query or {}), "watch": "true"}))
        if response.watch is None:
            raise ValueError(response.body)
        return response.watch

    @property
    def history(self) -> list[QueueVersion]:
        """Every version of every ClusterQueue, in the order of writing."""
        return [
            QueueVersion(change.version, change.type, change.obj["metadata"]["name"], change.manager, change.obj)
            for change in self.cluster.store.history("clusterqueues")
        ]

    def bookmark(self) -> None:
        """Send a bookmark to every open watch over HTTP that asked for them, as a real server does about once a
        minute.
        """
        with self.changed:
            self.bookmarks += 1
            self.changed.notify_all()

    def as_admin(self, request: api.Request) -> api.Response:
        with self.changed:
            response = super().as_admin(request)
            self.changed.notify_all()
            return response

    def finish(self, namespace: str, name: str, *, failed: bool = False) -> None:
        with self.changed:
            super().finish(namespace, name, failed=failed)
            self.changed.notify_all()

    def reconcile(self, passes: int = _AT_REST) -> int:
        """Let Kueue's controllers work: until nothing changes, or for so many passes. How many passes wrote something.

        Nothing is looked at again that was at rest already: a pass goes by no clock.
        Raises `RuntimeError` when the cluster does not come to rest (two queues that preempt each other for ever).
        """
        with self.changed:
            done = 0
            while done < passes and self._rested != self._looked_at() and controller.run(self.cluster):
                done += 1
            if done < passes:
                self._rested = self._looked_at()
            if done:
                self.changed.notify_all()
        if done == _AT_REST:
            raise RuntimeError(f"not at rest after {done} passes")
        return done

    def _looked_at(self) -> tuple[object, ...]:
        """All that decides what a pass of the controllers writes."""
        cluster = self.cluster
        return cluster.store.version, cluster.kueue_up, cluster.versions, cluster.granular

    def compact(self) -> None:
        """Forget the past: every open watch and list continuation from before now gets 410."""
        with self.changed:
            self.cluster.store.compact()
            self.changed.notify_all()

    def _respond(self, request: api.Request) -> api.Response:
        with self.changed:
            before = self.cluster.store.version
            response = api.handle(self.cluster, self.access, request, gone_as_http=self.gone_as_http)
            if self.cluster.store.version != before:
                self.changed.notify_all()
            return response


def _answer(response: api.Response) -> Answer:
    return response.status, dict(response.headers), _copied(response.body)


def _copied(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value))
