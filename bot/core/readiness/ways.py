"""By which settings a workload can be preempted: Kueue's, from the live queues, and kube-scheduler's, from the classes.

With none the work cannot be preempted. Called by core/readiness/judge, for who says `preemptible: "false"` and for
all others alike.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.core.kueue import ClusterPicture, FlavorResource, QueueSnapshot, Quota
from bot.core.readiness.facts import ClusterFacts, PodClass, StackPart, Work
from bot.core.trees import roots

SYSTEM = "system-"
"""Beginning of the names of Kubernetes' own classes, which may take anybody's place."""


@dataclass(frozen=True, slots=True)
class Way:
    """One setting by which it can be preempted; `by`: kueue or nodes."""

    by: str
    check: str
    problem: str
    mend: str


def kueue_ways(work: Work, cluster: ClusterFacts) -> Iterator[Way]:
    """Nothing for work that Kueue is not asked about."""
    if work.local_queue is None:
        return
    picture = cluster.picture
    queue = picture.queues.get(work.queue or "") if picture else None
    if picture is None or queue is None:
        problem = f"Which ClusterQueue LocalQueue {work.local_queue} belongs to is not known"
        yield Way("kueue", "queue-unknown", problem, "Name a LocalQueue that is there")
        return
    above = _above(work, cluster)
    others = _others(picture, queue)
    yield from _within(queue, work, above)
    if not (policy := _reclaimed(others, above)):
        return
    yield from _across(picture, queue, others, work, policy)
    if queue.name in cluster.lenders:
        problem = f"ClusterQueue {queue.name} may lend by loans, and what then runs above its quota is taken back"
        yield Way("kueue", "queue-lends", problem, f"Take {queue.name} out of lenders in clusters.yaml")


def node_way(name: str | None, cluster: ClusterFacts) -> Way | None:
    """The highest class whose pods may take the place of pods with this class."""
    classes = cluster.pod_classes or {}
    own = pod_value(name, cluster)
    higher = [(one.value, other) for other, one in classes.items() if _takes_place(other, one, own)]
    if not higher:
        return None
    value, other = max(higher)
    mine = f"{name} ({own:,})" if name else f"none ({own:,})"
    problem = f"PriorityClass {other} ({value:,}) may take its place on the nodes; its own is {mine}"
    return Way(
        "nodes", "nodes", problem, f"Give it a class that none is above, or set preemptionPolicy: Never on {other}"
    )


def pod_value(name: str | None, cluster: ClusterFacts) -> int:
    """What kube-scheduler goes by. A class that is not there counts as 0."""
    classes = cluster.pod_classes or {}
    if name is None:
        return next((one.value for one in classes.values() if one.default), 0)
    return classes[name].value if name in classes else 0


def stack_way(part: StackPart, cluster: ClusterFacts) -> Way | None:
    """Nobody takes the place of what has one of Kubernetes' own classes."""
    system = (part.pod_class or "").startswith(SYSTEM)
    return None if system else node_way(part.pod_class, cluster)


def _takes_place(name: str, one: PodClass, own: int) -> bool:
    return one.preempts and one.value > own and not name.startswith(SYSTEM)


def _above(work: Work, cluster: ClusterFacts) -> tuple[str, int] | None:
    """The highest priority above its own that other work could have: Kueue takes either kind of class."""
    pods = {name: one.value for name, one in (cluster.pod_classes or {}).items() if not name.startswith(SYSTEM)}
    values = {**pods, **(cluster.kueue_classes or {})}
    higher = [(value, name) for name, value in values.items() if value > (work.priority or 0)]
    return max(higher)[::-1] if higher else None


def _within(queue: QueueSnapshot, work: Work, above: tuple[str, int] | None) -> Iterator[Way]:
    policy = queue.preemption.within_cluster_queue
    setting = f"withinClusterQueue: {policy}"
    mend = f"Set withinClusterQueue: Never on ClusterQueue {queue.name}"
    if policy != "Never" and above:
        name, value = above
        problem = f"In ClusterQueue {queue.name} {name} ({value:,}) preempts its {work.priority or 0:,} ({setting})"
        yield Way("kueue", "within-queue", problem, mend)
    elif policy == "LowerOrNewerEqualPriority":
        problem = f"In ClusterQueue {queue.name} older work preempts newer of the same priority ({setting})"
        yield Way("kueue", "within-queue", problem, mend)


def _across(
    picture: ClusterPicture, queue: QueueSnapshot, others: Sequence[QueueSnapshot], work: Work, policy: str
) -> Iterator[Way]:
    """What runs above its queue's own quota can be taken back, and nothing else."""
    entries = [entry for entry in sorted(queue.quotas) if not work.resources or entry.resource in work.resources]
    borrows = [entry for entry in entries if _borrows(picture, queue, others, entry)]
    if borrows:
        limit = queue.quotas[borrows[0]].borrowing_limit
        said = "is not set" if limit is None else f"is {limit:,}"
        more = f" (and of {len(borrows) - 1} more)" if len(borrows) > 1 else ""
        problem = (
            f"ClusterQueue {queue.name} borrows, and what is borrowed is taken back (reclaimWithinCohort: {policy}): "
            f"borrowingLimit of {borrows[0].flavor} {borrows[0].resource} {said}{more}"
        )
        yield Way("kueue", "borrows", problem, f"Set borrowingLimit: 0 there, on ClusterQueue {queue.name}")
    over = [entry for entry in entries if queue.reserved.get(entry, 0) > queue.quotas[entry].nominal]
    if over and not borrows:
        used, own = queue.reserved[over[0]], queue.quotas[over[0]].nominal
        problem = f"ClusterQueue {queue.name} uses {used:,} of its {own:,} {over[0].flavor}: the rest can be taken back"
        yield Way("kueue", "above-quota", problem, f"Raise nominalQuota of {queue.name}, or let work of it end")


def _borrows(
    picture: ClusterPicture, queue: QueueSnapshot, others: Sequence[QueueSnapshot], entry: FlavorResource
) -> bool:
    """Whether it may use more than its own, and somebody has something to lend."""
    if queue.cohort is None or queue.quotas[entry].borrowing_limit == 0:
        return False
    quotas = [other.quotas[entry] for other in others if entry in other.quotas]
    quotas += [cohort.quotas[entry] for cohort in picture.cohorts.values() if entry in cohort.quotas]
    return any(_lends(quota) for quota in quotas)


def _lends(quota: Quota) -> bool:
    return quota.nominal > 0 and quota.lending_limit != 0


def _reclaimed(others: Sequence[QueueSnapshot], above: tuple[str, int] | None) -> str | None:
    """The policy by which another queue of its tree takes back from such work; None if no queue does."""
    policies = {other.preemption.reclaim_within_cohort for other in others}
    if "Any" in policies:
        return "Any"
    return "LowerPriority" if "LowerPriority" in policies and above else None


def _others(picture: ClusterPicture, queue: QueueSnapshot) -> list[QueueSnapshot]:
    trees = roots(picture)
    mine = trees.get(queue.name)
    if mine is None:
        return []
    return [other for name, other in picture.queues.items() if trees.get(name) == mine and name != queue.name]
