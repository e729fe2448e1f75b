"""All that happens to one piece of work as one story, and one message: preempted, back in the queue, running again.

Pure. Called by flows/observe_work with each move of core/incidents/classify.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from bot.core.incidents.facts import LOSSES, TROUBLES, Kind, Move, What

PINGED_AGAIN = frozenset({3, 10})
"""At which times of the same thing its owner is pinged once more."""
OF_PODS = frozenset({What.UNSCHEDULABLE, What.NO_ROOM, What.REFUSED, What.REMOVED})
"""What pods recover from by themselves; of the rest Kueue's Workload says when it is over."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who is told, and how that was found."""

    to: str
    """Channel or user id."""
    person: str | None = None
    """User id of the owner."""
    team: str | None = None
    found_by: str = ""
    """In words: annotation on Job. Empty: nobody was found."""


@dataclass(frozen=True, slots=True)
class Incident:
    """One story. Its message shows `what`, and where it stands now (`stage`)."""

    id: int
    key: str
    cluster: str
    namespace: str
    kind: str
    """Of the work, such as JobSet."""
    name: str
    what: What
    at: datetime
    """When that happened, the latest time."""
    began: datetime
    """When it happened first."""
    told_at: datetime
    """By the bot's clock, when the story became one."""
    why: str = ""
    message: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Of the latest move that made it what it is."""
    times: int = 1
    """How often work was lost."""
    stage: What | None = None
    """What came after: queued, admitted, running, over. None: nothing yet."""
    stage_at: datetime | None = None
    stage_why: str = ""
    open: bool = True
    """Whether an end is waited for."""
    audience: Audience = Audience("")
    mention: bool = False
    late: bool = False
    storm: int | None = None
    lines: int = 0
    """In its thread so far."""
    version: int = 0


@dataclass(frozen=True, slots=True)
class ThreadLine:
    """One line of the thread."""

    what: What
    at: datetime
    why: str = ""
    times: int = 1
    ping: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """How a story goes on."""

    incident: Incident
    line: ThreadLine | None = None
    new: bool = False
    """It begins: `audience` is still to be found, `id` to be given."""


def step(known: Incident | None, key: str, move: Move, source: Kind, around: "Around") -> Step | None:
    """What a move does to the story; None: nothing. `known` is the latest of this key, open or not."""
    if move.what in LOSSES | TROUBLES:
        return _begins(known, key, move, source, around)
    if known is None or not known.open:
        return None
    return _goes_on(known, move, source, around.troubled)


@dataclass(frozen=True, slots=True)
class Around:
    """What else counts."""

    now: datetime
    fold_within: timedelta
    troubled: int = 0
    """Pods of the story that still have a trouble that was told."""


def _begins(known: Incident | None, key: str, move: Move, source: Kind, around: Around) -> Step | None:
    if known is None or not (known.open or around.now - (known.stage_at or known.at) <= around.fold_within):
        fresh = _fresh(key, move, around.now)
        return Step(_told(fresh, move), new=True)
    same = known.open and known.stage is None and known.what is move.what
    if source is Kind.POD and same:
        return Step(known)  # one more pod of the gang: the message counts them
    of_kueue = known.what in (What.PREEMPTED, What.EVICTED) and known.stage in (None, What.QUEUED)
    if source is Kind.POD and known.open and of_kueue and move.what is What.REMOVED:
        return None  # its pods go because Kueue evicted it, which is told already
    lost = move.what in LOSSES and known.what in LOSSES
    times = known.times + 1 + int(move.facts.get("missed", 0)) if lost else known.times
    again = replace(known, open=True, stage=None, stage_at=None, stage_why="", times=times, lines=known.lines + 1)
    ping = lost and times in PINGED_AGAIN
    return Step(_told(again, move), ThreadLine(move.what, move.at, move.why, times, ping))


def _fresh(key: str, move: Move, now: datetime) -> Incident:
    cluster, namespace, kind, name = key.split("/", 3)
    times = 1 + int(move.facts.get("missed", 0))
    return Incident(0, key, cluster, namespace, kind, name, move.what, move.at, move.at, now, times=times)


def _told(incident: Incident, move: Move) -> Incident:
    return replace(
        incident, what=move.what, why=move.why, message=move.message, at=move.at, facts={**incident.facts, **move.facts}
    )


def _goes_on(known: Incident, move: Move, source: Kind, troubled: int) -> Step | None:
    if not _counts(known, move, source, troubled) or known.stage is move.what:
        return None
    ends = move.what in (What.RUNNING, What.OVER) or bool(move.facts.get("last"))
    at = max(move.at, known.at)
    after = replace(known, stage=move.what, stage_at=at, stage_why=move.why, open=not ends, lines=known.lines + 1)
    return Step(after, ThreadLine(move.what, at, move.why, known.times))


def _counts(known: Incident, move: Move, source: Kind, troubled: int) -> bool:
    """Whether a move of one object says something of the whole."""
    if source is Kind.POD:
        alone = known.kind == "Pod"
        mended = known.what in OF_PODS and not troubled
        return mended and (move.what is not What.OVER or known.what in TROUBLES or alone)
    if move.what is What.QUEUED:
        return known.what in LOSSES and known.stage is None
    if known.what in OF_PODS and move.what is What.ADMITTED:
        return False  # Kueue's admission places no pod
    return not troubled or move.what is What.OVER
