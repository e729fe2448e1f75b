"""Priority classes: there, within bounds, and the same for Kueue, for kube-scheduler and in every cluster.

Called by core/readiness/judge.
"""

from collections.abc import Iterator, Mapping, Sequence

from bot.core.readiness.facts import ClusterFacts, PodClass, Work
from bot.core.readiness.ways import SYSTEM, pod_value

HIGHEST = 10_000_000
"""Far below the system classes (2,000,000,000), so that no work on GPUs holds up DNS or Kueue."""

Fault = tuple[str, str, str]


def missing_faults(work: Work, cluster: ClusterFacts) -> Iterator[Fault]:
    """Classes that the work names and that are not there, and two classes that say different things of it."""
    pods, kueues = cluster.pod_classes, cluster.kueue_classes
    no_pod_class = pods is not None and work.pod_class is not None and work.pod_class not in pods
    if no_pod_class:
        problem = f"PriorityClass {work.pod_class} does not exist: no new pod of it is taken"
        yield "class-missing", problem, f"Make {work.pod_class}, or name another one"
    if kueues is not None and work.kueue_class is not None and work.kueue_class not in kueues:
        problem = f"WorkloadPriorityClass {work.kueue_class} does not exist: Kueue takes no new work with it"
        yield "class-missing", problem, f"Make {work.kueue_class}, or name another one"
    elif work.priority is not None and pods is not None and not no_pod_class:
        value = pod_value(work.pod_class, cluster)
        if value != work.priority:
            problem = f"Kueue counts it as {work.priority:,}, kube-scheduler as {value:,}"
            yield "class-mismatch", problem, "Name a PriorityClass and a WorkloadPriorityClass of the same value"


def nodes_fault(work: Work, cluster: ClusterFacts) -> Fault | None:
    """Training that Kueue has let in must not throw out other work on the nodes."""
    one = (cluster.pod_classes or {}).get(work.pod_class or "")
    if one is None or not one.preempts or not work.ends or work.local_queue is None:
        return None
    problem = f"PriorityClass {work.pod_class} takes the place of lower ones on the nodes, beside Kueue's quota"
    return "class-preempts", problem, f"Make {work.pod_class} again with preemptionPolicy: Never"


def class_faults(kind: str, name: str, clusters: Sequence[ClusterFacts]) -> Iterator[tuple[ClusterFacts, Fault]]:
    """Of one class in all clusters: its bounds, and where it differs from the first that has it."""
    known = [(one, classes) for one in clusters if (classes := classes_of(kind, one)) is not None]
    having = [(one, classes[name]) for one, classes in known if name in classes]
    if not having or name.startswith(SYSTEM):
        return
    for one, found in having:
        if found.value > HIGHEST:
            problem = f"Its value is {found.value:,}, above {HIGHEST:,}: too near the system classes"
            yield one, ("class-too-high", problem, f"Make it again with at most {HIGHEST:,}")
    first, model = having[0]
    for one, classes in known:
        if name not in classes:
            problem = f"Exists in {first.name} and not in {one.name}"
            yield one, ("class-not-everywhere", problem, f"Make it in {one.name} with {model.value:,}")
        elif classes[name].value != model.value:
            problem = f"Is {model.value:,} in {first.name} and {classes[name].value:,} in {one.name}"
            yield one, ("class-differs", problem, "Make it again with one value everywhere")
        elif classes[name].preempts != model.preempts:
            problem = f"Its preemptionPolicy is not the same in {first.name} and {one.name}"
            yield one, ("class-differs", problem, "Make it again with one preemptionPolicy everywhere")


def classes_of(kind: str, cluster: ClusterFacts) -> Mapping[str, PodClass] | None:
    """The cluster's classes of a kind; None if they could not be read."""
    if kind == "PriorityClass":
        return cluster.pod_classes
    kueues = cluster.kueue_classes
    return None if kueues is None else {name: PodClass(value, preempts=False) for name, value in kueues.items()}
