"""What the bot does to a Workload at a loan's end, and what Kueue makes of it: evicted, quota free, queued again."""

from dataclasses import replace

from bot.core.convergence.changes import PatchOutcome
from bot.core.evictions import MARK, ActiveChange, Work, is_by_our_hand
from bot.core.kueue import FlavorResource, WorkloadSnapshot
from tests.cluster.api import condition
from tests.cluster.places import BOT
from tests.cluster.site import GPU, Site
from tests.cluster.waiting import eventually


def _live(site: Site, queue: str) -> WorkloadSnapshot:
    (found,) = site.bot().workloads({queue})
    return found


def _set(site: Site, queue: str, *, active: bool, mark: str = "L1:x") -> WorkloadSnapshot:
    """Set it so, whatever Kueue writes meanwhile; as it was read before the write that counted."""

    def tried() -> WorkloadSnapshot | None:
        live = _live(site, queue)
        result = site.bot().set_active(ActiveChange(live, active, mark))
        assert result.outcome in {PatchOutcome.APPLIED, PatchOutcome.CONFLICT}, result
        return live if result.outcome is PatchOutcome.APPLIED else None

    return eventually("the Workload is written", tried)


def test_inactive_it_is_evicted_its_quota_free_and_active_again_it_is_queued(site: Site) -> None:
    queue = site.queue("queue", 8)
    running = site.job("running", queue, 8)
    site.until_admitted(running)
    before = _set(site, queue, active=False)
    eventually("it holds nothing", lambda: _live(site, queue).reserved_at is None)
    eventually("the quota is free", lambda: site.reserved(queue) == (0, 0))
    after = _live(site, queue)
    assert (after.active, after.mark) == (False, "L1:x")
    assert after.usage.get(FlavorResource(site.flavor(), GPU), 0) == 0
    work = Work(after.namespace, after.name, after.uid, running, 8, mark="L1:x", generation=before.generation)
    assert is_by_our_hand(work, after), "Kueue itself changes nothing in the spec when it evicts"
    other = site.job("other", queue, 8)
    site.until_admitted(other)
    assert condition(site.workload(running), "QuotaReserved") != "True", "it does not come back by itself"
    site.cancel(other)
    eventually("room again", lambda: site.reserved(queue) == (0, 0))
    again = eventually("only it is left", lambda: len(site.bot().workloads({queue})) == 1)
    assert again
    _set(site, queue, active=True)
    site.until_admitted(running)
    live = _live(site, queue)
    assert (live.active, live.mark) == (True, None)
    assert MARK not in ((site.workload(running) or {})["metadata"].get("annotations") or {})


def test_a_write_that_was_planned_on_an_older_version_does_not_land(site: Site) -> None:
    queue = site.queue("queue", 8)
    running = site.job("running", queue, 8)
    site.until_admitted(running)
    before = _set(site, queue, active=False)
    for change in (ActiveChange(before, False, "L1:y"), ActiveChange(before, True, "L1:x")):
        assert site.bot().set_active(change).outcome is PatchOutcome.CONFLICT
    live = _live(site, queue)
    assert (live.active, live.mark) == (False, "L1:x")


def test_only_the_mark_that_is_there_is_taken_away(site: Site) -> None:
    queue = site.queue("queue", 8)
    running = site.job("running", queue, 8)
    site.until_admitted(running)
    _set(site, queue, active=False)
    eventually("the quota is free", lambda: site.reserved(queue) == (0, 0))
    live = _live(site, queue)
    assert site.bot().set_active(ActiveChange(live, True, "L2:z")).outcome is PatchOutcome.CONFLICT
    gone = replace(live, name=f"{live.name}-gone")
    assert site.bot().set_active(ActiveChange(gone, True, "L1:x")).outcome is PatchOutcome.CONFLICT
    assert not _live(site, queue).active


def test_without_the_right_it_is_said_which_one_is_missing(site: Site) -> None:
    queue, bot = site.queue("queue", 8), site.bot({**BOT, "workloads": ("list",)})
    running = site.job("running", queue, 8)
    site.until_admitted(running)
    result = bot.set_active(ActiveChange(_live(site, queue), False, "L1:x"))
    assert result.outcome is PatchOutcome.FORBIDDEN
    assert 'cannot patch resource "workloads" in API group "kueue.x-k8s.io"' in result.words
    assert site.admitted(running)
