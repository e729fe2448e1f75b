"""What readiness is judged from: work on GPUs, priority classes, disruption budgets and the GPU stack of a cluster.

Made by adapters/kube/readiness from plain JSON; judged by core/readiness/judge.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from bot.core.kueue import ClusterPicture

PREFIX = "gpu-quota-bot.io/"
PREEMPTIBLE = f"{PREFIX}preemptible"
CHECKPOINT_AT = f"{PREFIX}checkpoint-at"
CHECKPOINT_INTERVAL = f"{PREFIX}checkpoint-interval"
CHECKPOINT_TAKES = f"{PREFIX}checkpoint-takes"
ON_SIGTERM = f"{PREFIX}on-sigterm"

Share: TypeAlias = int | str | None
"""A number of pods or a percentage of them, such as "50%"; None: not set."""


@dataclass(frozen=True, slots=True)
class Work:
    """Pods on GPUs that one object stands for: a Job (or another kind that ends), a Deployment or a StatefulSet."""

    kind: str
    namespace: str
    name: str
    pods: int
    gpus: int
    """Devices, over all its pods."""
    ends: bool
    """Whether it is over some day (training) and starts again from its checkpoint; False for what serves."""
    running_since: datetime | None
    """When it got its devices; None while it waits."""
    annotations: Mapping[str, str]
    """Those of the bot, full keys."""
    labels: Mapping[str, str]
    """Of its pods."""
    pod_class: str | None
    """PriorityClass that its pods name."""
    grace: timedelta
    pre_stop: bool
    """Whether a container has a preStop hook."""
    local_queue: str | None = None
    """None: Kueue is not asked about it."""
    queue: str | None = None
    """ClusterQueue of that; None when it is not known."""
    kueue_class: str | None = None
    """WorkloadPriorityClass that it names."""
    priority: int | None = None
    """What Kueue orders it by; None when Kueue is not asked."""
    resources: frozenset[str] = frozenset()
    """All that its pods ask for, cpu and memory too."""


@dataclass(frozen=True, slots=True)
class Selector:
    """A label selector; with nothing in it, it selects every pod of its namespace."""

    labels: Mapping[str, str] = field(default_factory=dict)
    expressions: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """(key, operator, values)."""

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod with these labels is selected."""
        return all(labels.get(key) == value for key, value in self.labels.items()) and all(
            _holds(labels.get(key), operator, values) for key, operator, values in self.expressions
        )


def _holds(value: str | None, operator: str, values: tuple[str, ...]) -> bool:
    if operator in ("Exists", "DoesNotExist"):
        return (value is not None) == (operator == "Exists")
    return (value in values) == (operator == "In")


@dataclass(frozen=True, slots=True)
class Budget:
    """A PodDisruptionBudget."""

    namespace: str
    name: str
    selector: Selector | None
    """None selects nothing."""
    min_available: Share = None
    max_unavailable: Share = None


@dataclass(frozen=True, slots=True)
class PodClass:
    """A PriorityClass."""

    value: int
    preempts: bool = True
    """Whether its pods take the place of lower ones (preemptionPolicy)."""
    default: bool = False
    """Whether pods that name none get it."""


@dataclass(frozen=True, slots=True)
class StackPart:
    """Something that the GPUs cannot do without."""

    what: str
    """Kueue, DCGM exporter, Prometheus or gpu-quota-bot."""
    kind: str
    namespace: str
    name: str
    replicas: int | None
    """None: one on each node."""
    labels: Mapping[str, str]
    pod_class: str | None


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """One cluster at one moment. None in place of a collection: it could not be read, so nothing is judged by it."""

    name: str
    read_at: datetime
    picture: ClusterPicture | None
    """None without Kueue."""
    works: tuple[Work, ...] = ()
    budgets: tuple[Budget, ...] | None = ()
    pod_classes: Mapping[str, PodClass] | None = field(default_factory=dict)
    kueue_classes: Mapping[str, int] | None = field(default_factory=dict)
    stack: tuple[StackPart, ...] = ()
    unread: tuple[str, ...] = ()
    """Resources that the bot may not list: `poddisruptionbudgets.policy`."""
    lenders: frozenset[str] = frozenset()
    """ClusterQueues that policy lets lend."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: whose, the sentence, what mends it, and how much unsaved work is at risk."""

    cluster: str
    kind: str
    namespace: str
    """Empty for what is in none."""
    name: str
    check: str
    """A word for programs, such as checkpoint-missing."""
    problem: str
    mend: str
    gpu_seconds: int = 0

    @property
    def thing(self) -> str:
        """The object as people name it."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Readiness:
    """What was found, the most work at risk first."""

    works: int
    """How many were judged."""
    unready: int
    """How many of them have a finding."""
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    read_at: datetime
