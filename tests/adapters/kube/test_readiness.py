"""What the adapter makes of Jobs, Workloads of other kinds, Deployments and their pods, in both API versions."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.adapters.kube.readiness import CORE_LISTS, KUEUE_LISTS, Read, cluster_facts
from bot.core.kueue import ClusterPicture
from bot.core.readiness.facts import ClusterFacts, Work

NOW = datetime(2026, 12, 3, 15, 0, tzinfo=UTC)
GPU, MIG = "nvidia.com/gpu", "nvidia.com/mig-1g.5gb"
SINCE = "2026-12-03T12:00:00Z"
ADMITTED = {"conditions": [{"type": "Admitted", "status": "True", "lastTransitionTime": SINCE}]}


def _template(gpus: int, resource: str = GPU, **spec: Any) -> dict[str, Any]:
    asked = {"requests": {resource: str(gpus), "cpu": "2"}} if gpus else {}
    return {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "resources": asked}], **spec}}


def _meta(name: str, owner: tuple[str, str] | None = None, **more: Any) -> dict[str, Any]:
    meta = {"namespace": "team-a", "name": name, "creationTimestamp": SINCE, **more}
    return meta | ({"ownerReferences": [{"kind": owner[0], "name": owner[1], "controller": True}]} if owner else {})


def _workload(owner: tuple[str, str] | None, *pods: tuple[dict[str, Any], int], **spec: Any) -> dict[str, Any]:
    sets = [{"name": f"set{at}", "count": count, "template": template} for at, (template, count) in enumerate(pods)]
    return {"metadata": _meta("wl", owner), "spec": {"podSets": sets, "queueName": "main", **spec}, "status": ADMITTED}


def _facts(*, kueue: bool = True, **lists: list[dict[str, Any]]) -> ClusterFacts:
    local = [{"metadata": _meta("main"), "spec": {"clusterQueue": "a"}}]
    everything = {name: lists.get(name, []) for name in (*CORE_LISTS, *KUEUE_LISTS)}
    picture = ClusterPicture("default", NOW, {}) if kueue else None
    return cluster_facts(Read("default", NOW, picture, everything | {"localqueues": local}, (GPU, MIG)), ())


def _only(facts: ClusterFacts) -> Work:
    (work,) = facts.works
    return work


def test_work_of_another_kind_is_known_by_its_workload_and_judged_by_its_pod_template() -> None:
    leader, worker = _template(0), _template(4, terminationGracePeriodSeconds=600, priorityClassName="training")
    worker["metadata"]["labels"] = {"app": "worker"}
    leader["metadata"]["annotations"] = {"gpu-quota-bot.io/checkpoint-interval": "30min", "other": "x"}
    work = _only(_facts(workloads=[_workload(("JobSet", "pretrain"), (leader, 1), (worker, 3), priority=5)]))
    assert (work.kind, work.name, work.pods, work.gpus, work.ends) == ("JobSet", "pretrain", 4, 12, True)
    assert work.annotations == {"gpu-quota-bot.io/checkpoint-interval": "30min"}
    assert (work.labels, work.pod_class) == ({"app": "worker"}, "training"), "of those with the GPUs"
    assert work.grace == timedelta(seconds=30), "the shortest counts"
    assert (work.queue, work.priority, work.running_since) == ("a", 5, NOW - timedelta(hours=3))
    assert work.resources == {GPU, "cpu"}


@pytest.mark.parametrize(
    ("spec", "known"),
    [
        ({"priorityClassRef": {"kind": "WorkloadPriorityClass", "name": "low"}}, "low"),
        ({"priorityClassRef": {"kind": "PriorityClass", "name": "low"}}, None),
        ({"priorityClassName": "low", "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass"}, "low"),
        ({"priorityClassName": "low", "priorityClassSource": "scheduling.k8s.io/priorityclass"}, None),
        ({}, None),
    ],
)
def test_kueues_class_is_read_in_both_versions(spec: dict[str, Any], known: str | None) -> None:
    assert _only(_facts(workloads=[_workload(("Job", "j"), (_template(1), 1), **spec)])).kueue_class == known


@pytest.mark.parametrize(
    "workload",
    [
        _workload(("Job", "j"), (_template(0), 4)),
        _workload(("Job", "j"), (_template(1), 4), active=False),
        _workload(("Job", "j"), (_template(1, "example.com/fpga"), 4)),
        {
            **_workload(("Job", "j"), (_template(1), 1)),
            "status": {"conditions": [{"type": "Finished", "status": "True"}]},
        },
        {"metadata": _meta("bare"), "spec": {"queueName": "main"}},
    ],
)
def test_what_has_no_gpus_or_is_over_is_not_judged(workload: dict[str, Any]) -> None:
    assert _facts(workloads=[workload]).works == ()


def test_slices_count_as_gpus_and_what_waits_runs_since_never() -> None:
    waiting = {**_workload(("Job", "j"), (_template(7, MIG), 1)), "status": {}}
    work = _only(_facts(workloads=[waiting]))
    assert (work.gpus, work.running_since) == (7, None)


def test_the_jobs_own_annotations_go_before_those_of_its_pods() -> None:
    template = _template(1)
    template["metadata"]["annotations"] = {"gpu-quota-bot.io/on-sigterm": "drain"}
    job = {
        "metadata": _meta(
            "j", annotations={"gpu-quota-bot.io/on-sigterm": "checkpoint"}, labels={"kueue.x-k8s.io/queue-name": "main"}
        )
    }
    job |= {"spec": {"template": template}}
    work = _only(_facts(jobs=[job], workloads=[_workload(("Job", "j"), (template, 1))]))
    assert work.annotations == {"gpu-quota-bot.io/on-sigterm": "checkpoint"}


def test_a_deployment_stands_for_the_workloads_of_its_pods_and_for_no_others() -> None:
    labels = {"kueue.x-k8s.io/queue-name": "main", "kueue.x-k8s.io/priority-class": "high"}
    serve = {"metadata": _meta("serve", labels=labels), "spec": {"replicas": 3, "template": _template(2)}}
    of_it = _workload(("Pod", "serve-6d4cf56db6-x2x7w"), (_template(2), 1))
    other = _workload(("Pod", "server-0"), (_template(1), 1))
    high = {"metadata": {"name": "high"}, "value": 100}
    facts = _facts(deployments=[serve], workloads=[of_it, other], workloadpriorityclasses=[high])
    found = {(work.kind, work.name): work for work in facts.works}
    assert found.keys() == {("Pod", "server-0"), ("Deployment", "serve")}
    work = found["Deployment", "serve"]
    assert (work.pods, work.gpus, work.ends, work.queue, work.priority) == (3, 6, False, "a", 100)


def test_without_kueue_jobs_and_deployments_are_still_work() -> None:
    labels = {"kueue.x-k8s.io/queue-name": "main"}
    status = {"active": 2, "startTime": SINCE}
    job = {
        "metadata": _meta("j", labels=labels),
        "spec": {"parallelism": 2, "template": _template(1)},
        "status": status,
    }
    done = {**job, "status": {"conditions": [{"type": "Failed", "status": "True"}]}}
    serve = {"metadata": _meta("serve", labels=labels), "spec": {"template": _template(1)}}
    facts = _facts(kueue=False, jobs=[job, done], deployments=[serve])
    assert [(work.name, work.local_queue, work.priority) for work in facts.works] == [
        ("j", None, None),
        ("serve", None, None),
    ]
    assert facts.works[0].running_since == NOW - timedelta(hours=3)
    assert (facts.works[0].pods, facts.works[1].pods) == (2, 1)


def test_a_job_that_kueue_has_not_seen_yet_is_counted_once_it_has() -> None:
    job = {"metadata": _meta("j", labels={"kueue.x-k8s.io/queue-name": "main"}), "spec": {"template": _template(1)}}
    assert _facts(jobs=[job]).works == ()


@pytest.mark.parametrize(
    ("labels", "what"),
    [
        ({"app": "nvidia-dcgm-exporter"}, ["DCGM exporter"]),
        ({"app.kubernetes.io/name": "prometheus"}, ["Prometheus"]),
        ({"app.kubernetes.io/name": "kueue", "app.kubernetes.io/component": "kueueviz"}, []),
        ({"app.kubernetes.io/name": "web"}, []),
    ],
)
def test_the_stack_is_known_by_its_labels(labels: dict[str, str], what: list[str]) -> None:
    one = {"metadata": _meta("it", labels=labels), "spec": {"template": {"spec": {"containers": []}}}}
    parts = _facts(daemonsets=[one], statefulsets=[one]).stack
    assert [(part.what, part.replicas) for part in parts] == [
        pair for name in what for pair in ((name, 1), (name, None))
    ]


def test_classes_and_budgets_keep_what_they_say() -> None:
    low = {"metadata": {"name": "low"}, "value": -5, "preemptionPolicy": "Never", "globalDefault": True}
    terms = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["x"]}]}
    budget = {"metadata": _meta("b"), "spec": {"selector": terms, "minAvailable": "50%"}}
    facts = _facts(priorityclasses=[low], poddisruptionbudgets=[budget, {"metadata": _meta("none")}])
    (found,) = (facts.pod_classes or {}).items()
    assert (found[0], found[1].value, found[1].preempts, found[1].default) == ("low", -5, False, True)
    first, second = facts.budgets or ()
    assert (first.selector, first.min_available) != (None, None)
    assert first.selector is not None
    assert first.selector.selects({"app": "x"})
    assert second.selector is None
