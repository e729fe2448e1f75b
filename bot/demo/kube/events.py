"""Events, as they are seen through v1 when written through events.k8s.io: no count, no first and last time.
Enrichment only.
"""

from typing import Any

from bot.demo.kube.cluster import Cluster

Obj = dict[str, Any]
ADMISSION = "kueue-admission"
WORKLOADS = "kueue-workload-controller"
JOBS = "batch/job-kueue-controller"
_LONGEST_NOTE = 1024


def emit(cluster: Cluster, about: Obj, kind: str, reason: str, note: str, controller: str = ADMISSION) -> None:
    """Write an event about an object; `kind` is Normal or Warning."""
    meta = about["metadata"]
    namespace = meta.get("namespace", "default")
    regarding = {
        "kind": about["kind"],
        "namespace": namespace,
        "name": meta["name"],
        "uid": meta["uid"],
        "apiVersion": about["apiVersion"],
        "resourceVersion": meta["resourceVersion"],
    }
    event: Obj = {
        "metadata": {"name": f"{meta['name']}.{cluster.new_uid().replace('-', '')[:16]}", "namespace": namespace},
        "involvedObject": regarding,
        "reason": reason,
        "message": note[:_LONGEST_NOTE],
        "source": {},
        "firstTimestamp": None,
        "lastTimestamp": None,
        "type": kind,
        "eventTime": cluster.now().replace("Z", ".000000Z"),
        "action": reason,
        "reportingComponent": controller,
        "reportingInstance": controller,
    }
    cluster.put(event, "events", controller)
