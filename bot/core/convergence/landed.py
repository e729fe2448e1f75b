"""What the answer to a patch does to records and intents (design: convergence, section 4.6). Pure.

Called by flows/converge_quota inside the transaction that stores the outcome, with the records as they are *then*: they
may have moved on since the patch was planned.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.convergence.changes import PatchOutcome
from bot.core.convergence.facts import FieldKey, FieldRecord, Intent
from bot.core.convergence.observe import written
from bot.core.kueue import QueueSnapshot

REFUSAL_LASTS = timedelta(minutes=10)
"""How long a queue whose write was refused is left alone, if it does not change before."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What to store after an answer."""

    records: tuple[FieldRecord, ...]
    close: bool
    """Whether the intent's outcome is known; if not it stays open until a later look at the object tells."""
    twins: tuple[str, ...] = ()
    """Ids of other open intents that are closed with it: planned on the version that this patch has replaced."""


def settle(
    intent: Intent,
    outcome: PatchOutcome,
    records: Mapping[FieldKey, FieldRecord],
    open_intents: Collection[Intent] | None = None,
) -> Settled:
    """Records that an applied patch moved on, and the intents (of `open_intents`) that are closed by that.

    An intent that is open no more was decided by a look at the object: its answer comes too late to count. None leaves
    that to a caller who knows that nobody planned meanwhile, and closes no twins.

    A failure closes this intent alone: of two patches planned on one resourceVersion the other may have landed. If this
    one landed, the other certainly did not, and never will.
    """
    others = () if open_intents is None else open_intents
    decided = open_intents is not None and intent.id not in {other.id for other in others}
    if decided or outcome is PatchOutcome.UNKNOWN:
        return Settled((), close=False)
    if outcome is not PatchOutcome.APPLIED:
        return Settled((), close=True)
    moved = []
    for part in intent.fields:
        record = records.get(part.key) or FieldRecord(part.key, intent.uid, 0, part.base)
        if part.seq > record.seq:
            moved.append(written(record, part, intent.uid))
    twins = (other.id for other in others if other.id != intent.id and _planned_on(other) == _planned_on(intent))
    return Settled(tuple(moved), close=True, twins=tuple(twins))


def _planned_on(intent: Intent) -> tuple[str, str, str]:
    return intent.queue, intent.uid, intent.resource_version


@dataclass(frozen=True, slots=True)
class Refusal:
    """A write that the webhook, the schema or the API server's authorization refused."""

    queue: str
    resource_version: str
    words: str
    since: datetime


def refused(outcome: PatchOutcome, queue: QueueSnapshot, words: str, now: datetime) -> Refusal | None:
    """The refusal to remember after this outcome; None if the same write may be tried again at once."""
    if outcome in (PatchOutcome.REFUSED, PatchOutcome.FORBIDDEN):
        return Refusal(queue.name, queue.resource_version, words, now)
    return None


def still_refused(refusal: Refusal, queue: QueueSnapshot | None, now: datetime) -> bool:
    """Whether the queue counts as unwritable: it has not changed since, and not long has passed."""
    same = queue is not None and queue.resource_version == refusal.resource_version
    return same and now - refusal.since < REFUSAL_LASTS
