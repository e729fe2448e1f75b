"""Kueue's manager is gone and its webhooks with it: on a control plane of its own, since others share theirs.

The simulator's answer is held against recorded ones in tests/demo/kube/test_captures.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.core.convergence.changes import PatchOutcome, QueueChange
from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.loans import LoanKind
from bot.flows.tell_outages import SAID_AFTER
from bot.views.kinds import NoticeKind
from tests.cluster.control_plane import ControlPlane, control_plane
from tests.cluster.places import Real
from tests.cluster.programs import LINES, NotBuilt, programs
from tests.cluster.replica import installation, sqlite_files
from tests.cluster.site import GPU, Site
from tests.support.fakes.clock import HandClock


@pytest.fixture
def plane() -> Iterator[ControlPlane]:
    """The newest line, for this test alone."""
    try:
        found = programs(LINES[0])
    except NotBuilt as why:
        pytest.skip(str(why))
    with control_plane(found) as running:
        yield running


def test_without_kueue_quota_is_read_and_not_written(plane: ControlPlane, clock: HandClock, tmp_path: Path) -> None:
    """What the API server says then is no refusal: nothing is wrong with the number. The loan waits, and says why."""
    site = Site(Real(LINES[0], tmp_path, plane.kubeconfig), clock)
    lender, borrower = site.queue("lender", 8), site.queue("borrower", 4)
    with installation(site, clock, sqlite_files(tmp_path)) as bot:
        bot.grant(LoanKind.TRANSFER, borrower, 4, lender)
        cluster = site.bot()
        plane.stop_kueue()
        queue = cluster.read().queues[lender]
        change = QueueChange(queue, {FieldKey("default", lender, site.flavor(), GPU, FieldName.NOMINAL): 9})
        for dry_run in (True, False):
            result = cluster.patch(change, dry_run=dry_run)
            assert result.outcome is PatchOutcome.KUEUE_DOWN
            assert 'failed calling webhook "vclusterqueue.kb.io"' in result.words
        for _ in "12":
            bot.first.converge()
            clock.advance(SAID_AFTER)
        with bot.store.read() as uow:
            notice = uow.notices.latest(f"{NoticeKind.KUEUE_DOWN.value}:")
    assert [site.quota(name)["nominalQuota"] for name in (lender, borrower)] == ["8", "4"]
    assert notice is not None
    site.clean()
