"""What readiness is judged from, of one cluster's JSON. Called by adapters/kube/cluster with what it could list.

Pods are not read, there may be 50,000 of them: what stands for them is. Work that is only a pod is not seen.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import TypedDict

from bot.adapters.kube.objects import Json, condition, instant, pod_requests
from bot.adapters.kube.ownership import annotations_of_ours
from bot.core.kueue import ClusterPicture
from bot.core.readiness.facts import Budget, ClusterFacts, PodClass, Selector, StackPart, Work

CORE_LISTS = {
    "jobs": "/apis/batch/v1/jobs",
    "deployments": "/apis/apps/v1/deployments",
    "statefulsets": "/apis/apps/v1/statefulsets",
    "daemonsets": "/apis/apps/v1/daemonsets",
    "poddisruptionbudgets": "/apis/policy/v1/poddisruptionbudgets",
    "priorityclasses": "/apis/scheduling.k8s.io/v1/priorityclasses",
}
KUEUE_LISTS = ("workloads", "localqueues", "workloadpriorityclasses")
QUEUE_LABEL, CLASS_LABEL = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"
_GRACE = 30
"""Kubernetes' own, in seconds."""
_PARTS = {
    "kueue": "Kueue",
    "dcgm-exporter": "DCGM exporter",
    "nvidia-dcgm-exporter": "DCGM exporter",
    "prometheus": "Prometheus",
    "gpu-quota-bot": "gpu-quota-bot",
}
"""By the label that their charts and operators give them."""
_SERVING = {"deployments": "Deployment", "statefulsets": "StatefulSet"}
_OF_PODS = frozenset({"Pod", "ReplicaSet", *_SERVING.values()})

Lists = Mapping[str, Sequence[Json] | None]
"""Plural -> objects; None for what may not be listed."""


@dataclass(frozen=True)
class Read:
    """One cluster's lists. `picture` is None without Kueue."""

    cluster: str
    read_at: datetime
    picture: ClusterPicture | None
    lists: Lists
    devices: Collection[str]
    """Resources that count as GPUs."""

    def all(self, plural: str) -> Sequence[Json]:
        """What is there; nothing if it may not be listed."""
        return self.lists.get(plural) or ()

    def queue_of(self, namespace: str, local_queue: str | None) -> str | None:
        """The ClusterQueue of a LocalQueue."""
        return self._queues.get((namespace, local_queue))

    @cached_property
    def _queues(self) -> Mapping[tuple[str, str | None], str]:
        return {_id(one): one["spec"]["clusterQueue"] for one in self.all("localqueues")}


def cluster_facts(read: Read, unread: Sequence[str]) -> ClusterFacts:
    """All of it. `unread`: what may not be listed, with its group."""
    serving = list(_serving(read))
    budgets, kueues = read.lists["poddisruptionbudgets"], read.lists["workloadpriorityclasses"]
    return ClusterFacts(
        name=read.cluster,
        read_at=read.read_at,
        picture=read.picture,
        works=(*_workloads(read, serving), *_plain_jobs(read), *serving),
        budgets=None if budgets is None else tuple(map(_budget, budgets)),
        pod_classes=_pod_classes(read),
        kueue_classes=None if kueues is None else {one["metadata"]["name"]: int(one["value"]) for one in kueues},
        stack=tuple(_stack(read)),
        unread=tuple(unread),
    )


