"""The recorded story of two teams, step by step, in the words of both releases of Kueue that were recorded."""

from typing import Any

import pytest

from bot.demo.kube.people import Limits
from bot.demo.kube.sim import KubeSim

PREEMPTION = {
    "reclaimWithinCohort": "Any",
    "withinClusterQueue": "LowerPriority",
    "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 100},
}
FLAVOR = "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100"
NEVER = (
    "couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor h100, "
    "previously considered podsets requests (0) + current podset request (100) > maximum capacity ({})"
)


class Story:
    def __init__(self, sim: KubeSim, clock: Any) -> None:
        self.sim = sim
        self.clock = clock
        for team in ("team-a", "team-b"):
            quotas: dict[str, Limits | int | str] = {"h100": {"nominal": 8, "borrowing": 8}}
            sim.add_cluster_queue(team, quotas, cohort="gpu-pool", preemption=PREEMPTION)
            sim.add_local_queue(team, "lq", team)
        sim.reconcile()

    def submit(self, name: str, gpus: int, priority: int = 100, queue: str = "lq") -> None:
        self.sim.submit_job(f"team-{name[0]}", name, queue, gpus, priority=priority)
        self.settle()

    def settle(self) -> None:
        self.clock.advance(4)
        self.sim.reconcile()

    def condition(self, job: str, kind: str) -> tuple[str, str, str]:
        found = _conditions(self.sim.workload(f"team-{job[0]}", job)).get(kind, {})
        return found.get("status", ""), found.get("reason", ""), found.get("message", "")

    def admitted(self) -> set[str]:
        jobs = self.sim.cluster.store.all("jobs")
        return {job["metadata"]["name"] for job in jobs if not job["spec"]["suspend"]}

    def counts(self, team: str) -> tuple[str, str, int, int]:
        status = self.sim.queue(team)["status"]
        (quota,) = status["flavorsReservation"][0]["resources"]
        assert status["flavorsUsage"] == status["flavorsReservation"]
        return quota["total"], quota["borrowed"], status["pendingWorkloads"], status["admittedWorkloads"]


def _conditions(obj: Any) -> dict[str, Any]:
    return {condition["type"]: condition for condition in obj.get("status", {}).get("conditions", [])}


@pytest.fixture(params=["0.19.2", "main"])
def story(request: pytest.FixtureRequest, clock: Any) -> Story:
    return Story(KubeSim(clock, granular=request.param == "main"), clock)


def _reason(story: Story, granular: str, plain: str = "Pending") -> str:
    return granular if story.sim.cluster.granular else plain


def _to_step_4(story: Story) -> None:
    story.submit("a-1", 4)
    story.submit("a-2", 8)
    story.submit("a-3", 8)
    story.submit("a-big", 100)


def test_steps_1_to_4_admit_borrow_wait_and_never_fit(story: Story) -> None:
    _to_step_4(story)
    assert story.admitted() == {"a-1", "a-2"}
    assert story.counts("team-a") == ("12", "4", 2, 2)
    waiting = ("False", _reason(story, "WaitingForQuota"), f"{FLAVOR}, 4 more needed")
    assert story.condition("a-3", "QuotaReserved") == waiting
    never = ("False", _reason(story, "ExceedsMaxQuota"), NEVER.format(16))
    assert story.condition("a-big", "QuotaReserved") == never
    requests = story.sim.workload("team-a", "a-3")["status"]["resourceRequests"]
    assert requests == [{"name": "main", "resources": {"nvidia.com/gpu": "8"}}]


