"""Kueue's visibility API: who waits in a queue, and in which place. Called by api.py for paths of its group."""

import re
from collections.abc import Mapping
from typing import Any

from bot.demo.kube.cluster import Cluster
from bot.demo.kube.status import ApiError, not_found
from bot.demo.kube.workloads import in_queue_order, is_pending, queue_of, spec_of

Obj = dict[str, Any]
GROUP = "visibility.kueue.x-k8s.io"
_PATH = re.compile(
    rf"^/apis/{re.escape(GROUP)}/(v1beta1|v1beta2)/"
    r"(?:clusterqueues/(?P<cq>[^/]+)|namespaces/(?P<ns>[^/]+)/localqueues/(?P<lq>[^/]+))/pendingworkloads$"
)


def answer(cluster: Cluster, path: str, query: Mapping[str, str]) -> Obj | None:
    """The summary for a visibility path, None for any other. Raises 404 for an unknown queue, 503 while Kueue is
    down.
    """
    match = _PATH.match(path)
    if match is None or not cluster.versions:
        return None
    if not cluster.kueue_up:
        raise ApiError(503, "error trying to reach service: dial tcp 127.0.0.1:18082: connect: connection refused\n")
    name, local = match["cq"], (match["ns"], match["lq"])
    if not name:
        queue = cluster.get("localqueues", *local)
        if queue is None:
            raise not_found(GROUP, "localqueue", local[1])
        name = spec_of(queue).get("clusterQueue", "")
    if cluster.get("clusterqueues", "", name) is None:
        raise not_found(GROUP, "clusterqueue", name)
    items = _waiting(cluster, name)
    if local[1]:
        items = [item for item in items if (item["metadata"]["namespace"], item["localQueueName"]) == local]
    start, limit = int(query.get("offset") or 0), int(query.get("limit") or 1000)
    version = match[1]
    return {
        "kind": "PendingWorkloadsSummary",
        "apiVersion": f"{GROUP}/{version}",
        "metadata": {},
        "items": items[start : start + limit],
    }


def _waiting(cluster: Cluster, name: str) -> list[Obj]:
    waiting = [w for w in cluster.store.all("workloads") if is_pending(w) and queue_of(cluster, w) == name]
    items: list[Obj] = []
    places: dict[tuple[str, str], int] = {}
    for place, workload in enumerate(in_queue_order(cluster, waiting)):
        meta, local = workload["metadata"], spec_of(workload).get("queueName", "")
        at = places.get((meta["namespace"], local), 0)
        places[meta["namespace"], local] = at + 1
        kept = {key: meta[key] for key in ("name", "namespace", "creationTimestamp")}
        owners = [
            {key: owner[key] for key in ("apiVersion", "kind", "name", "uid")}
            for owner in meta.get("ownerReferences", [])
        ]
        items.append(
            {
                "metadata": {**kept, "ownerReferences": owners} if owners else kept,
                "priority": spec_of(workload).get("priority", 0),
                "localQueueName": local,
                "positionInClusterQueue": place,
                "positionInLocalQueue": at,
            }
        )
    return items