class _Fields(TypedDict):
    """What a Work has of its pods."""

    pods: int
    gpus: int
    labels: Mapping[str, str]
    pod_class: str | None
    grace: timedelta
    pre_stop: bool
    resources: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Pods:
    """Pod templates with how many pods each, as one."""

    templates: Sequence[tuple[Json, int]]

    def fields(self, devices: Collection[str]) -> _Fields:
        """The fields of a Work that the pods decide. Labels and class: of the template with the most devices."""
        asks = [(template, count, pod_requests(template.get("spec") or {})) for template, count in self.templates]
        sums = [sum(ask.get(name, 0) for name in devices) * count for _, count, ask in asks]
        template = self.templates[sums.index(max(sums))][0]
        specs = [one.get("spec") or {} for one, _ in self.templates]
        grace = min(int(spec.get("terminationGracePeriodSeconds", _GRACE)) for spec in specs)
        return {
            "pods": sum(count for _, count in self.templates),
            "gpus": sum(sums),
            "labels": dict((template.get("metadata") or {}).get("labels") or {}),
            "pod_class": (template.get("spec") or {}).get("priorityClassName") or None,
            "grace": timedelta(seconds=grace),
            "pre_stop": all(_has_pre_stop(spec) for spec in specs),
            "resources": frozenset(name for _, _, ask in asks for name in ask),
        }


def _has_pre_stop(spec: Json) -> bool:
    return any((one.get("lifecycle") or {}).get("preStop") for one in spec.get("containers") or ())


def _workloads(read: Read, serving: Sequence[Work]) -> Iterator[Work]:
    """Kueue's, under the name of what owns them. A Deployment stands for the Workloads of its own pods."""
    jobs = {_id(job): job for job in read.all("jobs")}
    for raw in read.all("workloads"):
        metadata, spec, status = raw["metadata"], raw.get("spec") or {}, raw.get("status") or {}
        namespace = metadata["namespace"]
        owner: Json = next((one for one in metadata.get("ownerReferences") or () if one.get("controller")), {})
        kind, name = owner.get("kind", "Workload"), owner.get("name", metadata["name"])
        over = condition(status, "Finished").get("status") == "True" or spec.get("active") is False
        if over or (kind in _OF_PODS and _stands_for(serving, namespace, name)):
            continue
        pod_sets: Sequence[Json] = spec.get("podSets") or ({},)
        pods = _Pods([(one.get("template") or {}, int(one.get("count", 1))) for one in pod_sets])
        fields = pods.fields(read.devices)
        if not fields["gpus"]:
            continue
        admitted = condition(status, "Admitted")
        job = jobs.get((namespace, name)) if kind == "Job" else None
        yield Work(
            kind=kind,
            namespace=namespace,
            name=name,
            ends=True,
            running_since=instant(admitted["lastTransitionTime"]) if admitted.get("status") == "True" else None,
            annotations=_annotations(job or raw, pod_sets[0].get("template") or {}),
            local_queue=spec.get("queueName"),
            queue=(status.get("admission") or {}).get("clusterQueue")
            or read.queue_of(namespace, spec.get("queueName")),
            kueue_class=_kueue_class(spec),
            priority=int(spec.get("priority") or 0),
            **fields,
        )


def _stands_for(serving: Sequence[Work], namespace: str, name: str) -> bool:
    return any(one.namespace == namespace and f"{name}-".startswith(f"{one.name}-") for one in serving)


def _kueue_class(spec: Json) -> str | None:
    """Of v1beta2 or v1beta1; a PriorityClass can stand in its place."""
    reference = spec.get("priorityClassRef") or {}
    if reference.get("kind") == "WorkloadPriorityClass":
        return str(reference["name"])
    old = spec.get("priorityClassSource") == "kueue.x-k8s.io/workloadpriorityclass"
    return spec.get("priorityClassName") or None if old else None


def _plain_jobs(read: Read) -> Iterator[Work]:
    """Jobs that Kueue is not asked about."""
    for raw in read.all("jobs"):
        spec, status = raw.get("spec") or {}, raw.get("status") or {}
        over = any(condition(status, kind).get("status") == "True" for kind in ("Complete", "Failed"))
        queued = read.picture is not None and QUEUE_LABEL in (raw["metadata"].get("labels") or {})
        fields = _Pods([(spec.get("template") or {}, int(spec.get("parallelism", 1)))]).fields(read.devices)
        if over or queued or not fields["gpus"]:
            continue
        started = status.get("startTime") if status.get("active") else None
        yield Work(
            kind="Job",
            namespace=raw["metadata"]["namespace"],
            name=raw["metadata"]["name"],
            ends=True,
            running_since=instant(started) if started else None,
            annotations=_annotations(raw, spec.get("template") or {}),
            **fields,
        )


