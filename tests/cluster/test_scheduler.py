"""What kube-scheduler does to pods on nodes with GPUs: preemption by priority, and pods that fit nowhere. Both to plain
pods and to those of Jobs that Kueue has admitted, whose quota is then reserved for work that does not run.

On each real place and not on the simulator, which has no pods on nodes: the bot reads none. The nodes are the test's
own and tainted, so that no other test's pods come to them. Nothing acts for a kubelet: a pod that is told to go stays
until it is removed.
"""

from collections.abc import Iterator

import pytest

from bot.core.kueue import FlavorResource
from tests.cluster.api import Obj, condition, reason
from tests.cluster.places import REAL
from tests.cluster.site import GPU, Site
from tests.cluster.waiting import eventually

pytestmark = pytest.mark.parametrize("place", REAL, indirect=True)
LOW, HIGH = 100, 1000


class Machines:
    """One node with 8 GPUs for the pods of one test, two priorities, and a flavor that puts Jobs on the node."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.pods = f"/api/v1/namespaces/{site.namespace}/pods"
        site.make_namespace(site.namespace)
        self._labels = {"tests": site.mark}
        self._tolerations = [{"key": "tests", "value": site.mark, "effect": "NoSchedule"}]
        self.node = site.node("node", 8, self._labels, taints=self._tolerations)
        flavor = {"nodeLabels": self._labels, "tolerations": self._tolerations}
        site.make("resourceflavors", site.name("h100"), {"spec": flavor})
        for value in (LOW, HIGH):
            body = {"metadata": {"name": site.name(f"pods{value}")}, "value": value}
            site.create("/apis/scheduling.k8s.io/v1/priorityclasses", body)

    def pod(self, word: str, gpus: int, priority: int) -> str:
        """Submit a pod past Kueue; its name."""
        site, share = self._site, {GPU: str(gpus)}
        spec = {
            "priorityClassName": site.name(f"pods{priority}"),
            "nodeSelector": self._labels,
            "tolerations": self._tolerations,
            "containers": [{"name": "train", "image": "train:1", "resources": {"requests": share, "limits": share}}],
        }
        site.api.must("POST", self.pods, {"metadata": {"name": site.name(word)}, "spec": spec})
        return site.name(word)

    def pods_of(self, job: str) -> list[str]:
        """The names of the Job's pods, those on their way out too."""
        listed = self._site.api.must("GET", self.pods)["items"]
        return [one["metadata"]["name"] for one in listed if one["metadata"].get("labels", {}).get("job-name") == job]

    def first_pod(self, job: str) -> str:
        """Wait for it; its name."""
        return eventually(f"a pod of {job}", lambda: self.pods_of(job))[0]

    def get(self, pod: str) -> Obj:
        """As it is now."""
        return self._site.api.must("GET", f"{self.pods}/{pod}")

    def until_bound(self, pod: str) -> None:
        """Wait until it has its node."""
        eventually(f"{pod} bound", lambda: self.get(pod)["spec"].get("nodeName") == self.node)

    def remove(self, pod: str) -> None:
        """What a kubelet does when the pod has ended."""
        self._site.api.request("DELETE", f"{self.pods}/{pod}", {"gracePeriodSeconds": 0})

    def clean(self) -> None:
        """The pods: nobody else would end them."""
        for pod in self._site.api.must("GET", self.pods)["items"]:
            self.remove(pod["metadata"]["name"])


@pytest.fixture
def machines(site: Site) -> Iterator[Machines]:
    made = Machines(site)
    try:
        yield made
    finally:
        made.clean()


def _events(site: Site, pod: str, why: str) -> list[Obj]:
    listed = site.api.must("GET", f"/apis/events.k8s.io/v1/namespaces/{site.namespace}/events")["items"]
    return [one for one in listed if one["regarding"]["name"] == pod and one["reason"] == why]


