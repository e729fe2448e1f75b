"""What kube-scheduler does to plain pods on nodes with GPUs: preemption by priority, and pods that fit nowhere.

On each real place and not on the simulator, which has no pods on nodes: the bot reads none. The nodes are the test's
own and tainted, so that no other test's pods come to them. Nothing acts for a kubelet: a pod that is told to go stays
until it is removed.
"""

from collections.abc import Iterator

import pytest

from tests.cluster.api import MERGE_PATCH, Obj, condition, reason
from tests.cluster.places import REAL
from tests.cluster.site import GPU, Site
from tests.cluster.waiting import eventually

pytestmark = pytest.mark.parametrize("place", REAL, indirect=True)
LOW, HIGH = 100, 1000


class Machines:
    """One node with 8 GPUs for the pods of one test, and two priorities."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.pods = f"/api/v1/namespaces/{site.namespace}/pods"
        self.node = site.name("node")
        site.make_namespace(site.namespace)
        taint = {"key": "tests", "value": site.mark, "effect": "NoSchedule"}
        labels = {"tests": site.mark}
        site.api.must("POST", "/api/v1/nodes", {"metadata": {"name": self.node, "labels": labels}})
        has = {"cpu": "64", "memory": "64Gi", "pods": "110", GPU: "8"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "for the test"}
        status = {"capacity": has, "allocatable": has, "conditions": [ready]}
        node = f"/api/v1/nodes/{self.node}"
        site.api.must("PATCH", f"{node}/status", {"status": status}, MERGE_PATCH)
        # In place of the taint that every new node gets, not-ready: the controller that takes it off does not run here.
        site.api.must("PATCH", node, {"spec": {"taints": [taint]}}, MERGE_PATCH)
        for value in (LOW, HIGH):
            body = {"metadata": {"name": site.name(f"pods{value}")}, "value": value}
            site.api.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", body)

    def pod(self, word: str, gpus: int, priority: int) -> str:
        """Submit a pod; its name."""
        site, share = self._site, {GPU: str(gpus)}
        spec = {
            "priorityClassName": site.name(f"pods{priority}"),
            "nodeSelector": {"tests": site.mark},
            "tolerations": [{"key": "tests", "value": site.mark, "effect": "NoSchedule"}],
            "containers": [{"name": "train", "image": "train:1", "resources": {"requests": share, "limits": share}}],
        }
        site.api.must("POST", self.pods, {"metadata": {"name": site.name(word)}, "spec": spec})
        return site.name(word)

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
        """All of it."""
        for pod in self._site.api.must("GET", self.pods)["items"]:
            self.remove(pod["metadata"]["name"])
        self._site.api.request("DELETE", f"/api/v1/nodes/{self.node}")
        for value in (LOW, HIGH):
            name = self._site.name(f"pods{value}")
            self._site.api.request("DELETE", f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}")


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
    assert "related" not in told, "who took its place is told by uid only"
    assert machines.get(urgent)["status"]["nominatedNodeName"] == machines.node
    machines.remove(victim)
    machines.until_bound(urgent)


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
