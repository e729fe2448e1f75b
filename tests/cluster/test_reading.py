"""What the bot reads: which version is served, and the numbers of queues, cohorts and workloads."""

from bot.core.kueue import FlavorResource
from tests.cluster.site import GPU, Site
from tests.cluster.waiting import eventually


def test_the_newest_version_that_is_served_is_found_and_used(site: Site) -> None:
    queue = site.queue("found", 8, borrowingLimit="2", lendingLimit="3")
    entry = FlavorResource(site.flavor(), GPU)
    seen = site.bot().read().queues[queue]
    quota = seen.quotas[entry]
    assert (quota.nominal, quota.borrowing_limit, quota.lending_limit, quota.whole) == (8, 2, 3, True)
    assert (seen.cohort, seen.active, seen.stop_policy) == (site.cohort, True, "None")


def test_a_fraction_is_read_as_the_next_whole_number_and_not_as_whole(site: Site) -> None:
    queue = site.queue("half", "500m")
    quota = site.bot().read().queues[queue].quotas[FlavorResource(site.flavor(), GPU)]
    assert (quota.nominal, quota.whole) == (1, False)


def test_reserved_quota_waiting_work_and_the_workloads_are_seen(site: Site) -> None:
    queue = site.queue("busy", 8)
    running, waiting = site.job("running", queue, 6), site.job("waiting", queue, 4)
    site.until_admitted(running)
    site.until_waiting(waiting)
    bot, entry = site.bot(), FlavorResource(site.flavor(), GPU)
    eventually("6 reserved", lambda: bot.read().queues[queue].reserved.get(entry) == 6)
    eventually("1 waiting", lambda: bot.read().queues[queue].pending_workloads == 1)
    seen = {one.owner: one for one in bot.workloads({queue})}
    assert seen.keys() == {running, waiting}
    assert (seen[running].usage, seen[running].queue) == ({entry: 6}, queue)
    assert (seen[waiting].usage, seen[waiting].requests, seen[waiting].queue) == ({}, {GPU: 4}, queue)
    assert seen[running].reserved_at is not None
    assert seen[waiting].reserved_at is None


def test_a_cohort_with_quota_of_its_own_is_read(site: Site) -> None:
    entry = {"name": GPU, "nominalQuota": "4"}
    group = {"coveredResources": [GPU], "flavors": [{"name": site.flavor(), "resources": [entry]}]}
    site.make("cohorts", site.cohort, {"spec": {"resourceGroups": [group]}})
    cohort = site.bot().read().cohorts[site.cohort]
    assert cohort.quotas[FlavorResource(site.flavor(), GPU)].nominal == 4


def test_who_wrote_the_quotas_last_is_read(site: Site) -> None:
    queue = site.queue("written", 8)
    assert site.bot().read().queues[queue].spec_manager == "kubectl-create"
    assert site.api.must("GET", f"{site.kueue}/clusterqueues/{queue}")["metadata"]["generation"] == 1
