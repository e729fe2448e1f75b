"""What the planner noticed and people (or the log) should know. The flow turns findings into notices.

The planner has no memory of what was told: a finding comes with every plan as long as it holds, and its `key` is the
same until the number, the object or the loan it speaks of changes. Telling once per key is the flow's part.
"""

from dataclasses import dataclass
from enum import StrEnum

from bot.core.convergence.facts import FieldKey


class FindingKind(StrEnum):
    """What was found."""

    EDITED = "edited"
    """Live is neither base nor the last write: in question."""
    REVERTED = "reverted"
    """Live is the base although legs are wanted (GitOps, a rollback): in question."""
    RECREATED = "re-created"
    """The object has another uid than the one the legs were written to: in question."""
    DOUBTFUL = "doubtful"
    """A write of the bot may have landed and been undone, or stripped of its annotation: in question."""
    HALF_LOST = "half-lost"
    """The database was lost and only another queue's annotation names a leg here: in question, base unknown."""
    WITHDRAWN = "withdrawn"
    """A question answered itself: the number is the bot's again, or the base with nothing wanted."""
    GONE = "gone"
    """Object, entry or limit is not there; legs here are void."""
    SUSPENDED = "suspended"
    """A loan was suspended by this plan."""
    STRIPPED = "stripped"
    """The annotation was taken off and the number left."""
    OLD_ANNOTATION = "old annotation"
    """Somebody put an older copy of the annotation back. For the log."""
    UNREADABLE_ANNOTATION = "unreadable annotation"
    OTHER_INSTALL = "other install"
    """Another bot's annotation: nothing is written to this queue."""
    AUTOMATED = "automated"
    """Kueue itself writes this queue's quotas."""
    NOT_WHOLE = "not whole"
    """A quantity that is no whole number of devices: the field is not written."""
    LENDING_LIMIT = "lending limit"
    """Somebody set the lendingLimit: it is the base of it from now on."""
    FROM_ANNOTATION = "from annotation"
    """The database did not know this field; the annotation did."""
    UNKNOWN_LOAN = "unknown loan"
    """A leg of a loan that nobody knows: it is left as it is."""
    NO_ROOM_BESIDE = "no room beside"
    """A loan's ResourceQuota, or its key in it, is not there: pods above it are refused."""
    NO_EFFECT = "no effect"
    """A ResourceQuota has keys that look like a quota of the loan's devices and count nothing."""
    SHORT = "short"
    """The lender has not that much."""
    WAITS = "waits"
    """A return or a raise waits for another queue."""


QUESTIONS = frozenset(
    {
        FindingKind.EDITED,
        FindingKind.REVERTED,
        FindingKind.RECREATED,
        FindingKind.DOUBTFUL,
        FindingKind.HALF_LOST,
    }
)
"""Kinds that ask people for one of the three answers."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found. Numbers are devices; None where they do not apply."""

    kind: FindingKind
    key: str
    """Stable: told once per key."""
    queue: str
    field: FieldKey | None = None
    loan: int | None = None
    live: int | None = None
    wrote: int | None = None
    base: int | None = None
    manager: str | None = None
    """Field manager that wrote the spec last, where known."""
    words: str = ""
    """Detail in words (may hold other people's text)."""


def field_path(key: FieldKey) -> str:
    """`default/vision/a100/nvidia.com/gpu/nominal`, as in the audit."""
    return "/".join(key)


def about_field(kind: FindingKind, key: FieldKey, uid: str | None, live: int | None) -> str:
    """Key of a finding about one number of one object."""
    return f"{kind}:{field_path(key)}:{uid}:{live}"


def about_queue(kind: FindingKind, cluster: str, queue: str, uid: str | None) -> str:
    """Key of a finding about one object."""
    return f"{kind}:{cluster}/{queue}:{uid}"
