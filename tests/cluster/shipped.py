"""policies/kubernetes on a site, and work like the examples' on it. Every name in it is made one of the test's own."""

import copy
import re
from typing import Any

from tests.cluster.api import Obj, condition
from tests.cluster.site import GPU, Site
from tests.cluster.waiting import eventually
from tests.support.shipped import objects, the

A100, H100 = "NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3"
_KEPT = ("main", "gpu", "no-high-priority")
"""Names in a namespace of the test's own."""
_FROM_1_30 = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")


class Shipped:
    """What is shipped, applied. Words for objects (nlp, vision-train) are the files'."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.base = "base" if site.version == "v1beta2" else "v1beta1"
        everything = [*objects("base"), *objects("examples")]
        names = {obj["metadata"]["name"] for obj in everything if obj["metadata"]["name"] not in _KEPT}
        names |= {"gpu-pool"}
        longest_first = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
        self._names = re.compile(rf"(?<![\w./-])({longest_first})(?![\w./-])")
        self._places: dict[str, dict[str, tuple[str, bool]]] = {}

    def named(self, word: str) -> str:
        """A shipped name as it is here."""
        return self._names.sub(lambda found: self.site.name(found[0]), word)

    def renamed(self, value: Any) -> Any:
        """An object with the names that it has here."""
        if isinstance(value, dict):
            return {key: self.renamed(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.renamed(one) for one in value]
        return self.named(value) if isinstance(value, str) else value

    def apply(self, folder: str) -> list[Obj]:
        """All of a folder that this Kubernetes serves; what the server made of it."""
        self.site.make_namespace("kueue-system")  # where Kueue itself is; the simulator's is nowhere
        here = [obj for obj in objects(folder) if obj["kind"] not in _FROM_1_30 or self.serves(obj)]
        return [self.site.apply(self.collection(obj), obj) for obj in map(self.renamed, here)]

    def serves(self, obj: Obj) -> bool:
        """Whether the API server has objects of this kind in this version."""
        return obj["kind"] in self._kinds(obj["apiVersion"])

    def collection(self, obj: Obj) -> str:
        """Where the API server keeps objects of this kind, as it says itself."""
        version = obj["apiVersion"]
        plural, namespaced = self._kinds(version)[obj["kind"]]
        root = _root(version)
        return f"{root}/namespaces/{obj['metadata']['namespace']}/{plural}" if namespaced else f"{root}/{plural}"

    def _kinds(self, version: str) -> dict[str, tuple[str, bool]]:
        """By kind: its plural, and whether it is in namespaces."""
        if version not in self._places:
            served = self.site.api.must("GET", _root(version))["resources"]
            plain = [one for one in served if "/" not in one["name"]]
            self._places[version] = {one["kind"]: (one["name"], one["namespaced"]) for one in plain}
        return self._places[version]

    def until_active(self) -> None:
        """Kueue admits to all queues, and the quotas count."""
        for obj in map(self.renamed, objects(self.base)):
            if obj["kind"] not in ("ClusterQueue", "LocalQueue", "ResourceQuota"):
                continue
            path = f"{self.collection(obj)}/{obj['metadata']['name']}"
            if obj["kind"] != "ResourceQuota":
                eventually(f"{path} active", lambda p=path: condition(self.site.api.must("GET", p), "Active") == "True")  # type: ignore[misc]
            else:
                eventually(f"{path} counts", lambda p=path: self._counts(p))  # type: ignore[misc]

    def _counts(self, path: str) -> bool:
        live = self.site.api.must("GET", path)
        return bool((live.get("status") or {}).get("hard") == live["spec"]["hard"])

    # -- work ---------------------------------------------------------------------------------------------------------

    def job(self, word: str, namespace: str, gpus: int, model: str, priority: str = "training") -> "Work":
        """Submit one like the example, of one pod with so many GPUs of this model."""
        job = the("Job", "train-example", folder="examples")
        job["metadata"] |= {"name": self.site.name(word), "namespace": namespace}
        job["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] = priority
        pod = job["spec"]["template"]["spec"]
        pod |= {"nodeSelector": {"nvidia.com/gpu.product": model}, "priorityClassName": priority}
        share = {GPU: str(gpus), "cpu": str(8 * gpus), "memory": f"{64 * gpus}Gi"}
        pod["containers"][0]["resources"] = {"requests": share, "limits": share}
        job["spec"] |= {"parallelism": 1, "completions": 1}
        body = self.renamed(job)
        body["metadata"]["name"] = self.site.name(word)
        self.site.create(self.collection(body), body)
        return Work(self.site, body["metadata"]["namespace"], body["metadata"]["name"])

    def pod(self, word: str, like: Obj, namespace: str, gpus: int, **spec: Any) -> Obj:
        """A pod with the priority of an example's, to be sent."""
        template = copy.deepcopy(like["spec"]["template"]["spec"])
        share = {GPU: str(gpus)}
        container = {"name": "main", "image": "work:1", "resources": {"requests": share, "limits": share}}
        pod = {"priorityClassName": template["priorityClassName"], "containers": [container]}
        meta = {"name": word, "namespace": namespace}
        body: Obj = self.renamed({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**pod, **spec}})
        body["metadata"]["name"] = self.site.name(word)
        return body


def _root(version: str) -> str:
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


class Work:
    """A Job that was submitted."""

    def __init__(self, site: Site, namespace: str, name: str) -> None:
        self._site = site
        self._namespace = namespace
        self.name = name

    def workload(self) -> Obj | None:
        """As it is now."""
        return self._site.workload_of(self._namespace, self.name)

    def runs(self) -> bool:
        """Admitted, and not on its way out."""
        workload = self.workload()
        return condition(workload, "Admitted") == "True" and condition(workload, "Evicted") != "True"

    def until_running(self) -> None:
        """Wait for it."""
        eventually(f"{self.name} admitted", self.runs)

    def until_waiting(self) -> None:
        """Wait until Kueue has looked at it and not admitted it."""
        eventually(f"{self.name} waiting", lambda: condition(self.workload(), "QuotaReserved") == "False")

    def suspended(self) -> bool:
        """Whether its Job is stopped."""
        path = f"/apis/batch/v1/namespaces/{self._namespace}/jobs/{self.name}"
        return bool(self._site.api.must("GET", path)["spec"].get("suspend"))

    def was_evicted(self) -> bool:
        """Ever: the mark stays, though it turns False when it runs again."""
        return bool(condition(self.workload(), "Evicted"))

    def end(self) -> None:
        """Somebody deletes it."""
        self._site.cancel_of(self._namespace, self.name)
