"""Rebuild a lost database from the annotations on the queues (design: convergence, section 8).

Called at start when the database knows nothing of a cluster. First every queue in reach gets a fence of the new epoch,
so that patches which only the lost database knew of have landed or are dead; then the queues are read again.
"""

from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime

from bot.core.convergence import annotation as notes
from bot.core.convergence.annotation import Standing
from bot.core.convergence.changes import QueueChange
from bot.core.convergence.facts import FieldRecord
from bot.core.convergence.findings import Finding
from bot.core.convergence.order import Move
from bot.core.convergence.planner import PlanFacts, plan
from bot.core.convergence.writes import PlannedWrite
from bot.core.kueue import ClusterPicture
from bot.core.loans import Loan


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What the annotations know: to be stored in one transaction, before anything is raised."""

    records: tuple[FieldRecord, ...]
    loans: tuple[Loan, ...]
    findings: tuple[Finding, ...]


CREDIBLE = 10 ** (notes.DIGITS - 1)
"""Fences of a higher epoch are nobody's: no bot changes its leader that often. The epoch keeps room to go on above."""


def highest_epoch(picture: ClusterPicture) -> int:
    """Highest credible epoch of any fence: a new leader's must be above it. 0 if there is none."""
    epochs = (notes.read_fence(queue).epoch for queue in picture.objects().values())
    return max((epoch for epoch in epochs if epoch <= CREDIBLE), default=0)


def missing_fences(
    picture: ClusterPicture, install: str, epoch: int, unwritable: Container[str] = ()
) -> tuple[PlannedWrite, ...]:
    """Fences still to be written with this epoch, one per queue that the bot may write.

    What refuses its fence is left out: it is frozen as long as it refuses, and must not hold up the others.
    """
    missing = []
    for name, queue in sorted(picture.objects().items()):
        other = notes.read(queue, install)[0] is Standing.OTHER_INSTALL
        kept_out = name in unwritable or other
        if not kept_out and queue.quota_automation is None and notes.read_fence(queue).epoch < epoch:
            fence = {notes.FENCE: str(notes.next_fence(queue, epoch))}
            missing.append(PlannedWrite(QueueChange(queue, annotations=fence), Move.FENCE))
    return tuple(missing)


def rebuild(picture: ClusterPicture, install: str, epoch: int, now: datetime) -> Rebuilt:
    """Records and loans as the annotations have them. Raises ValueError while a fence is missing."""
    missing = missing_fences(picture, install, epoch)
    if missing:
        raise ValueError(f"{len(missing)} queues have no fence of epoch {epoch} yet")
    known = plan(PlanFacts(install, epoch, now, picture, {}, (), ()))
    return Rebuilt(known.records, known.found_loans, known.findings)
