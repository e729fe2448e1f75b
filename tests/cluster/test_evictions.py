"""Why work waits, who evicts whom, and the stages of an eviction, as a watch shows them."""

import re

import pytest

from tests.cluster.api import MERGE_PATCH, Obj, condition, reason
from tests.cluster.site import Site
from tests.cluster.waiting import eventually

RECLAIM = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}
PREEMPTED = re.compile(
    r"Preempted to accommodate a workload \(UID: (?P<uid>[^,)]+)(, JobUID: (?P<job>[^)]+))?\) due to (?P<why>[^;]+)"
    r"(; preemptor path: (?P<by>\S+); preemptee path: (?P<victim>\S+))?$"
)


def _released(workload: Obj) -> bool:
    return condition(workload, "Evicted") == "True" and condition(workload, "QuotaReserved") == "False"


def _evicted(site: Site, victim: str, since: str) -> list[Obj]:
    """The versions of the victim's Workload until its quota is free."""
    stages = site.stages(victim, since, _released)
    marked = next(one for one in stages if condition(one, "Evicted") == "True")
    assert condition(marked, "Admitted") == "True", "the first mark comes while it still runs"
    assert marked["status"]["admission"]["clusterQueue"], "so that one can still see what it held"
    assert "admission" not in stages[-1]["status"]
    return stages


def test_reclaim_evicts_what_was_borrowed_and_names_who_needs_it(site: Site) -> None:
    """Priority does not matter to whose own it is."""
    ours, theirs = (site.queue(word, 4, preemption=RECLAIM) for word in ("ours", "theirs"))
    victim = site.job("victim", ours, 8, priority=1000)
    site.until_admitted(victim)
    since = site.now()
    owner = site.job("owner", theirs, 4, priority=100)
    site.until_admitted(owner)
    last = _evicted(site, victim, since)[-1]
    assert reason(last, "Evicted")[0] == "Preempted"
    assert reason(last, "Preempted")[0] == "InCohortReclamation"
    words = reason(last, "Preempted")[1]
    said = PREEMPTED.match(words)
    assert said is not None, words
    assert said["uid"] == (site.workload(owner) or {})["metadata"]["uid"]
    assert said["why"] == "reclamation within the cohort"
    assert condition(last, "Requeued") == "True"


def test_an_eviction_names_the_other_job_and_both_sides_by_their_path(site: Site) -> None:
    ours, theirs = (site.queue(word, 4, preemption=RECLAIM) for word in ("ours", "theirs"))
    victim = site.job("victim", ours, 8)
    site.until_admitted(victim)
    since = site.now()
    owner = site.job("owner", theirs, 4)
    site.until_admitted(owner)
    words = reason(_evicted(site, victim, since)[-1], "Preempted")[1]
    said = PREEMPTED.match(words)
    assert said is not None, words
    (by,) = (site.workload(owner) or {})["metadata"]["ownerReferences"]
    named = (said["job"], said["by"], said["victim"])
    assert named == (by["uid"], f"/{site.cohort}/{theirs}", f"/{site.cohort}/{ours}"), words


def test_higher_priority_evicts_lower_in_the_same_queue(site: Site) -> None:
    queue = site.queue("queue", 8, preemption=RECLAIM)
    victim = site.job("victim", queue, 8)
    site.until_admitted(victim)
    since = site.now()
    urgent = site.job("urgent", queue, 8, priority=1000)
    site.until_admitted(urgent)
    last = _evicted(site, victim, since)[-1]
    assert reason(last, "Preempted")[0] == "InClusterQueue"


def test_what_was_evicted_comes_back_and_says_so(site: Site) -> None:
    """Evicted turns False with the old words after "Previously"."""
    queue = site.queue("queue", 8, preemption=RECLAIM)
    victim = site.job("victim", queue, 8)
    site.until_admitted(victim)
    urgent = site.job("urgent", queue, 8, priority=1000)
    site.until_admitted(urgent)
    eventually("the victim lost its quota", lambda: _released(site.workload(victim) or {}))
    site.cancel(urgent)
    site.until_admitted(victim)
    eventually("not evicted any more", lambda: condition(site.workload(victim), "Evicted") == "False")
    assert reason(site.workload(victim), "Evicted")[1].startswith("Previously: Preempted to accommodate")


