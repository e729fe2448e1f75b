"""The real cluster adapter over the simulator, without sockets: real patches against the API's and Kueue's rules."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from bot.adapters.kube.client import Answer, KubeApi
from bot.adapters.kube.cluster import KubeCluster
from bot.core.errors import Unavailable
from bot.demo.kube.api import Request
from bot.demo.kube.faults import AnswerLost, Hung, NotReached
from bot.demo.kube.sim import KubeSim
from bot.ports.clock import Clock
from tests.support.fakes.gate import Gate

TOKEN = "the-bots"
"""The bot's bearer token: it counts once the simulator's `access` grants it less than everything."""

OnLate = Callable[[Callable[[], Any]], None]


class InProcessApi:
    """Stands in for adapters.kube.client.KubeApi: requests go to the simulator's front door."""

    def __init__(self, sim: KubeSim, gate: Gate, on_late: OnLate, on_patched: Callable[[int], None]) -> None:
        self._sim = sim
        self._gate = gate
        self._on_late = on_late
        self._on_patched = on_patched

    def request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Sequence[Mapping[str, Any]] | None = None,
    ) -> Answer:
        what = "patch" if method == "PATCH" else "get"
        self._gate.passes(f"cluster.{what}")
        headers = {"content-type": "application/json-patch+json"} if body is not None else {}
        headers["authorization"] = f"Bearer {TOKEN}"
        try:
            if body is None:  # what is only read needs no copy
                response = self._sim.respond(Request(method, path, query or {}, headers))
                status, answer = response.status, response.body
            else:
                status, _, answer = self._sim.handle(method, path, query, headers, list(body))
        except NotReached as error:
            raise Unavailable("API server", "connection refused") from error
        except AnswerLost as error:
            raise Unavailable("API server", "connection lost") from error
        except Hung as error:
            self._on_late(error.land)
            raise Unavailable("API server", "no answer in time") from error
        if method == "PATCH":
            self._on_patched(status)
            self._gate.passes("cluster.patched")
        return Answer(status, answer if isinstance(answer, dict) else {})

    def close(self) -> None:
        """Nothing to let go of."""


def sim_cluster(
    sim: KubeSim,
    clock: Clock,
    gate: Gate | None = None,
    on_late: OnLate = lambda _land: None,
    on_patched: Callable[[int], None] = lambda _status: None,
) -> KubeCluster:
    """The cluster as one process reaches it. `on_late` is given each request that timed out and may be handled later,
    `on_patched` the status of each answered patch."""
    return KubeCluster("default", cast(KubeApi, InProcessApi(sim, gate or Gate(), on_late, on_patched)), clock)
