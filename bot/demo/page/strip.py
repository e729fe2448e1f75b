"""The cohort at this moment, as JSON: quota, what loans moved of it, who holds and who waits, nodes and the clock.
Called by `routes`.

Numbers come from the ClusterQueues as the API server has them; only what loans moved is the bot's own word.
"""

from collections.abc import Iterator
from typing import Any

from bot.demo.kube import workloads
from bot.demo.kube.people import GPU
from bot.demo.page.outages import Outages
from bot.demo.page.scene import Moved, Scene
from bot.demo.page.tempo import Tempo

Json = dict[str, Any]


def cohort(scene: Scene, outages: Outages, tempo: Tempo) -> Json:
    moved = scene.moved()
    end = scene.next_end()
    with scene.kube.changed:
        queues = [_queue(scene, name, moved.get(name, Moved())) for name in scene.local_queues]
        return {
            "name": str(scene.kube.queue(next(iter(scene.local_queues)))["spec"].get("cohortName", "")),
            "flavor": scene.flavor,
            "nominal": sum(one["nominal"] for one in queues),
            "reserved": sum(one["reserved"] for one in queues),
            "queues": queues,
            "ends": None if end is None else {"name": end.name, "unix": int(end.at.timestamp())},
            "outages": outages.left(),
            "nodes": list(_nodes(scene)),
            "minute": int(scene.now().timestamp()) // 60 * 60,
            "speed": tempo.speed,
        }


def _queue(scene: Scene, name: str, moved: Moved) -> Json:
    queue = scene.kube.queue(name)
    quota = _entry(queue["spec"]["resourceGroups"][0]["flavors"], scene.flavor)
    held = _entry(queue.get("status", {}).get("flavorsReservation", ()), scene.flavor)
    nominal, limit = int(quota["nominalQuota"]), quota.get("borrowingLimit")
    jobs = list(_jobs(scene, name))
    return {
        "name": name,
        "nominal": nominal,
        "base": nominal - moved.received + moved.lent if moved.base is None else moved.base,
        "received": moved.received,
        "lent": moved.lent,
        "may_borrow": None if limit is None else int(limit),
        "reserved": int(held.get("total", 0)),
        "borrowed": int(held.get("borrowed", 0)),
        "pending": sum(job["gpus"] for job in jobs if job["waits"]),
        "jobs": jobs,
    }


def _nodes(scene: Scene) -> Iterator[Json]:
    """Those with devices of the flavor, by name."""
    found = [one for one in scene.kube.cluster.store.all("nodes") if _flavor(one) == scene.flavor]
    for node in sorted(found, key=lambda one: str(one["metadata"]["name"])):
        gpus = int(node["status"]["allocatable"].get(GPU, 0))
        cordoned = bool(node["spec"].get("unschedulable"))
        yield {"name": node["metadata"]["name"], "gpus": gpus, "cordoned": cordoned}


def _flavor(node: Json) -> str:
    return str(node["metadata"].get("labels", {}).get("gpu-flavor", ""))


def _entry(flavors: Any, flavor: str) -> Json:
    for one in flavors:
        if one["name"] == flavor:
            return next((entry for entry in one["resources"] if entry["name"] == GPU), {})
    return {}


def _jobs(scene: Scene, queue: str) -> Iterator[Json]:
    """Those that hold quota or wait for it; in the order in which the queue admits."""
    cluster = scene.kube.cluster
    for workload in workloads.in_queue_order(cluster, cluster.store.all("workloads")):
        waits = workloads.is_pending(workload)
        if workloads.queue_of(cluster, workload) != queue or not (waits or workloads.is_reserving(workload)):
            continue
        preempted = workloads.condition(workload, "Preempted")
        yield {
            "name": workload["metadata"]["ownerReferences"][0]["name"],
            "gpus": sum(sizes.get(GPU, 0) for _, sizes in workloads.requests(workload)),
            "priority": workloads.priority(workload),
            "waits": waits,
            "preempted": waits and preempted is not None and preempted["status"] == "True",
        }