def test_nobody_is_evicted_where_reclaim_is_not_asked_for(site: Site) -> None:
    """The default is Never: the owner waits until the borrower has finished."""
    ours, theirs = (site.queue(word, 4) for word in ("ours", "theirs"))
    borrowing = site.job("borrowing", ours, 8)
    site.until_admitted(borrowing)
    owner = site.job("owner", theirs, 4)
    assert "insufficient unused quota" in site.until_waiting(owner)
    assert site.admitted(borrowing)
    site.cancel(borrowing)
    site.until_admitted(owner)


def test_what_can_never_fit_is_said_with_the_most_that_can(site: Site) -> None:
    queue = site.queue("queue", 8)
    huge = site.job("huge", queue, 100)
    words = site.until_waiting(huge)
    assert {"100", "8"} <= set(re.findall(r"\b\d+\b", words)), words


def test_a_queue_that_is_held_admits_nothing_new(site: Site) -> None:
    queue = site.queue("held", 8)
    running = site.job("running", queue, 4)
    site.until_admitted(running)
    site.merge(queue, {"spec": {"stopPolicy": "Hold"}})
    eventually("inactive", lambda: condition(site.get_queue(queue), "Active") == "False")
    site.job("late", queue, 2)
    eventually("pending", lambda: site.get_queue(queue)["status"]["pendingWorkloads"] == 1)
    assert site.admitted(running)
    assert site.bot().read().queues[queue].stop_policy == "Hold"
    assert not site.bot().read().queues[queue].active


def test_a_queue_that_is_drained_evicts_what_runs(site: Site) -> None:
    queue = site.queue("drained", 8)
    running = site.job("running", queue, 4)
    site.until_admitted(running)
    since = site.now()
    site.merge(queue, {"spec": {"stopPolicy": "HoldAndDrain"}})
    last = _evicted(site, running, since)[-1]
    assert reason(last, "Evicted") == ("ClusterQueueStopped", "The ClusterQueue is stopped")


def test_a_workload_that_is_deactivated_is_evicted(site: Site) -> None:
    queue = site.queue("queue", 8)
    running = site.job("running", queue, 4)
    site.until_admitted(running)
    since = site.now()
    name = (site.workload(running) or {})["metadata"]["name"]
    path = f"{site.kueue}/namespaces/{site.namespace}/workloads/{name}"
    site.api.must("PATCH", path, {"spec": {"active": False}}, MERGE_PATCH)
    why, words = reason(_evicted(site, running, since)[-1], "Evicted")
    assert (why, words) == ("Deactivated", "The workload is deactivated"), f"{why}: {words}"


@pytest.mark.parametrize("nominal", ["2", "0"])
def test_lowering_quota_below_its_use_evicts_nobody(site: Site, nominal: str) -> None:
    """What is above nominal counts as borrowed at once."""
    queue = site.queue("shrunk", 8)
    site.queue("beside", 8)
    running = site.job("running", queue, 8)
    site.until_admitted(running)
    site.edit(queue, "nominalQuota", nominal)
    eventually("borrowed", lambda: site.reserved(queue) == (8, 8 - int(nominal)))
    assert site.admitted(running)


def test_a_queue_in_use_is_deleted_only_when_its_work_has_gone(site: Site) -> None:
    queue = site.queue("used", 8)
    running = site.job("running", queue, 4)
    site.until_admitted(running)
    path = f"{site.kueue}/clusterqueues/{queue}"
    site.api.must("DELETE", path)
    assert "deletionTimestamp" in site.get_queue(queue)["metadata"]
    assert site.bot().read().queues[queue].deleting
    site.cancel(running)
    site.until_gone(path)