def test_step_5_reclaims_in_the_recorded_stages(story: Story) -> None:
    _to_step_4(story)
    story.sim.submit_job("team-b", "b-1", "lq", 8, priority=100)
    story.clock.advance(4)
    story.sim.reconcile(passes=1)
    victim, winner = story.sim.workload("team-a", "a-2"), story.sim.workload("team-b", "b-1")
    message = (
        f"Preempted to accommodate a workload (UID: {winner['metadata']['uid']}, JobUID: "
        f"{winner['metadata']['labels']['kueue.x-k8s.io/job-uid']}) due to reclamation within the cohort; "
        "preemptor path: /gpu-pool/team-b; preemptee path: /gpu-pool/team-a"
    )
    assert story.condition("a-2", "Evicted") == ("True", "Preempted", message)
    assert story.condition("a-2", "Preempted") == ("True", "InCohortReclamation", message)
    assert "observedGeneration" not in _conditions(victim)["Preempted"]
    assert victim["status"]["admission"]["clusterQueue"] == "team-a"
    assert story.condition("a-2", "Admitted")[0] == "True"
    assert victim["status"]["schedulingStats"]["evictions"] == [
        {"reason": "Preempted", "underlyingCause": "", "count": 1}
    ]
    pending = f"{FLAVOR}, 4 more needed. Pending the preemption of 1 workload(s)"
    assert story.condition("b-1", "QuotaReserved") == ("False", _reason(story, "WaitingForPreemptedWorkloads"), pending)

    story.sim.reconcile()
    victim = story.sim.workload("team-a", "a-2")
    assert "admission" not in victim["status"]
    assert story.condition("a-2", "Admitted") == ("False", "NoReservation", "The workload has no reservation")
    assert story.condition("a-2", "Requeued") == ("True", "Preempted", message)
    assert victim["status"]["accumulatedPastExecutionTimeSeconds"] == 12
    assert story.admitted() == {"a-1", "b-1"}


def test_a_preemption_writes_two_events_on_the_victim_and_one_on_the_winner(story: Story) -> None:
    _to_step_4(story)
    story.submit("b-1", 8)
    events = story.sim.cluster.store.all("events")
    by_reason = {event["reason"]: event for event in events}
    base = story.condition("a-2", "Evicted")[2]
    ranks = "; preemptor effective priority: 100 (base: 100, boost: 0)"
    ranks += "; preemptee effective priority: 100 (base: 100, boost: 0)"
    assert by_reason["EvictedDueToPreempted"]["message"] == base
    assert by_reason["Preempted"]["message"] == base + ranks
    assert by_reason["Preempted"]["type"] == "Normal"
    assert by_reason["PreemptedWorkload"]["message"].endswith(f"in ClusterQueue team-a{ranks}")
    assert by_reason["Stopped"]["message"] == base
    assert all(event.get("count") is None and event["eventTime"] for event in events)


def _to_step_6(story: Story) -> None:
    _to_step_4(story)
    story.submit("b-1", 8)
    story.submit("a-hi", 8, priority=1000)


def test_step_6_preempts_in_the_queue_by_priority(story: Story) -> None:
    _to_step_6(story)
    assert story.admitted() == {"a-hi", "b-1"}
    assert story.condition("a-1", "Preempted")[:2] == ("True", "InClusterQueue")
    assert (
        "due to prioritization in the ClusterQueue; preemptor path: /gpu-pool/team-a"
        in story.condition("a-1", "Evicted")[2]
    )
    assert story.condition("a-2", "QuotaReserved")[2] == f"{FLAVOR}, 8 more needed"


def test_step_7_a_lowered_quota_evicts_nobody(story: Story) -> None:
    _to_step_6(story)
    story.sim.hand_edit("team-a", "h100", nominal=2)
    story.settle()
    assert story.admitted() == {"a-hi", "b-1"}
    assert story.counts("team-a") == ("8", "6", 4, 1)
    assert story.condition("a-big", "QuotaReserved")[2] == NEVER.format(10)


def _to_step_10(story: Story) -> None:
    _to_step_6(story)
    story.sim.hand_edit("team-a", "h100", nominal=2)
    story.submit("b-2", 4)
    assert story.condition("b-2", "QuotaReserved")[2] == f"{FLAVOR}, 4 more needed"
    story.sim.hand_edit("team-b", "h100", nominal=14)
    story.settle()
    assert story.condition("a-hi", "Preempted")[:2] == ("True", "InCohortReclamation")
    assert "b-2" in story.admitted()
    story.sim.hand_edit("team-a", "h100", nominal=16)
    story.settle()


def test_steps_8_to_10_reclaim_from_a_higher_priority_and_come_back(story: Story) -> None:
    _to_step_10(story)
    assert story.admitted() == {"a-1", "a-hi", "b-1", "b-2"}
    for kind in ("Evicted", "Preempted"):
        status, reason, message = story.condition("a-hi", kind)
        assert (status, reason) == ("False", "QuotaReserved")
        assert message.startswith("Previously: Preempted to accommodate a workload (UID: ")
    assert story.condition("a-2", "QuotaReserved")[2] == f"{FLAVOR}, 2 more needed"
    assert story.condition("a-big", "QuotaReserved")[2] == NEVER.format(24)


