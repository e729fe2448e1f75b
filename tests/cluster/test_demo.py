"""The demo's story `loop` with the real bot, its simulated Slack, and the cluster of the place."""

from pathlib import Path

import pytest

from bot.demo.kube.people import Limits
from bot.demo.run_stage import COHORT, PREEMPTION, QUEUES, Stage, local_queue
from bot.demo.script_loop import tell_loop
from tests.cluster.api import condition
from tests.cluster.places import BOT
from tests.cluster.recorder import Recorder
from tests.cluster.site import GPU, Site
from tests.cluster.waiting import eventually

LIMITS = {"nominal": "nominalQuota", "borrowing": "borrowingLimit", "lending": "lendingLimit"}


class StageOnSite(Stage):
    """A stage whose cluster is a site's. The demo's queues have fixed names, so there may be one at a time."""

    def __init__(self, site: Site) -> None:
        super().__init__()
        self._site = site
        self._recorder: Recorder

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "INSTALL_NAME": f"demo-{self._site.mark}"}

    def kubeconfig(self) -> Path:
        return self._site.user(BOT)

    def nominal(self, queue: str) -> int:
        return int(self._site.quota(queue)["nominalQuota"])

    def edit_by_hand(self, queue: str, nominal: int) -> None:
        self._site.edit(queue, "nominalQuota", str(nominal))

    def submit(self, queue: str, job: str, gpus: int, priority: int = 0) -> None:
        self._site.job_of(*local_queue(queue), job, gpus, priority)

    def is_running(self, queue: str, job: str) -> bool:
        return condition(self._site.workload_of(local_queue(queue)[0], job), "QuotaReserved") == "True"

    def cancel(self, queue: str, job: str) -> None:
        self._site.cancel_of(local_queue(queue)[0], job)

    def merge_in_git(self, queue: str, nominal: int) -> None:
        self.edit_by_hand(queue, nominal)

    def sums(self) -> list[int]:
        return self._recorder.sums()

    def make_queues(self) -> None:
        self._site.make("resourceflavors", "a100", {"spec": {}})
        for name, limits in QUEUES.items():
            self._make_queue(name, limits)
        self._recorder = Recorder(self._site, QUEUES)

    def _make_queue(self, name: str, limits: Limits) -> None:
        site = self._site
        numbers = {LIMITS[word]: str(number) for word, number in limits.items()}
        flavors = [{"name": "a100", "resources": [{"name": GPU, **numbers}]}]
        groups = [{"coveredResources": [GPU], "flavors": flavors}]
        spec = {site.cohort_field: COHORT, "namespaceSelector": {}, "preemption": PREEMPTION, "resourceGroups": groups}
        site.make("clusterqueues", name, {"spec": spec})
        namespace, local = local_queue(name)
        site.make_namespace(namespace)
        site.make("localqueues", local, {"spec": {"clusterQueue": name}}, namespace)
        eventually(f"{name} active", lambda: condition(site.get_queue(name), "Active") == "True")


@pytest.mark.one_database("its queues and namespaces have fixed names: one story at a time on a cluster")
def test_the_loop_comes_true(site: Site) -> None:
    """And no version of any queue made the cohort's sum larger."""
    said: list[str] = []
    with StageOnSite(site) as stage:
        tell_loop(stage, said.append)
    assert "queues: nlp 24, vision 16, robotics 8" in said[-1]
