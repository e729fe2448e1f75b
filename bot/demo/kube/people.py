"""What people and other controllers do to the cluster, one call each: submit jobs, edit quotas by hand, revert them
from Git.

`Hands` is the base of `KubeSim`. Everything goes through the API's own rules, as an administrator and past planned
faults.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypedDict, Unpack

from bot.demo.kube import api, conversion, jobs
from bot.demo.kube.cluster import BY_PLURAL, Cluster
from bot.demo.kube.kinds import KUEUE, NEW
from bot.demo.kube.rbac import Access
from bot.demo.kube.workloads import marked, priority
from bot.demo.kube.writes import JSON_PATCH, MERGE_PATCH

Obj = dict[str, Any]
Quantity = int | str
GPU = "nvidia.com/gpu"
AUTOMATION = "MultiKueueManagerQuotaAutomation"
"""The condition that says that Kueue writes a manager queue's quotas."""
_KEYS = {"nominal": "nominalQuota", "borrowing": "borrowingLimit", "lending": "lendingLimit"}


class Refused(Exception):
    """The API said no to a helper's request; `status` is the HTTP status."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(body["message"] if isinstance(body, dict) else str(body))
        self.status = status


class Limits(TypedDict, total=False):
    """Numbers of one quota; None removes a limit."""

    nominal: Quantity
    borrowing: Quantity | None
    lending: Quantity | None


class JobOptions(TypedDict, total=False):
    """`gpus` of submit_job is per pod; `flavor` asks for nodes of that flavor; `annotations` go on the Job and its
    pods.
    """

    priority: int
    resource: str
    flavor: str
    pods: int
    annotations: dict[str, str]


class Hands:
    """The helpers. They raise `Refused` where the API refuses."""

    cluster: Cluster

    def request(
        self, method: str, path: str, body: Any = None, *, manager: str = "kubectl", content_type: str = ""
    ) -> Any:
        """One request with all rights; the answer's body."""
        headers = {"content-type": content_type or "application/json"}
        asked = api.Request(method, path, {"fieldManager": manager} if manager else {}, headers, body)
        response = self.as_admin(asked)
        if response.status >= 400:
            raise Refused(response.status, response.body)
        return response.body

    def as_admin(self, request: api.Request) -> api.Response:
        return api.handle(self.cluster, Access(), request)

    def path(self, plural: str, namespace: str = "", name: str = "") -> str:
        """The path of a resource in the newest served version."""
        kind = BY_PLURAL[plural]
        version = (self.cluster.versions or (NEW,))[-1] if kind.group == KUEUE else kind.versions[-1]
        base = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
        scope = f"/namespaces/{namespace}" if namespace else ""
        return f"{base}{scope}/{plural}" + (f"/{name}" if name else "")

    def add(self, plural: str, name: str, fields: Obj | None = None, namespace: str = "", **meta: Any) -> Obj:
        """Create an object: `fields` beside its metadata, `meta` (labels, annotations) in it."""
        kind, path = BY_PLURAL[plural], self.path(plural, namespace)
        version = "/".join(path.split("/")[2:4]) if kind.group else "v1"
        body = {"apiVersion": version, "kind": kind.kind, "metadata": {"name": name, **meta}, **(fields or {})}
        created: Obj = self.request("POST", path, body, manager="kubectl-create")
        return created

    def ensure(self, plural: str, name: str, fields: Obj | None = None, **meta: Any) -> None:
        """Create a cluster-scoped object unless it is there."""
        if self.cluster.get(plural, "", name) is None:
            self.add(plural, name, fields, **meta)

    def add_cluster_queue(
        self, name: str, quotas: Mapping[str, Limits | Quantity], *, cohort: str = "", resource: str = GPU, **spec: Any
    ) -> Obj:
        """A queue with one resource: {flavor: nominal or limits}. Its flavors are created; `spec` adds fields
        (preemption, ...).
        """
        flavors = []
        for flavor, quota in quotas.items():
            self.ensure("resourceflavors", flavor, {"spec": {"nodeLabels": {"gpu-flavor": flavor}}})
            limits: Limits = quota if isinstance(quota, dict) else {"nominal": quota}
            entry = {_KEYS[key]: value for key, value in limits.items() if value is not None}
            flavors.append({"name": flavor, "resources": [{"name": resource, **entry}]})
        group = {"coveredResources": [resource], "flavors": flavors}
        fields: Obj = {"namespaceSelector": {}, "resourceGroups": [group], **spec}
        if cohort:
            fields["cohortName" if self.cluster.versions[-1] == NEW else "cohort"] = cohort
        return self.add("clusterqueues", name, {"spec": fields})

    def add_node(self, name: str, flavor: str, gpus: int, *, resource: str = GPU, cordoned: bool = False) -> Obj:
        """A node that is ready, with so many devices of a flavor."""
        spec: Obj = {"unschedulable": True} if cordoned else {}
        status = {"allocatable": {resource: str(gpus)}, "conditions": [{"type": "Ready", "status": "True"}]}
        return self.add("nodes", name, {"spec": spec, "status": status}, labels={"gpu-flavor": flavor})

    def cordon(self, name: str, *, undo: bool = False) -> None:
        """As `kubectl cordon` does, or `uncordon`."""
        body = {"spec": {"unschedulable": None if undo else True}}
        path = self.path("nodes", "", name)
        self.request("PATCH", path, body, content_type="application/merge-patch+json", manager="kubectl-cordon")

    def add_local_queue(self, namespace: str, name: str, cluster_queue: str) -> Obj:
        """A LocalQueue, and its namespace if that is not there."""
        self.ensure("namespaces", namespace)
        return self.add("localqueues", name, {"spec": {"clusterQueue": cluster_queue}}, namespace)

    def submit_job(self, namespace: str, name: str, local_queue: str, gpus: int, **options: Unpack[JobOptions]) -> Obj:
        """A Job for a LocalQueue. It becomes a Workload with the next reconcile."""
        self.ensure("namespaces", namespace)
        labels = {jobs.QUEUE: local_queue}
        if priority := options.get("priority", 0):
            labels[jobs.CLASS] = f"priority-{priority}"
            self.ensure("workloadpriorityclasses", labels[jobs.CLASS], {"value": priority})
        share = {options.get("resource", GPU): str(gpus)}
        container = {"name": "train", "image": "registry.example/train:1"}
        pod: Obj = {"restartPolicy": "Never"}
        pod["containers"] = [{**container, "resources": {"requests": share, "limits": share}}]
        if flavor := options.get("flavor"):
            pod["nodeSelector"] = {"gpu-flavor": flavor}
        pods, annotations = options.get("pods", 1), options.get("annotations", {})
        template = {"metadata": {"annotations": annotations} if annotations else {}, "spec": pod}
        spec = {"parallelism": pods, "completions": pods, "suspend": True, "template": template}
        meta = {"labels": labels, **({"annotations": annotations} if annotations else {})}
        return self.add("jobs", name, {"spec": spec}, namespace, **meta)

    def finish(self, namespace: str, name: str, *, failed: bool = False) -> None:
        """The Job ends; its quota is free with the next reconcile."""
        jobs.end(self.cluster, self._get("jobs", namespace, name), failed=failed)

    def delete(self, plural: str, name: str, namespace: str = "") -> None:
        """Delete an object as a person would; finalizers may hold it until the next reconcile."""
        self.request("DELETE", self.path(plural, namespace, name))

    def set_active(self, namespace: str, job: str, *, active: bool) -> None:
        """Deactivate or reactivate the Workload of a Job."""
        name = self.workload(namespace, job)["metadata"]["name"]
        body = {"spec": {"active": active}}
        self.request("PATCH", self.path("workloads", namespace, name), body, content_type=MERGE_PATCH)

    def raise_priority(self, namespace: str, job: str, by: int) -> int:
        """The priority of the Workload of a Job, edited by hand: it is always mutable. What it is then."""
        workload = self.workload(namespace, job)
        higher = priority(workload) + by
        path = self.path("workloads", namespace, workload["metadata"]["name"])
        self.request("PATCH", path, {"spec": {"priority": higher}}, manager="kubectl-edit", content_type=MERGE_PATCH)
        return higher

    def stop(self, queue: str, policy: str) -> None:
        """Set a ClusterQueue's stopPolicy: None, Hold or HoldAndDrain."""
        body = {"spec": {"stopPolicy": policy}}
        self.request("PATCH", self.path("clusterqueues", "", queue), body, content_type=MERGE_PATCH)

    def automate(self, queue: str, *, effective: bool = False) -> None:
        """Kueue writes this queue's quotas itself from now on: by MultiKueue's quota automation, or beside the spec as
        status.effectiveQuotas. The numbers it writes are `hand_edit`s of its manager.
        """
        obj = self._get("clusterqueues", "", queue)
        if effective:
            own = [{"name": flavor, "resources": [entry]} for entry, flavor, _ in _quotas(obj)]
            self.cluster.put_status(obj, "clusterqueues", {**obj.get("status", {}), "effectiveQuotas": own})
            return
        marks = marked(self.cluster, obj, AUTOMATION, True, "QuotaAutomation", "Quotas are the sum of the workers'")
        self.cluster.put_status(obj, "clusterqueues", marks["status"])

    def let_go(self, queue: str) -> None:
        """The opposite of `automate`. The numbers stay as they are."""
        obj = self._get("clusterqueues", "", queue)
        status = {name: value for name, value in obj.get("status", {}).items() if name != "effectiveQuotas"}
        left = [one for one in status.get("conditions", []) if one["type"] != AUTOMATION]
        self.cluster.put_status(obj, "clusterqueues", {**status, "conditions": left})

    def hand_edit(
        self, queue: str, flavor: str, resource: str = GPU, *, manager: str = "kubectl-edit", **limits: Unpack[Limits]
    ) -> Obj:
        """Somebody changes numbers of one quota. Siblings stay as they are."""
        entry, at = self._quota(queue, flavor, resource)
        operations: list[Obj] = []
        for key, value in limits.items():
            if value is not None:
                operations.append({"op": "add", "path": f"{at}/{_KEYS[key]}", "value": value})
            elif _KEYS[key] in entry:
                operations.append({"op": "remove", "path": f"{at}/{_KEYS[key]}"})
        where = self.path("clusterqueues", "", queue)
        edited: Obj = self.request("PATCH", where, operations, manager=manager, content_type=JSON_PATCH)
        return edited

    def gitops_revert(self, queue: str, *, strip: bool = False, manager: str = "argocd-controller") -> Obj:
        """Git's spec, which is the queue's first, replaces the live one; `strip` also takes annotations that Git
        does not have.
        """
        live = self._get("clusterqueues", "", queue)
        uid = live["metadata"]["uid"]
        born = (c.obj for c in self.cluster.store.history("clusterqueues") if c.obj["metadata"]["uid"] == uid)
        first = next(born)
        meta = dict(live["metadata"])
        if strip:
            meta["annotations"] = first["metadata"].get("annotations", {})
        body = {**live, "spec": first["spec"], "metadata": meta}
        where = self.path("clusterqueues", "", queue)
        if NEW not in self.cluster.versions:
            body = conversion.to_old(body)
        reverted: Obj = self.request("PUT", where, body, manager=manager)
        return reverted

    def annotate(self, queue: str, *, manager: str = "kubectl-annotate", **annotations: str | None) -> None:
        """Set or (None) remove annotations of a ClusterQueue."""
        body = {"metadata": {"annotations": annotations}}
        where = self.path("clusterqueues", "", queue)
        self.request("PATCH", where, body, manager=manager, content_type=MERGE_PATCH)

    def queue(self, name: str) -> Obj:
        """The ClusterQueue as stored (v1beta2); not to be changed."""
        return self._get("clusterqueues", "", name)

    def workload(self, namespace: str, job: str) -> Obj:
        """The Workload of a Job as stored; not to be changed."""
        name = jobs.workload_name(self._get("jobs", namespace, job))
        return self._get("workloads", namespace, name)

    def nominal(self, queue: str, flavor: str, resource: str = GPU) -> Quantity:
        """The nominalQuota as written: a string or a number."""
        value: Quantity = self._quota(queue, flavor, resource)[0]["nominalQuota"]
        return value

    def _get(self, plural: str, namespace: str, name: str) -> Obj:
        found = self.cluster.get(plural, namespace, name)
        if found is None:
            raise KeyError(f"{plural} {namespace}/{name}")
        return found

    def _quota(self, queue: str, flavor: str, resource: str) -> tuple[Obj, str]:
        for entry, named, at in _quotas(self._get("clusterqueues", "", queue)):
            if (named, entry["name"]) == (flavor, resource):
                return entry, at
        raise KeyError(f"{queue} has no {resource} in {flavor}")


def _quotas(queue: Obj) -> Iterator[tuple[Obj, str, str]]:
    for g, group in enumerate(queue["spec"].get("resourceGroups", [])):
        for f, flavor in enumerate(group["flavors"]):
            for r, entry in enumerate(flavor["resources"]):
                yield entry, flavor["name"], f"/spec/resourceGroups/{g}/flavors/{f}/resources/{r}"