def _serving(read: Read) -> Iterator[Work]:
    classes = {one["metadata"]["name"]: int(one["value"]) for one in read.all("workloadpriorityclasses")}
    for raw, kind in ((raw, kind) for plural, kind in _SERVING.items() for raw in read.all(plural)):
        spec, metadata = raw.get("spec") or {}, raw["metadata"]
        fields = _Pods([(spec.get("template") or {}, int(spec.get("replicas", 1)))]).fields(read.devices)
        if not fields["gpus"]:
            continue
        labels = metadata.get("labels") or {}
        local_queue = labels.get(QUEUE_LABEL) if read.picture is not None else None
        kueue_class = labels.get(CLASS_LABEL) if local_queue else None
        pod_class = (_pod_classes(read) or {}).get(str(fields["pod_class"]))
        value = classes.get(kueue_class, 0) if kueue_class else (pod_class.value if pod_class else 0)
        yield Work(
            kind=kind,
            namespace=metadata["namespace"],
            name=metadata["name"],
            ends=False,
            running_since=instant(metadata["creationTimestamp"]),
            annotations=_annotations(raw, spec.get("template") or {}),
            local_queue=local_queue,
            queue=read.queue_of(metadata["namespace"], local_queue),
            kueue_class=kueue_class,
            priority=value if local_queue else None,
            **fields,
        )


def _annotations(raw: Json, template: Json) -> Mapping[str, str]:
    """The object's own go before those of its pods."""
    return {**annotations_of_ours(template.get("metadata") or {}), **annotations_of_ours(raw["metadata"])}


def _budget(raw: Json) -> Budget:
    spec = raw.get("spec") or {}
    selector = spec.get("selector")
    return Budget(
        namespace=raw["metadata"]["namespace"],
        name=raw["metadata"]["name"],
        selector=None if selector is None else _selector(selector),
        min_available=spec.get("minAvailable"),
        max_unavailable=spec.get("maxUnavailable"),
    )


def _selector(raw: Json) -> Selector:
    terms = raw.get("matchExpressions") or ()
    expressions = tuple((one["key"], one["operator"], tuple(one.get("values") or ())) for one in terms)
    return Selector(dict(raw.get("matchLabels") or {}), expressions)


def _pod_classes(read: Read) -> Mapping[str, PodClass] | None:
    raws = read.lists["priorityclasses"]
    if raws is None:
        return None
    return {
        raw["metadata"]["name"]: PodClass(
            int(raw["value"]), raw.get("preemptionPolicy") != "Never", bool(raw.get("globalDefault"))
        )
        for raw in raws
    }


def _stack(read: Read) -> Iterator[StackPart]:
    kinds = {**_SERVING, "daemonsets": "DaemonSet"}
    for raw, kind in ((raw, kind) for plural, kind in kinds.items() for raw in read.all(plural)):
        spec, metadata = raw.get("spec") or {}, raw["metadata"]
        template = spec.get("template") or {}
        labels = {**(metadata.get("labels") or {}), **((template.get("metadata") or {}).get("labels") or {})}
        what = _PARTS.get(labels.get("app.kubernetes.io/name") or labels.get("app") or "")
        if what is None or labels.get("app.kubernetes.io/component", "controller") == "kueueviz":
            continue
        yield StackPart(
            what=what,
            kind=kind,
            namespace=metadata["namespace"],
            name=metadata["name"],
            replicas=None if kind == "DaemonSet" else int(spec.get("replicas", 1)),
            labels=labels,
            pod_class=(template.get("spec") or {}).get("priorityClassName") or None,
        )


def _id(raw: Json) -> tuple[str, str]:
    return raw["metadata"]["namespace"], raw["metadata"]["name"]
