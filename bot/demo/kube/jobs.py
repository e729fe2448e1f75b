"""Jobs and their pods, as far as Kueue and its users see them: a Job becomes a Workload, runs while that is
admitted, ends.

Called by controller.py. A stand-in kubelet: pods of a running Job are Running at once.
"""

from typing import Any

from bot.demo.kube.cluster import Cluster
from bot.demo.kube.events import JOBS, emit
from bot.demo.kube.evictions import finish
from bot.demo.kube.workloads import admitted_to, condition, is_finished, is_true, marked

Obj = dict[str, Any]
QUEUE, CLASS, JOB_UID = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class", "kueue.x-k8s.io/job-uid"
_READY = {
    "Started": (True, "All pods reached readiness and the workload is running"),
    "WaitForStart": (False, "Not all pods are ready or succeeded"),
    "WaitForRecovery": (False, "At least one pod has failed, waiting for recovery"),
}


def create_workloads(cluster: Cluster) -> None:
    """A Workload for every queued Job that has none; the Job is suspended until it is admitted."""
    for job in cluster.store.all("jobs"):
        labels = job["metadata"].get("labels", {})
        if QUEUE not in labels or workload_of(cluster, job) is not None or _over(job):
            continue
        cluster.put({**job, "spec": {**job["spec"], "suspend": True}}, "jobs", "kueue")
        workload = cluster.put(_workload(cluster, job), "workloads", "kueue")
        meta = workload["metadata"]
        note = f"Created Workload: {meta['namespace']}/{meta['name']}"
        emit(cluster, job, "Normal", "CreatedWorkload", note, JOBS)


def workload_name(job: Obj) -> str:
    return f"job-{job['metadata']['name']}-{job['metadata']['uid'][:5]}"


def workload_of(cluster: Cluster, job: Obj) -> Obj | None:
    return cluster.get("workloads", job["metadata"]["namespace"], workload_name(job))


def _workload(cluster: Cluster, job: Obj) -> Obj:
    meta, spec = job["metadata"], job["spec"]
    name = meta["labels"].get(CLASS, "")
    ranked = cluster.get("workloadpriorityclasses", "", name) if name else None
    template = spec["template"]
    pods = {"name": "main", "count": spec.get("parallelism", 1), "template": template}
    wanted: Obj = {"active": True, "podSets": [pods], "priority": 0, "queueName": meta["labels"][QUEUE]}
    if ranked is not None:
        wanted["priority"] = ranked["value"]
        wanted["priorityClassRef"] = {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": name}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"]}
    return {
        "metadata": {
            "name": workload_name(job),
            "namespace": meta["namespace"],
            "labels": {JOB_UID: meta["uid"]},
            "finalizers": ["kueue.x-k8s.io/resource-in-use"],
            "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
        },
        "spec": wanted,
    }


def stop_evicted(cluster: Cluster) -> None:
    """t1: the Jobs of evicted workloads are suspended and their pods go."""
    for job in cluster.store.all("jobs"):
        workload = workload_of(cluster, job)
        if workload is not None and is_true(workload, "Evicted") and not job["spec"].get("suspend"):
            _remove_pods(cluster, job)
            stopped = cluster.put({**job, "spec": {**job["spec"], "suspend": True}}, "jobs", "kueue")
            cluster.put_status(stopped, "jobs", {}, "kube-controller-manager")
            evicted = condition(workload, "Evicted")
            emit(cluster, job, "Normal", "Stopped", evicted["message"] if evicted else "", JOBS)
            _ready(cluster, workload, "WaitForRecovery")


def start_admitted(cluster: Cluster) -> None:
    """Jobs of admitted workloads run, and their pods with them."""
    for job in cluster.store.all("jobs"):
        workload = workload_of(cluster, job)
        if workload is None or is_finished(workload) or _over(job):
            continue
        if is_true(workload, "Admitted") and not is_true(workload, "Evicted"):
            if job["spec"].get("suspend"):
                _start(cluster, job, admitted_to(workload))
                _ready(cluster, workload, "Started")
        elif condition(workload, "PodsReady") is None:
            _ready(cluster, workload, "WaitForStart")


def _start(cluster: Cluster, job: Obj, queue: str) -> None:
    meta, count = job["metadata"], job["spec"].get("parallelism", 1)
    job = cluster.put({**job, "spec": {**job["spec"], "suspend": False}}, "jobs", "kueue")
    emit(cluster, job, "Normal", "Started", f"Admitted by clusterQueue {queue}", JOBS)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"], "controller": True}
    for _ in range(count):
        name = f"{meta['name']}-{cluster.new_uid()[:5]}"
        labels = {"batch.kubernetes.io/job-name": meta["name"], "job-name": meta["name"]}
        pod = {
            "metadata": {"name": name, "namespace": meta["namespace"], "labels": labels, "ownerReferences": [owner]},
            "spec": job["spec"]["template"]["spec"],
            "status": {"phase": "Running"},
        }
        cluster.put(pod, "pods", "kube-controller-manager")
    cluster.put_status(job, "jobs", {"active": count, "ready": count}, "kube-controller-manager")


def _remove_pods(cluster: Cluster, job: Obj) -> None:
    for pod in cluster.store.all("pods", job["metadata"]["namespace"]):
        if any(owner["uid"] == job["metadata"]["uid"] for owner in pod["metadata"].get("ownerReferences", [])):
            cluster.remove(pod, "pods", "kube-controller-manager")


def _ready(cluster: Cluster, workload: Obj, reason: str) -> None:
    current = cluster.get("workloads", workload["metadata"]["namespace"], workload["metadata"]["name"])
    if current is not None:
        state, message = _READY[reason]
        current = marked(cluster, current, "PodsReady", state, reason, message)
        cluster.put_status(current, "workloads", current["status"], "kueue-job-controller-PodsReady")


def end(cluster: Cluster, job: Obj, *, failed: bool) -> None:
    """The Job is over: its pods are gone, its condition says how. The Workload follows with the next pass."""
    _remove_pods(cluster, job)
    kind, reason, message = ("Complete", "CompletionsReached", "Reached expected number of succeeded pods")
    if failed:
        kind, reason, message = ("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
    over = {"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": cluster.now()}
    cluster.put_status(job, "jobs", {"conditions": [over]}, "kube-controller-manager")


def _over(job: Obj) -> bool:
    return is_true(job, "Complete") or is_true(job, "Failed")


def finish_workloads(cluster: Cluster) -> None:
    """Workloads of Jobs that ended are finished; those whose Job is gone go too."""
    for workload in cluster.store.all("workloads"):
        owner = next((o for o in workload["metadata"].get("ownerReferences", []) if o["kind"] == "Job"), None)
        if owner is None:
            continue
        job = cluster.get("jobs", workload["metadata"]["namespace"], owner["name"])
        if job is None or job["metadata"]["uid"] != owner["uid"]:
            if not is_finished(workload):
                finish(cluster, workload, "OwnerNotFound", "The workload's owner no longer exists")
            _collect(cluster, workload)
        elif _over(job) and not is_finished(workload):
            reason = "Failed" if is_true(job, "Failed") else "Succeeded"
            finish(cluster, workload, reason, job["status"]["conditions"][0]["message"])
            note = f"Workload '{workload['metadata']['namespace']}/{workload['metadata']['name']}' is declared finished"
            emit(cluster, job, "Normal", "FinishedWorkload", note, JOBS)


def _collect(cluster: Cluster, workload: Obj) -> None:
    current = cluster.get("workloads", workload["metadata"]["namespace"], workload["metadata"]["name"])
    if current is not None:
        cluster.remove(current, "workloads", "kueue")
