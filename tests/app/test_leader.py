"""The lease of one process: what ends it, and what is said when its database comes back."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from bot.app.leader import Leader
from bot.core.errors import Unavailable
from bot.demo.kube.sim import KubeSim
from bot.flows.tell_loans import tell_after_start
from bot.flows.world import World
from tests.support import quota
from tests.support.fakes.chat import FakeSlack
from tests.support.fakes.clock import HandClock, Ids
from tests.support.fakes.cluster import sim_cluster
from tests.support.fakes.gate import Gate
from tests.support.fakes.policies import FakePolicies
from tests.support.fakes.store import FakeStore

LEASE = timedelta(seconds=30)
EVERY = LEASE / 3


class Shaky:
    """A store that can be away, as one process reaches it."""

    def __init__(self, shared: FakeStore) -> None:
        self._store = shared.session()
        self.away = False

    @contextmanager
    def begin(self) -> Iterator[Any]:
        self._answers()
        with self._store.begin() as uow:
            yield uow

    @contextmanager
    def read(self) -> Iterator[Any]:
        self._answers()
        with self._store.read() as uow:
            yield uow

    def _answers(self) -> None:
        if self.away:
            raise Unavailable("database", "connection refused")


class Site:
    """One database, and replicas that renew their leases in turn."""

    def __init__(self) -> None:
        self.clock = HandClock(quota.NOW)
        self.shared = FakeStore(self.clock)
        self.gate = Gate()
        self.kube = KubeSim(self.clock)
        self.replicas: list[tuple[Leader, Shaky]] = []

    def replica(self, name: str) -> Leader:
        store = Shaky(self.shared)
        world = World(
            store=store,
            chat=FakeSlack(self.clock, {}).session(),
            clusters={"default": sim_cluster(self.kube, self.clock, self.gate)},
            policies=FakePolicies(quota.policy()),
            clock=self.clock,
            new_id=Ids(name),
            wake_convergence=lambda: None,
            wake_delivery=lambda: None,
            install="site",
        )
        leader = Leader(world, name, LEASE, lambda epoch: tell_after_start(world, epoch))
        self.replicas.append((leader, store))
        return leader

    def passes(self, **time: float) -> None:
        """Everybody renews, again and again, for so long."""
        until = self.clock() + timedelta(**time)
        while self.clock() < until:
            for leader, _ in self.replicas:
                leader.renew()
            self.clock.advance(EVERY)

    def database(self, *, away: bool) -> None:
        for _, store in self.replicas:
            store.away = away

    @property
    def told(self) -> list[str]:
        """Kinds of the notices that are owed."""
        return sorted(row.notice.draft.kind for row in self.shared.tables.notices.values())


@pytest.fixture
def site() -> Site:
    return Site()


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize(("minutes", "told"), [(20, ["database_back"]), (1, [])])
def test_the_end_of_a_long_outage_of_the_database_is_said_once(
    site: Site, replicas: int, minutes: int, told: list[str]
) -> None:
    """And not that the bot was down: it was there all the time."""
    for number in range(replicas):
        site.replica(f"P{number}")
    site.passes(minutes=1)
    since = site.clock()
    site.database(away=True)
    site.passes(minutes=minutes)
    assert [leader.epoch for leader, _ in site.replicas] == [None] * replicas
    site.database(away=False)
    site.passes(minutes=2)
    assert site.told == told
    for row in site.shared.tables.notices.values():
        assert row.notice.draft.facts["since"] == since.isoformat()


def test_a_bot_that_was_down_still_says_so(site: Site) -> None:
    site.replica("P1")
    site.passes(minutes=1)
    site.replicas.clear()
    site.clock.advance(timedelta(minutes=20))
    site.replica("P2")
    site.passes(minutes=1)
    assert site.told == ["bot_was_down"]


def test_two_outages_are_two_messages(site: Site) -> None:
    site.replica("P1")
    for _ in range(2):
        site.passes(minutes=1)
        site.database(away=True)
        site.passes(minutes=10)
        site.database(away=False)
    site.passes(minutes=1)
    assert site.told == ["database_back", "database_back"]
