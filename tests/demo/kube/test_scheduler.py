"""Who gets quota, who goes for whom, who waits: the rules the recorded story does not reach."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.demo.kube.people import Limits
from bot.demo.kube.sim import KubeSim

GPU = "nvidia.com/gpu"
ANY = {"reclaimWithinCohort": "Any"}


def _queue(sim: KubeSim, name: str, quotas: dict[str, Limits | int | str], **fields: Any) -> None:
    sim.add_cluster_queue(name, quotas, **fields)
    sim.add_local_queue(name, "lq", name)
    sim.reconcile()


def _submit(sim: KubeSim, team: str, name: str, gpus: int, **options: Any) -> None:
    sim.submit_job(team, name, "lq", gpus, **options)
    sim.reconcile()


def _running(sim: KubeSim) -> set[str]:
    return {job["metadata"]["name"] for job in sim.cluster.store.all("jobs") if not job["spec"]["suspend"]}


def _condition(sim: KubeSim, team: str, job: str, kind: str) -> dict[str, Any]:
    conditions = sim.workload(team, job)["status"]["conditions"]
    return next((dict(c) for c in conditions if c["type"] == kind), {})


def _waits(sim: KubeSim, team: str, job: str) -> str:
    condition = _condition(sim, team, job, "QuotaReserved")
    assert condition["status"] == "False"
    return str(condition["message"])


def test_the_next_flavor_is_tried_and_both_are_named_when_neither_fits(sim: KubeSim) -> None:
    _queue(sim, "t", {"a100": 2, "h100": 4})
    _submit(sim, "t", "one", 4)
    (assigned,) = sim.workload("t", "one")["status"]["admission"]["podSetAssignments"]
    assert assigned["flavors"] == {GPU: "h100"}
    assert assigned["resourceUsage"] == {GPU: "4"}
    _submit(sim, "t", "two", 3)
    said = _waits(sim, "t", "two")
    assert said.startswith(
        "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor a100"
    )
    assert said.endswith(", insufficient unused quota for nvidia.com/gpu in flavor h100, 3 more needed")


def test_a_job_that_asks_for_a_flavor_gets_no_other(sim: KubeSim) -> None:
    _queue(sim, "t", {"a100": 8, "h100": 2})
    _submit(sim, "t", "j", 4, flavor="h100")
    assert "flavor a100 doesn't match node affinity" in _waits(sim, "t", "j")
    assert _running(sim) == set()


def test_a_resource_that_no_group_covers(sim: KubeSim) -> None:
    _queue(sim, "t", {"h100": 8})
    _submit(sim, "t", "j", 1, resource="nvidia.com/mig-1g.5gb")
    said = "couldn't assign flavors to pod set main: resource nvidia.com/mig-1g.5gb unavailable in ClusterQueue"
    assert _waits(sim, "t", "j") == said


@pytest.mark.parametrize(("strategy", "running"), [("BestEffortFIFO", {"small"}), ("StrictFIFO", set())])
def test_a_strict_queue_waits_for_its_head(sim: KubeSim, strategy: str, running: set[str]) -> None:
    _queue(sim, "t", {"h100": 4}, queueingStrategy=strategy)
    _submit(sim, "t", "big", 9)
    _submit(sim, "t", "small", 2)
    assert _running(sim) == running


def test_half_a_gpu_of_quota_counts_as_one(sim: KubeSim) -> None:
    _queue(sim, "t", {"h100": "0.5"})
    _submit(sim, "t", "j", 1)
    assert _running(sim) == {"j"}


def test_the_number_of_pods_counts(sim: KubeSim) -> None:
    _queue(sim, "t", {"h100": 8})
    _submit(sim, "t", "gang", 2, pods=4)
    assert sim.queue("t")["status"]["flavorsUsage"][0]["resources"][0]["total"] == "8"
    assert len(sim.cluster.store.all("pods", "t")) == 4
    sim.finish("t", "gang")
    sim.reconcile()
    assert sim.cluster.store.all("pods", "t") == []


@pytest.mark.parametrize(
    ("preemption", "priority", "reclaimed"),
    [
        ({"reclaimWithinCohort": "Never"}, 100, False),
        ({"reclaimWithinCohort": "LowerPriority"}, 5, False),
        ({"reclaimWithinCohort": "LowerPriority"}, 100, True),
        ({"reclaimWithinCohort": "Any"}, 1, True),
    ],
)
def test_the_preemptors_policy_decides_what_is_reclaimed(
    sim: KubeSim, preemption: dict[str, str], priority: int, reclaimed: bool
) -> None:
    _queue(sim, "lender", {"h100": 8}, cohort="c", preemption=preemption)
    _queue(sim, "borrower", {"h100": 0}, cohort="c")
    _submit(sim, "borrower", "borrowed", 8, priority=10)
    _submit(sim, "lender", "owner", 8, priority=priority)
    assert _running(sim) == ({"owner"} if reclaimed else {"borrowed"})


def test_what_is_within_nominal_is_never_taken_by_another_queue(sim: KubeSim) -> None:
    _queue(sim, "a", {"h100": 4}, cohort="c", preemption=ANY)
    _queue(sim, "b", {"h100": 4}, cohort="c")
    _submit(sim, "b", "own", 4, priority=1)
    _submit(sim, "a", "greedy", 8, priority=1000)
    assert _running(sim) == {"own"}


def test_a_transfer_turns_borrowed_work_into_protected_work(sim: KubeSim) -> None:
    _queue(sim, "lender", {"h100": 8}, cohort="c", preemption=ANY)
    _queue(sim, "borrower", {"h100": 0}, cohort="c")
    _submit(sim, "borrower", "j", 4)
    sim.hand_edit("lender", "h100", nominal=4)
    sim.hand_edit("borrower", "h100", nominal=4)
    _submit(sim, "lender", "owner", 8, priority=1000)
    assert _running(sim) == {"j"}
    sim.hand_edit("borrower", "h100", nominal=0)
    sim.hand_edit("lender", "h100", nominal=8)
    sim.reconcile()
    assert _running(sim) == {"owner"}
    assert _condition(sim, "borrower", "j", "Preempted")["reason"] == "InCohortReclamation"


def test_only_as_many_go_as_must_and_the_newest_first(sim: KubeSim) -> None:
    _queue(sim, "lender", {"h100": 8}, cohort="c", preemption=ANY)
    _queue(sim, "borrower", {"h100": 0}, cohort="c")
    for name in ("first", "second", "third", "fourth"):
        _submit(sim, "borrower", name, 2)
    _submit(sim, "lender", "owner", 3)
    assert _running(sim) == {"first", "second", "owner"}


def test_lower_priority_goes_for_one_that_borrows_if_the_policy_says_so(sim: KubeSim) -> None:
    policy = {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}}
    _queue(sim, "a", {"h100": 2}, cohort="c", preemption=policy)
    _queue(sim, "b", {"h100": 2}, cohort="c")
    _queue(sim, "pool", {"h100": 4}, cohort="c")
    _submit(sim, "b", "low", 8, priority=1)
    _submit(sim, "a", "high", 4, priority=9)
    assert _running(sim) == {"high"}
    assert _condition(sim, "b", "low", "Preempted")["reason"] == "InCohortReclaimWhileBorrowing"
    assert "reclamation within the cohort while borrowing" in _condition(sim, "b", "low", "Evicted")["message"]


@pytest.mark.parametrize(("policy", "running"), [("Hold", {"old"}), ("HoldAndDrain", set())])
def test_a_stopped_queue_starts_nothing_new(sim: KubeSim, policy: str, running: set[str]) -> None:
    _queue(sim, "t", {"h100": 8})
    _submit(sim, "t", "old", 2)
    sim.stop("t", policy)
    sim.reconcile()
    _submit(sim, "t", "new", 2)
    assert _running(sim) == running
    assert _waits(sim, "t", "new") == "ClusterQueue t is inactive"
    sim.stop("t", "None")
    sim.reconcile()
    assert _running(sim) == {"old", "new"}


def test_a_stopped_lender_still_lends(sim: KubeSim) -> None:
    _queue(sim, "lender", {"h100": 8}, cohort="c")
    _queue(sim, "borrower", {"h100": 0}, cohort="c")
    sim.stop("lender", "Hold")
    _submit(sim, "borrower", "j", 6)
    assert _running(sim) == {"j"}


def test_namespaces_are_selected_by_label(sim: KubeSim) -> None:
    sim.add("namespaces", "in", labels={"team": "x"})
    sim.add("namespaces", "out")
    sim.add_cluster_queue(
        "q", {"h100": 8}, namespaceSelector={"matchExpressions": [{"key": "team", "operator": "Exists"}]}
    )
    for namespace in ("in", "out"):
        sim.add_local_queue(namespace, "lq", "q")
        sim.submit_job(namespace, f"j-{namespace}", "lq", 1)
    sim.reconcile()
    assert _running(sim) == {"j-in"}
    assert _waits(sim, "out", "j-out") == "Workload namespace doesn't match ClusterQueue selector"


def test_members_of_a_circle_of_cohorts_admit_nothing(sim: KubeSim) -> None:
    sim.add("cohorts", "c", {"spec": {"parentName": "c"}})
    _queue(sim, "t", {"h100": 8}, cohort="c")
    _submit(sim, "t", "j", 1)
    assert _running(sim) == set()


def test_positions_in_the_queue_are_visible(sim: KubeSim) -> None:
    _queue(sim, "t", {"h100": 1})
    for name, priority in (("runs", 5), ("low", 1), ("high", 9)):
        _submit(sim, "t", name, 1, priority=priority)
    path = "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/t/localqueues/lq/pendingworkloads"
    _, _, body = sim.handle("GET", path)
    seen = [(i["metadata"]["ownerReferences"][0]["name"], i["positionInClusterQueue"]) for i in body["items"]]
    assert seen == [("high", 0), ("low", 1)]


QUOTAS = st.tuples(st.integers(0, 6), st.none() | st.integers(0, 4), st.none() | st.integers(0, 6))
POLICIES = st.sampled_from(["Never", "LowerPriority", "Any"])
JOBS = st.tuples(st.integers(0, 2), st.integers(1, 5), st.integers(1, 3))


def _cohort(queues: list[Any]) -> KubeSim:
    """Teams t0, t1, ... of one cohort: ((nominal, borrowing, lending), reclaim policy) each."""
    sim = KubeSim()
    for n, ((nominal, borrowing, lending), policy) in enumerate(queues):
        limits: Limits = {"nominal": nominal, "borrowing": borrowing}
        if lending is not None:
            limits["lending"] = min(lending, nominal)
        _queue(sim, f"t{n}", {"h100": limits}, cohort="c", preemption={"reclaimWithinCohort": policy})
    return sim


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(QUOTAS, POLICIES), min_size=1, max_size=3), st.lists(JOBS, max_size=8))
def test_it_comes_to_rest_and_never_runs_more_than_the_cohort_has(queues: list[Any], jobs: list[Any]) -> None:
    sim = _cohort(queues)
    for n, (team, gpus, priority) in enumerate(jobs):
        _submit(sim, f"t{team % len(queues)}", f"j{n}", gpus, priority=priority)
        assert _used(sim) <= sum(nominal for (nominal, _, _), _ in queues)


@settings(deadline=None, max_examples=60)
@given(st.lists(QUOTAS, min_size=1, max_size=3), st.lists(JOBS, min_size=1, max_size=8))
def test_a_lowered_quota_evicts_nobody_where_nobody_reclaims(quotas: list[Any], jobs: list[Any]) -> None:
    sim = _cohort([(quota, "Never") for quota in quotas])
    for n, (team, gpus, _) in enumerate(jobs):
        _submit(sim, f"t{team % len(quotas)}", f"j{n}", gpus)
    before = _running(sim)
    for n in range(len(quotas)):
        sim.hand_edit(f"t{n}", "h100", nominal=0, lending=None)
    sim.reconcile()
    assert _running(sim) == before


def _used(sim: KubeSim) -> int:
    found = 0
    for queue in sim.cluster.store.all("clusterqueues"):
        (quota,) = queue["status"]["flavorsReservation"][0]["resources"]
        found += int(quota["total"])
    return found
