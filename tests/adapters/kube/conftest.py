"""A cluster of the simulator on loopback, spoken to by the adapter with the official client."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bot.adapters.kube import client
from bot.adapters.kube.client import connect
from bot.adapters.kube.cluster import KubeCluster
from bot.demo.kube.kinds import NEW, OLD
from bot.demo.kube.server import KubeServer
from tests.support.kube_town import BookedSim, Clock, Town


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client gives up long before the server answers that hangs in these tests."""
    monkeypatch.setattr(client, "READ_SECONDS", 0.3)


@pytest.fixture
def make_town(clock: Clock, tmp_path: Path) -> Iterator[Callable[..., Town]]:
    """Towns with these versions of Kueue's API; with a token, requests carry it."""
    with ExitStack() as stack:

        def make(versions: tuple[str, ...] = (OLD, NEW), token: str = "") -> Town:
            sim = BookedSim(clock, versions)
            server = stack.enter_context(KubeServer(sim, reconcile=True))
            config = server.kubeconfig(tmp_path / "kubeconfig", token)
            cluster = KubeCluster("default", connect(str(config), None), clock)
            stack.callback(cluster.close)
            return Town(sim, clock, cluster, server)

        yield make


@pytest.fixture
def town(make_town: Callable[..., Town]) -> Town:
    return make_town()