def test_steps_11_to_13_deactivate_drain_and_resume(story: Story) -> None:
    _to_step_10(story)
    story.sim.set_active("team-b", "b-2", active=False)
    story.settle()
    assert story.condition("b-2", "Evicted") == ("True", "Deactivated", "The workload is deactivated")
    assert story.condition("b-2", "Requeued")[0] == "False"
    assert "a-2" in story.admitted()
    story.sim.stop("team-b", "HoldAndDrain")
    story.settle()
    assert story.condition("b-1", "Evicted") == ("True", "ClusterQueueStopped", "The ClusterQueue is stopped")
    (active,) = story.sim.queue("team-b")["status"]["conditions"]
    assert (active["status"], active["reason"]) == ("False", "Stopped")
    story.sim.stop("team-b", "None")
    story.settle()
    restarted = "The ClusterQueue was restarted after being stopped"
    assert story.condition("b-1", "Requeued") == ("True", "ClusterQueueRestarted", restarted)
    assert story.condition("b-1", "Evicted") == ("False", "QuotaReserved", "Previously: The ClusterQueue is stopped")
    story.sim.set_active("team-b", "b-2", active=True)
    story.settle()
    assert story.condition("b-2", "Requeued")[1] == "Reactivated"


def test_steps_14_and_15_a_missing_queue_and_a_missing_flavor(story: Story) -> None:
    story.submit("a-noq", 1, queue="does-not-exist")
    reason = _reason(story, "Misconfigured", "Inadmissible")
    assert story.condition("a-noq", "QuotaReserved") == ("False", reason, "LocalQueue does-not-exist doesn't exist")
    quota = {"name": "nvidia.com/gpu", "nominalQuota": 1}
    group = {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "no-such-flavor", "resources": [quota]}]}
    story.sim.add("clusterqueues", "broken", {"spec": {"resourceGroups": [group]}})
    story.settle()
    (active,) = story.sim.queue("broken")["status"]["conditions"]
    said = "Can't admit new workloads: references missing ResourceFlavor(s): no-such-flavor."
    assert (active["status"], active["reason"], active["message"]) == ("False", "FlavorNotFound", said)


def test_steps_17_to_19_deleted_finished_and_failed_jobs(story: Story) -> None:
    story.submit("b-1", 4)
    watched = story.sim.watch(story.sim.path("workloads"), {"resourceVersion": str(story.sim.cluster.store.version)})
    story.sim.delete("jobs", "b-1", "team-b")
    story.settle()
    events = watched.pending()
    assert [event["type"] for event in events] == ["MODIFIED", "DELETED"]
    assert _conditions(events[0]["object"])["Finished"]["reason"] == "OwnerNotFound"
    for job, failed, reason, message in (
        ("b-run", False, "Succeeded", "Reached expected number of succeeded pods"),
        ("b-fail", True, "Failed", "Job has reached the specified backoff limit"),
    ):
        story.submit(job, 2)
        story.sim.finish("team-b", job, failed=failed)
        story.settle()
        assert story.condition(job, "Finished") == ("True", reason, message)
    assert story.counts("team-b") == ("0", "0", 0, 0)


def test_step_20_a_queue_in_use_terminates_and_goes_with_its_last_workload(story: Story) -> None:
    story.submit("a-1", 4)
    story.submit("a-3", 100)
    story.sim.delete("clusterqueues", "team-a")
    story.settle()
    (active,) = story.sim.queue("team-a")["status"]["conditions"]
    assert (active["reason"], active["message"]) == (
        "Terminating",
        "Can't admit new workloads; clusterQueue is terminating",
    )
    inactive = ("False", _reason(story, "Suspended", "Inadmissible"), "ClusterQueue team-a is inactive")
    assert story.condition("a-3", "QuotaReserved") == inactive
    story.sim.finish("team-a", "a-1")
    story.settle()
    assert story.sim.cluster.get("clusterqueues", "", "team-a") is None
