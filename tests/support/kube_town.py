"""A simulated cluster that books its requests, and the adapter that speaks to it. Used by tests of the kube adapter."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.adapters.kube.cluster import KubeCluster
from bot.demo.kube.api import Request, Response
from bot.demo.kube.kinds import NEW, OLD
from bot.demo.kube.server import KubeServer
from bot.demo.kube.sim import KubeSim


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = datetime(2026, 12, 2, 7, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def move(self, by: timedelta) -> None:
        self.at += by


class BookedSim(KubeSim):
    """Keeps every request that came over HTTP."""

    def __init__(self, clock: Clock, versions: tuple[str, ...] = (OLD, NEW)) -> None:
        super().__init__(clock, versions=versions)
        self.book: list[Request] = []

    def respond(self, request: Request) -> Response:
        self.book.append(request)
        return super().respond(request)

    def asked(self, method: str = "GET") -> list[str]:
        """The last parts of the paths that were asked for with this method."""
        return [one.path.rpartition("/")[2] for one in self.book if one.method == method]


@dataclass(frozen=True, slots=True)
class Town:
    """One simulated cluster and the adapter that speaks to it."""

    sim: BookedSim
    clock: Clock
    cluster: KubeCluster
    server: KubeServer

    def queue(self, name: str = "vision", flavor: str = "a100", **limits: Any) -> None:
        """Create a ClusterQueue in the cohort `pool`."""
        self.sim.add_cluster_queue(name, {flavor: {"nominal": 8, **limits}}, cohort="pool")
        self.sim.reconcile()
