"""Readiness: which work can be preempted and would lose by it, and what mends that. Called by flows/check_readiness."""

from collections.abc import Iterator, Sequence

from bot.core.readiness.budgets import Pods, budget_faults, budgets_of
from bot.core.readiness.checkpoints import checkpoint_faults, sigterm_faults, unsaved_seconds
from bot.core.readiness.classes import class_faults, missing_faults, nodes_fault
from bot.core.readiness.facts import PREEMPTIBLE, ClusterFacts, Finding, Readiness, StackPart, Work
from bot.core.readiness.ways import Way, kueue_ways, node_way, stack_way

Fault = tuple[str, str, str]
PDB_NOTE = (
    "Kueue's preemption does not consult PodDisruptionBudgets: they count for drains and for kube-scheduler only."
)
_KINDS = ("PriorityClass", "WorkloadPriorityClass")
_TWO = {
    "Kueue": "while it moves to another node nothing is admitted",
    "Prometheus": "while it moves to another node nothing is measured",
}
"""Parts that can have two replicas, and what one alone means. Of gpu-quota-bot it depends on its database."""


def judge(clusters: Sequence[ClusterFacts]) -> Readiness:
    """All findings over all clusters."""
    found: list[Finding] = []
    unready = 0
    for cluster in clusters:
        for work in cluster.works:
            faults = [_finding(cluster, work, fault) for fault in _work_faults(work, cluster)]
            unready += bool(faults)
            found += faults
        found += _stack(cluster)
    found += _classes(clusters)
    found.sort(key=lambda one: (-one.gpu_seconds, one.cluster, one.namespace, one.kind, one.name))
    works = sum(len(cluster.works) for cluster in clusters)
    return Readiness(works, unready, tuple(found), tuple(_notes(clusters)), min(one.read_at for one in clusters))


def _finding(cluster: ClusterFacts, work: Work, fault: Fault) -> Finding:
    at_risk = unsaved_seconds(work, cluster.read_at)
    return Finding(cluster.name, work.kind, work.namespace, work.name, *fault, at_risk)


def _work_faults(work: Work, cluster: ClusterFacts) -> Iterator[Fault]:
    said = work.annotations.get(PREEMPTIBLE, "true").strip()
    ways = _ways(work, cluster)
    if said not in ("true", "false"):
        yield "preemptible-unreadable", f'{PREEMPTIBLE} is "{said[:40]}"', f"Write {PREEMPTIBLE} as true or false"
    elif said == "false":
        for way in ways:
            yield f"preemptible-{way.check}", f"Must not be preempted, and can be. {way.problem}", way.mend
    elif ways and work.ends:
        yield from checkpoint_faults(work, cluster.read_at)
        if (fault := nodes_fault(work, cluster)) is not None:
            yield fault
    if ways or not work.ends:
        yield from sigterm_faults(work)
    if cluster.budgets is not None:
        yield from budget_faults(_pods(work), cluster.budgets)
    yield from missing_faults(work, cluster)


def _ways(work: Work, cluster: ClusterFacts) -> list[Way]:
    on_nodes = node_way(work.pod_class, cluster)
    return [*kueue_ways(work, cluster), *([on_nodes] if on_nodes else [])]


def _pods(work: Work) -> Pods:
    return Pods(work.namespace, work.labels, work.pods, job=work.ends)


def _stack(cluster: ClusterFacts) -> Iterator[Finding]:
    for part in cluster.stack:
        for fault in _part_faults(part, cluster):
            yield Finding(cluster.name, part.kind, part.namespace, part.name, *fault)


def _part_faults(part: StackPart, cluster: ClusterFacts) -> Iterator[Fault]:
    classes = cluster.pod_classes
    if classes is not None and part.pod_class is not None and part.pod_class not in classes:
        problem = f"PriorityClass {part.pod_class} of {part.what} does not exist: no new pod of it is taken"
        yield "stack-class-missing", problem, f"Make {part.pod_class}, or name another one"
    elif (way := stack_way(part, cluster)) is not None:
        yield "stack-preemptible", f"{part.what} can be preempted. {way.problem}", "Give it gpu-stack or a system class"
    if part.replicas == 1 and part.what in _TWO:
        yield "stack-one-replica", f"{part.what} has one replica: {_TWO[part.what]}", "Set two replicas"
    if part.replicas is not None and cluster.budgets is not None:
        pods = Pods(part.namespace, part.labels, part.replicas, job=False)
        for check, problem, mend in budget_faults(pods, cluster.budgets):
            yield f"stack-{check}", f"{part.what}: {problem}", mend


def _classes(clusters: Sequence[ClusterFacts]) -> Iterator[Finding]:
    """Of classes that are named by work or by the stack."""
    for kind in _KINDS:
        named = {name for one in clusters for work in one.works if (name := _class_of(work, kind)) is not None}
        if kind == "PriorityClass":
            named |= {part.pod_class for one in clusters for part in one.stack if part.pod_class is not None}
        for name in sorted(named):
            for cluster, fault in class_faults(kind, name, clusters):
                at_risk = sum(unsaved_seconds(w, cluster.read_at) for w in cluster.works if _class_of(w, kind) == name)
                yield Finding(cluster.name, kind, "", name, *fault, at_risk)


def _class_of(work: Work, kind: str) -> str | None:
    return work.pod_class if kind == "PriorityClass" else work.kueue_class


def _notes(clusters: Sequence[ClusterFacts]) -> Iterator[str]:
    for cluster in clusters:
        for resource in cluster.unread:
            yield f"The bot may not list {resource} in {cluster.name}: what depends on it is not judged."
    if any(_protected(work, cluster) for cluster in clusters for work in cluster.works):
        yield PDB_NOTE


def _protected(work: Work, cluster: ClusterFacts) -> bool:
    """By a budget, which does not help it against Kueue."""
    return bool(budgets_of(_pods(work), cluster.budgets or ())) and any(kueue_ways(work, cluster))