def test_a_pod_of_higher_priority_takes_the_place_of_a_lower_one(site: Site, machines: Machines) -> None:
    """The victim is marked before it is deleted; the event on it names the other by its uid."""
    victim = machines.pod("victim", 8, LOW)
    machines.until_bound(victim)
    urgent = machines.pod("urgent", 8, HIGH)
    eventually("marked", lambda: condition(machines.get(victim), "DisruptionTarget") == "True")
    why, words = reason(machines.get(victim), "DisruptionTarget")
    assert why == "PreemptionByScheduler"
    assert words == "default-scheduler: preempting to accommodate a higher priority pod"
    eventually("told to go", lambda: "deletionTimestamp" in machines.get(victim)["metadata"])
    (told,) = eventually("the event", lambda: _events(site, victim, "Preempted"))
    assert (told["type"], told["action"]) == ("Normal", "Preempting")
    assert told["note"] == f"Preempted by pod {machines.get(urgent)['metadata']['uid']} on node {machines.node}"
    assert machines.get(urgent)["status"]["nominatedNodeName"] == machines.node
    machines.remove(victim)
    machines.until_bound(urgent)
    related = told.get("related", {}).get("name", "nobody")
    assert related == "nobody", f"who took its place is told by uid only, and not by name: {related}"


def test_a_pod_that_fits_nowhere_says_what_is_missing(site: Site, machines: Machines) -> None:
    pod = machines.pod("huge", 9, HIGH)
    eventually("unschedulable", lambda: condition(machines.get(pod), "PodScheduled") == "False")
    why, words = reason(machines.get(pod), "PodScheduled")
    assert why == "Unschedulable"
    assert "nodes are available: " in words
    assert f"1 Insufficient {GPU}" in words
    assert "preemption: 0/" in words
    (told, *_) = eventually("the event", lambda: _events(site, pod, "FailedScheduling"))
    assert (told["type"], told["note"]) == ("Warning", words)


def test_equal_priority_waits(site: Site, machines: Machines) -> None:
    first = machines.pod("first", 8, LOW)
    machines.until_bound(first)
    second = machines.pod("second", 8, LOW)
    eventually("unschedulable", lambda: condition(machines.get(second), "PodScheduled") == "False")
    assert "No preemption victims found for incoming pod" in reason(machines.get(second), "PodScheduled")[1]
    assert condition(machines.get(first), "DisruptionTarget") == ""
    machines.remove(first)
    machines.until_bound(second)


def _holds(site: Site, queue: str) -> dict[str, int]:
    """What the bot sees of a queue's work: Job -> GPUs it holds."""
    entry = FlavorResource(site.flavor(), GPU)
    return {str(work.owner): work.usage.get(entry, 0) for work in site.bot().workloads({queue})}


def test_admitted_work_that_fits_on_no_node_keeps_its_quota(site: Site, machines: Machines) -> None:
    """Quota for 16 and a node with 8: Kueue admits, the scheduler does not place, and the bot sees both as held."""
    queue = site.queue("queue", 16)
    placed = site.job("placed", queue, 8)
    machines.until_bound(machines.first_pod(placed))
    stuck = site.job("stuck", queue, 8)
    pod = machines.first_pod(stuck)
    eventually("unschedulable", lambda: condition(machines.get(pod), "PodScheduled") == "False")
    why, words = reason(machines.get(pod), "PodScheduled")
    assert (why, f"1 Insufficient {GPU}" in words) == ("Unschedulable", True), words
    assert site.admitted(stuck)
    eventually("both in the queue's status", lambda: site.reserved(queue) == (16, 0))
    assert _holds(site, queue) == {placed: 8, stuck: 8}
    machines.remove(machines.first_pod(placed))
    site.cancel(placed)
    machines.until_bound(pod)


def test_admitted_work_whose_pod_the_scheduler_preempts_is_not_evicted(site: Site, machines: Machines) -> None:
    """By a pod that Kueue does not know. No condition of the Workload says so: its quota stays, its Job tries again."""
    queue = site.queue("queue", 8)
    job = site.job("train", queue, 8)
    victim = machines.first_pod(job)
    machines.until_bound(victim)
    urgent = machines.pod("urgent", 8, HIGH)
    eventually("told to go", lambda: "deletionTimestamp" in machines.get(victim)["metadata"])
    assert reason(machines.get(victim), "DisruptionTarget")[0] == "PreemptionByScheduler"
    machines.remove(victim)
    machines.until_bound(urgent)
    (again,) = eventually("its next pod", lambda: [name for name in machines.pods_of(job) if name != victim])
    eventually("unschedulable", lambda: condition(machines.get(again), "PodScheduled") == "False")
    kinds = {one["type"] for one in (site.workload(job) or {})["status"]["conditions"]}
    assert kinds & {"Evicted", "Preempted", "Requeued"} == set()
    assert site.admitted(job)
    eventually("still in the queue's status", lambda: site.reserved(queue) == (8, 0))
    assert _holds(site, queue) == {job: 8}
