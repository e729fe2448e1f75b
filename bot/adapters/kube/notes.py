"""The bot's annotations on a piece of work and on its namespace, when somebody is to be told. Called by cluster."""

from bot.adapters.kube.client import KubeApi
from bot.adapters.kube.ownership import annotations_of_ours
from bot.core.incidents.facts import Owner

_PLURALS = {
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    "StatefulSet": "/apis/apps/v1/namespaces/{}/statefulsets",
    "JobSet": "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
    "RayJob": "/apis/ray.io/v1/namespaces/{}/rayjobs",
    "RayCluster": "/apis/ray.io/v1/namespaces/{}/rayclusters",
    "PyTorchJob": "/apis/kubeflow.org/v1/namespaces/{}/pytorchjobs",
    "LeaderWorkerSet": "/apis/leaderworkerset.x-k8s.io/v1/namespaces/{}/leaderworkersets",
}
"""What may stand above work, where it is listed. Of other kinds only the objects themselves are read."""


def notes_above(api: KubeApi, namespace: str, owner: Owner) -> tuple[dict[str, str], dict[str, str]]:
    """Two requests at most. What may not be read, or is not there, says nothing."""
    above: dict[str, str] = {}
    if owner.kind in _PLURALS:
        path, query = _PLURALS[owner.kind].format(namespace), {"fieldSelector": f"metadata.name={owner.name}"}
        answer = api.request("GET", path, query)
        for one in answer.body.get("items") or () if answer.status == 200 else ():
            above |= annotations_of_ours(one.get("metadata") or {})
    answer = api.request("GET", f"/api/v1/namespaces/{namespace}")
    around = annotations_of_ours(answer.body.get("metadata") or {}) if answer.status == 200 else {}
    return above, around
