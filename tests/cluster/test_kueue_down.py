"""Kueue's manager is gone and its webhooks with it: on a cluster of its own, since others share theirs.

Not on a given cluster, whose Kueue is not the tests' to stop.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.core.convergence.changes import PatchOutcome, QueueChange
from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.loans import LoanKind, LoanState
from bot.flows.tell_outages import SAID_AFTER
from bot.views.kinds import NoticeKind
from tests.cluster.api import Said
from tests.cluster.control_plane import control_plane
from tests.cluster.places import GROUP, REAL, SIMULATOR, Place, Real, simulated
from tests.cluster.programs import LINES, NotBuilt, programs
from tests.cluster.recorder import Recorder
from tests.cluster.replica import FOR, Installation, installation
from tests.cluster.site import GPU, Site
from tests.support.fakes.clock import HandClock

OWN = [place for place in (SIMULATOR, *REAL) if place in {SIMULATOR, *LINES}]
ON = [(place, database) for place in OWN for database in ("sqlite", "postgresql")]


@dataclass(frozen=True, slots=True)
class Own:
    """A cluster for this module alone."""

    place: Place
    stop_kueue: Callable[[], None]
    start_kueue: Callable[[], None]


@contextmanager
def _own(where: str, folder: Path) -> Iterator[Own]:
    if where == SIMULATOR:
        with simulated(folder) as place:
            yield Own(place, lambda: place.kueue(up=False), lambda: place.kueue(up=True))
        return
    with control_plane(programs(where)) as plane:
        real = Real(where, folder, plane.kubeconfig)
        yield Own(real, plane.stop_kueue, plane.start_kueue)
        real.admin.close()


@pytest.fixture(scope="module")
def own(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Own]:
    """Of the place that the test names, for both of its databases."""
    try:
        with _own(request.param, tmp_path_factory.mktemp(request.param)) as made:
            yield made
    except NotBuilt as why:
        pytest.skip(str(why))


def _nominals(site: Site, *queues: str) -> list[str]:
    return [str(site.quota(queue)["nominalQuota"]) for queue in queues]


def _answers(site: Site, queue: str) -> None:
    """What is answered without Kueue: reads, but of no version that has to be converted; nothing that it validates."""
    assert site.bot().read().queues[queue].name == queue
    other = site.api.request("GET", f"/apis/{GROUP}/{site.other_version}/clusterqueues/{queue}")
    converted = (500, "conversion webhook for kueue.x-k8s.io/v1beta2, Kind=ClusterQueue failed: Post ")
    status, words = converted if site.converts else (404, "")
    assert (other.status, other.message.startswith(words)) == (status, True), str(other)
    with pytest.raises(Said, match='500 Internal error occurred: failed calling webhook "mjob.kb.io"'):
        site.job("late", queue, 1)


def _writes(site: Site, queue: str) -> None:
    """No refusal: nothing is wrong with the number."""
    bot = site.bot()
    change = QueueChange(
        bot.read().queues[queue], {FieldKey("default", queue, site.flavor(), GPU, FieldName.NOMINAL): 9}
    )
    for dry_run in (True, False):
        result = bot.patch(change, dry_run=dry_run)
        assert result.outcome is PatchOutcome.KUEUE_DOWN
        assert 'failed calling webhook "vclusterqueue.kb.io"' in result.words


def _said(bot: Installation, kind: NoticeKind) -> bool:
    with bot.store.read() as uow:
        return uow.notices.latest(f"{kind.value}:") is not None


@pytest.mark.parametrize(("own", "databases"), ON, indirect=True)
def test_without_kueue_loans_begin_and_end_later(own: Own, clock: HandClock, databases: Iterator[str]) -> None:
    """One loan waits to begin and one to go back; both are done when Kueue is there again, and P1 holds throughout."""
    site = Site(own.place, clock)
    lender, borrower, third = site.queue("lender", 8), site.queue("borrower", 4), site.queue("third", 4)
    seen = Recorder(site)
    with installation(site, clock, databases) as bot:
        ending = bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
        bot.first.converge()
        assert _nominals(site, lender, borrower, third) == ["4", "8", "4"]
        own.stop_kueue()
        _answers(site, lender)
        _writes(site, lender)
        clock.advance(FOR)
        bot.grant(LoanKind.TRANSFER, third, 2, lender)
        for _ in "12":
            bot.first.converge()
            clock.advance(SAID_AFTER + timedelta(minutes=1))
        bot.first.converge()
        assert _nominals(site, lender, borrower, third) == ["4", "8", "4"]
        assert (_said(bot, NoticeKind.KUEUE_DOWN), _said(bot, NoticeKind.KUEUE_BACK)) == (True, False)
        own.start_kueue()
        clock.advance(SAID_AFTER)
        for _ in "123":
            bot.first.converge()
        assert _nominals(site, lender, borrower, third) == ["6", "4", "6"]
        assert bot.loan(ending.id).state is LoanState.CLOSED
        assert _said(bot, NoticeKind.KUEUE_BACK)
    assert max(seen.sums()) == 16
    site.clean()
