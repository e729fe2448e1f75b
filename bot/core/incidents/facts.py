"""What the bot reads of a watched object, and the little that it remembers of one.

Read from plain JSON by adapters/kube/seen; judged by core/incidents/classify; carried in batches to flows/observe_work.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeAlias


class Kind(StrEnum):
    """Kinds of objects that incidents come from."""

    WORKLOAD = "Workload"
    POD = "Pod"
    EVENT = "Event"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of an object."""

    true: bool
    """False for "False" and for "Unknown"."""
    reason: str = ""
    message: str = ""
    since: datetime | None = None
    """lastTransitionTime; None if it is not said."""


@dataclass(frozen=True, slots=True)
class Owner:
    """An object that stands above others: a Job, a JobSet, a RayJob, a Deployment."""

    kind: str
    name: str
    uid: str = ""
    """Empty where only a label names it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be read of objects: by policies/clusters.yaml and policies/alerts.yaml."""

    accelerators: frozenset[str]
    """Resources that count as accelerators."""
    labels: frozenset[str] = frozenset()
    """Labels that name a person or a team."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What every watched object has."""

    cluster: str
    namespace: str
    name: str
    uid: str
    version: str
    """resourceVersion."""
    owner: Owner | None
    """The top-most owner known on the object; None: nothing stands above it."""
    notes: Mapping[str, str]
    """Annotations of the bot (gpu-quota-bot.io/), full keys; the object's own go before its template's."""
    labels: Mapping[str, str]
    """Those that policy asks for."""
    deleting: bool


@dataclass(frozen=True, slots=True)
class SeenWorkload(Seen):
    """A Kueue Workload of v1beta1 or v1beta2."""

    created_at: datetime | None
    conditions: Mapping[str, Condition]
    local_queue: str
    queue: str | None
    """ClusterQueue of its admission; None without one."""
    priority: int
    accelerators: Mapping[str, int]
    """Resource -> devices, over all its pods."""
    flavors: Mapping[str, str] = field(default_factory=dict)
    """Resource -> flavor, of its admission; accelerators only."""
    pods: int = 1
    """Gang size."""
    active: bool = True
    requeue_at: datetime | None = None
    evictions: int = 0
    """How often it was evicted, as Kueue counts (schedulingStats); 0 where Kueue does not count."""
    on_cluster: str | None = None
    """Of MultiKueue: the worker cluster that has it."""
    copy: bool = False
    """Whether it is a worker cluster's copy of a MultiKueue Workload."""
    variant: bool = False
    """Whether it is one of several ways to admit another Workload (concurrent admission): judged by no one."""


@dataclass(frozen=True, slots=True)
class SeenPod(Seen):
    """A pod that asks for accelerators."""

    created_at: datetime | None
    phase: str
    node: str | None
    """None while it is placed nowhere."""
    accelerators: Mapping[str, int]
    scheduled: Condition | None
    """PodScheduled."""
    disrupted: Condition | None
    """DisruptionTarget."""
    workload: str | None = None
    """Name of its Kueue Workload, in its namespace; None where Kueue has no part in it."""
    nominated: bool = False
    """Whether the scheduler is making room for it on a node."""
    ready: bool = False


@dataclass(frozen=True, slots=True)
class SeenFailedCreate(Seen):
    """An Event by which an owner says that it may not make its pods. `owner` is who says it."""

    at: datetime | None
    message: str


Observed: TypeAlias = SeenWorkload | SeenPod | SeenFailedCreate


@dataclass(frozen=True, slots=True)
class Change:
    """Something about one object: what is seen of it now, or that it is gone (then `seen` is the last of it, if known).

    Changes of one object come in order; a change may come twice, and some never come.
    """

    cluster: str
    kind: Kind
    uid: str
    seen: Observed | None
    gone: bool = False
    seeding: bool = False
    """The bot's first look at this cluster: remember, tell nobody."""
    late: bool = False
    """Found by comparing after the bot was away, not seen as it happened."""


class What(StrEnum):
    """What can happen to work."""

    PREEMPTED = "preempted"
    """By Kueue."""
    EVICTED = "evicted"
    """By Kueue, for another reason."""
    REMOVED = "removed"
    """Pods taken away by kube-scheduler, a drain, a taint or a kubelet."""
    UNSCHEDULABLE = "unschedulable"
    """Pods that find no node."""
    NO_ROOM = "no-room"
    """The same, of work that Kueue has admitted."""
    NEVER = "never"
    """It cannot start as it was submitted."""
    WAITING = "waiting"
    """For quota, for longer than policy calls usual."""
    REFUSED = "refused"
    """Pods not made, because of a ResourceQuota."""
    QUEUED = "queued"
    """Back in the queue."""
    ADMITTED = "admitted"
    RUNNING = "running"
    """Its pods have their devices (again)."""
    OVER = "over"
    """Finished or deleted."""


TROUBLES = frozenset({What.UNSCHEDULABLE, What.NO_ROOM, What.NEVER, What.WAITING, What.REFUSED})
"""What lasts until something changes, and is told after a grace."""
LOSSES = frozenset({What.PREEMPTED, What.EVICTED, What.REMOVED})
"""What happens at one moment."""


@dataclass(frozen=True, slots=True)
class Move:
    """Something that happened to one object, with all that is said of it later."""

    what: What
    at: datetime
    """By the object's own times, where it has one."""
    why: str = ""
    """A word of the vendor's, such as InCohortReclamation; may be one that nobody knows yet."""
    message: str = ""
    """In the vendor's words, cut."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """JSON values that views/alerts name."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What the bot knows of one object, so that old can be compared with new.

    Kept only for objects with something to remember; a pod that runs as it should has none.
    """

    cluster: str
    kind: Kind
    uid: str
    story: str
    """Key of the story it belongs to."""
    version: str = ""
    """resourceVersion that was judged last."""
    state: What | None = None
    """What holds of it now; None: nothing worth telling."""
    since: datetime | None = None
    """When that began."""
    told: tuple[str, ...] = ()
    """Marks of what was told, the latest few: a condition and its instant, such as `Evicted@1796476800`."""
    due: datetime | None = None
    """When to look again though nothing changes; None: never."""
    held: Move | None = None
    """What is told then."""
    devices: int = 0
    evictions: int = 0
    """As Kueue counts, at the last look."""

    def to_json(self) -> str:
        """What is in no column of its own: all but cluster, kind, uid, story, state, due and devices."""
        held = self.held
        moved = held and [held.what, held.at.timestamp(), held.why, held.message, dict(held.facts)]
        return json.dumps([self.version, self.since and self.since.timestamp(), self.told, moved, self.evictions])

    def with_json(self, text: str) -> "Remembered":
        """This one with what `to_json` wrote."""
        version, since, told, moved, evictions = json.loads(text)
        held = moved and Move(What(moved[0]), _instant(moved[1]), *moved[2:])
        began = None if since is None else _instant(since)
        return replace(self, version=version, since=began, told=tuple(told), held=held, evictions=evictions)


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
