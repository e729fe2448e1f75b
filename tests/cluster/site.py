"""What people do where the contract is tried: make queues, submit Jobs, edit by hand, give rights. All over HTTP.

Names are new for each test, so that tests do not meet each other on one server; what a test made is deleted at its end.
"""

import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.adapters.kube.client import connect
from bot.adapters.kube.cluster import KubeCluster
from bot.ports.clock import Clock
from tests.cluster.api import APPLY, JSON_PATCH, MERGE_PATCH, Obj, condition
from tests.cluster.places import BOT, GROUP, Place, Rights
from tests.cluster.waiting import eventually

GPU = "nvidia.com/gpu"
_KINDS = {
    "clusterqueues": "ClusterQueue",
    "cohorts": "Cohort",
    "localqueues": "LocalQueue",
    "resourceflavors": "ResourceFlavor",
    "workloadpriorityclasses": "WorkloadPriorityClass",
}


_UID = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_COHORT_FIELD = {"v1beta1": "cohort", "v1beta2": "cohortName"}


class Site:
    """What a test works on. `mark` makes its names unique; `kueue` is the path of Kueue's API in the newest version
    that is served there, which the bot has to find by itself, and `other_version` the version that it is not.
    """

    def __init__(self, place: Place, clock: Clock) -> None:
        self.place = place
        self.api = place.admin
        self.what = place.what
        self.version = place.version
        self.kueue = f"/apis/{GROUP}/{place.version}"
        self.cohort_field = _COHORT_FIELD[place.version]
        (self.other_version,) = _COHORT_FIELD.keys() - {place.version}
        self.other_cohort_field = _COHORT_FIELD[self.other_version]
        self.mark = uuid.uuid4().hex[:6]
        self.cohort = self.name("pool")
        self.namespace = self.name("work")
        self._clock = clock
        self._made: list[str] = []
        self._clusters: list[KubeCluster] = []
        self._users: dict[frozenset[tuple[str, tuple[str, ...]]], tuple[str, Path]] = {}

    def name(self, word: str) -> str:
        """A name that no other test uses."""
        return f"{word}-{self.mark}"

    def unmarked(self, text: str) -> str:
        """Without what no two tests have in common: the mark of its names, and uids."""
        return _UID.sub("...", text.replace(f"-{self.mark}", ""))

    # -- the bot ------------------------------------------------------------------------------------------------------

    def bot(self, rights: Rights = BOT) -> KubeCluster:
        """The bot's adapter, as a user with these rights and no others."""
        cluster = KubeCluster("default", connect(str(self.user(rights)), None), self._clock)
        self._clusters.append(cluster)
        return cluster

    def user(self, rights: Rights) -> Path:
        """A kubeconfig of the test's user with these rights."""
        name = self.name(f"user{len(self._users)}")
        key = frozenset(rights.items())
        if key not in self._users:
            self._users[key] = (name, self.place.user(name, rights))
        return self._users[key][1]

    # -- queues -------------------------------------------------------------------------------------------------------

    def queue(self, word: str, nominal: Any, *, cohort: bool = True, **more: Any) -> str:
        """A ClusterQueue of one flavor, with a LocalQueue of the same name. `more`: borrowingLimit, lendingLimit, and
        fields of the spec. Returns its name when Kueue admits to it and has nothing more to write.
        """
        self.flavor()
        name = self.name(word)
        self.make("clusterqueues", name, self.queue_spec(nominal, cohort=cohort, **more))
        self.make_namespace(self.namespace)
        self.make("localqueues", name, {"spec": {"clusterQueue": name}}, self.namespace)
        eventually(f"{name} active", lambda: condition(self.get_queue(name), "Active") == "True")
        self.settle(name)
        return name

    def settle(self, *names: str) -> None:
        """Wait until Kueue has written the status of the specs as they are now: then the versions stand still."""
        for name in names:
            eventually(f"{name} looked at", lambda n=name: self._looked_at(n))  # type: ignore[misc]

    def _looked_at(self, name: str) -> bool:
        queue = self.get_queue(name)
        active = next(one for one in queue["status"]["conditions"] if one["type"] == "Active")
        return bool(active["observedGeneration"] >= queue["metadata"]["generation"])

    def queue_spec(self, nominal: Any, *, cohort: bool = True, **more: Any) -> Obj:
        """The body of a ClusterQueue, without its name."""
        limits: Obj = {name: more.pop(name) for name in ("borrowingLimit", "lendingLimit") if name in more}
        entry = {"name": GPU, "nominalQuota": nominal, **limits}
        group = {"coveredResources": [GPU], "flavors": [{"name": self.name("h100"), "resources": [entry]}]}
        spec = {"namespaceSelector": {}, "resourceGroups": [group], **more}
        if cohort:
            spec[self.cohort_field] = self.cohort
        return {"spec": spec}

    def flavor(self, **labels: str) -> str:
        """The test's ResourceFlavor; `labels` of its nodes where it is the first to ask for it."""
        name = self.name("h100")
        if self.api.try_get(f"{self.kueue}/resourceflavors/{name}") is None:
            self.make("resourceflavors", name, {"spec": {"nodeLabels": labels} if labels else {}})
        return name

    def node(self, word: str, gpus: int, labels: Obj, **spec: Any) -> str:
        """A node that is ready, with so many GPUs; its name."""
        name = self.name(word)
        self.create("/api/v1/nodes", {"metadata": {"name": name, "labels": labels}})
        has, path = {"cpu": "64", "memory": "64Gi", "pods": "110", GPU: str(gpus)}, f"/api/v1/nodes/{name}"
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "for the test"}
        status = {"capacity": has, "allocatable": has, "conditions": [ready]}
        self.api.must("PATCH", f"{path}/status", {"status": status}, MERGE_PATCH)
        # In place of the taint that every new node gets, not-ready: the controller that takes it off does not run here.
        self.api.must("PATCH", path, {"spec": {"taints": None, **spec}}, MERGE_PATCH)
        return name

    def get_queue(self, name: str) -> Obj:
        """The ClusterQueue as it is now."""
        return self.api.must("GET", f"{self.kueue}/clusterqueues/{name}")

    def quota(self, name: str) -> Obj:
        """Its one quota."""
        entry: Obj = self.get_queue(name)["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
        return entry

    def edit(self, name: str, field: str, value: Any, manager: str = "kubectl-edit") -> None:
        """Somebody changes one number by hand."""
        path = f"/spec/resourceGroups/0/flavors/0/resources/0/{field}"
        body = [{"op": "add", "path": path, "value": value}]
        self.api.must("PATCH", f"{self.kueue}/clusterqueues/{name}", body, JSON_PATCH, fieldManager=manager)

    def reserved(self, name: str) -> tuple[int, int]:
        """(reserved, borrowed of that), as the queue's status has them now."""
        for flavor in self.get_queue(name).get("status", {}).get("flavorsReservation", ()):
            entry = flavor["resources"][0]
            return int(entry["total"]), int(entry.get("borrowed") or 0)
        return 0, 0

    # -- work ---------------------------------------------------------------------------------------------------------

    def job(self, word: str, queue: str, gpus: int, priority: int = 0) -> str:
        """Submit a Job of one pod to a queue; its name."""
        self.make_namespace(self.namespace)
        name = self.name(word)
        self.job_of(self.namespace, queue, name, gpus, priority)
        return name

    def job_of(self, namespace: str, queue: str, name: str, gpus: int, priority: int = 0) -> None:
        """The same of any name, to a LocalQueue of any namespace."""
        labels = {"kueue.x-k8s.io/queue-name": queue}
        if priority:
            labels["kueue.x-k8s.io/priority-class"] = self._priority(priority)
        share = {GPU: str(gpus)}
        container = {"name": "train", "image": "train:1", "resources": {"requests": share, "limits": share}}
        template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
        body = {"spec": {"suspend": True, "parallelism": 1, "completions": 1, "template": template}}
        jobs = f"/apis/batch/v1/namespaces/{namespace}/jobs"
        self.create(jobs, {**body, "metadata": {"name": name, "labels": labels}})

    def cancel(self, job: str) -> None:
        """Somebody deletes the Job; its quota becomes free."""
        self.cancel_of(self.namespace, job)

    def cancel_of(self, namespace: str, job: str) -> None:
        """The same in any namespace."""
        path = f"/apis/batch/v1/namespaces/{namespace}/jobs/{job}"
        self.api.must("DELETE", path, {"propagationPolicy": "Background"})

    def workload(self, job: str) -> Obj | None:
        """The Workload that Kueue made for the Job."""
        return self.workload_of(self.namespace, job)

    def workload_of(self, namespace: str, job: str) -> Obj | None:
        """The same in any namespace."""
        listed = self.api.must("GET", f"{self.kueue}/namespaces/{namespace}/workloads")["items"]
        owned = (one for one in listed if one["metadata"].get("ownerReferences", [{}])[0].get("name") == job)
        return next(owned, None)

    def admitted(self, job: str) -> bool:
        """Whether it runs: admitted and not on its way out."""
        workload = self.workload(job)
        return condition(workload, "Admitted") == "True" and condition(workload, "Evicted") != "True"

    def waits(self, job: str) -> str:
        """Why it has no quota, in Kueue's words; empty while it has some or Kueue has not looked."""
        workload = self.workload(job)
        if workload is None or condition(workload, "QuotaReserved") != "False":
            return ""
        (message,) = (one["message"] for one in workload["status"]["conditions"] if one["type"] == "QuotaReserved")
        return str(message)

    def stages(self, job: str, since: str, last: Callable[[Obj], bool]) -> list[Obj]:
        """Every version of the Job's Workload after a resourceVersion, up to the first that is `last`."""
        seen = []
        for event in self.api.watch(f"{self.kueue}/namespaces/{self.namespace}/workloads", since):
            owners = event["object"]["metadata"].get("ownerReferences", [{}])
            if owners[0].get("name") == job:
                seen.append(event["object"])
                if last(event["object"]):
                    return seen
        raise AssertionError(f"the watch ended after {len(seen)} versions of the Workload of {job}")

    def now(self) -> str:
        """The resourceVersion of this moment, to watch from."""
        return str(self.api.must("GET", f"{self.kueue}/workloads")["metadata"]["resourceVersion"])

    def until_admitted(self, *jobs: str) -> None:
        """Wait for them."""
        for job in jobs:
            eventually(f"{job} admitted", lambda j=job: self.admitted(j))  # type: ignore[misc]

    def until_waiting(self, job: str) -> str:
        """Wait until Kueue has said why not; its words."""
        return eventually(f"{job} waiting", lambda: self.waits(job))

    # -- making and cleaning up ---------------------------------------------------------------------------------------

    def named(self, plural: str, name: str, body: Obj) -> Obj:
        """The whole object of one of Kueue's kinds: a custom resource has to say what it is."""
        kind = _KINDS[plural]
        return {"apiVersion": f"{GROUP}/{self.version}", "kind": kind, "metadata": {"name": name}, **body}

    def make(self, plural: str, name: str, body: Obj, namespace: str = "") -> Obj:
        """Create one object of Kueue's."""
        scope = f"/namespaces/{namespace}" if namespace else ""
        return self.create(f"{self.kueue}{scope}/{plural}", self.named(plural, name, body))

    @property
    def converts(self) -> bool:
        """Whether the other version is served too."""
        versions = self.api.must("GET", f"/apis/{GROUP}")["versions"]
        return self.other_version in {one["version"] for one in versions}

    def until_gone(self, path: str) -> None:
        """Wait until an object that was deleted is no more."""
        eventually(f"{path} gone", lambda: self.api.request("GET", path).status == 404)

    def clean(self) -> None:
        """Delete what was made, newest first. What is still in use goes when its user has gone."""
        for cluster in self._clusters:
            cluster.close()
        for path in reversed(self._made):
            self.api.request("DELETE", path, {"propagationPolicy": "Background"})
        for name, _ in self._users.values():
            self.place.remove(name)

    def create(self, collection: str, body: Obj) -> Obj:
        """Create any object; it is deleted at the end."""
        created = self.api.must("POST", collection, body, fieldManager="kubectl-create")
        self._made.append(f"{collection}/{body['metadata']['name']}")
        return created

    def apply(self, collection: str, body: Obj) -> Obj:
        """As `kubectl apply --server-side` does, strictly; it is deleted at the end."""
        path = f"{collection}/{body['metadata']['name']}"
        query = {"fieldManager": "kubectl", "fieldValidation": "Strict"}
        applied = self.api.must("PATCH", path, body, APPLY, **query)
        if path not in self._made:
            self._made.append(path)
        return applied

    def make_namespace(self, name: str) -> None:
        """Unless it is there."""
        if self.api.try_get(f"/api/v1/namespaces/{name}") is None:
            self.create("/api/v1/namespaces", {"metadata": {"name": name}})

    def _priority(self, value: int) -> str:
        name = self.name(f"priority{value}")
        if self.api.try_get(f"{self.kueue}/workloadpriorityclasses/{name}") is None:
            self.make("workloadpriorityclasses", name, {"value": value})
        return name

    def merge(self, name: str, body: Obj, manager: str = "kubectl-patch") -> Obj:
        """A merge patch on a ClusterQueue that has to work."""
        return self.api.must("PATCH", f"{self.kueue}/clusterqueues/{name}", body, MERGE_PATCH, fieldManager=manager)
