"""Why a loan began or ended late, as far as it is known. Called by flows/tell_loans in the transaction that tells it.

What was there when the loan was due comes first, and what followed on it is named as well: the bot was down, and when
it was back the API server did not answer. An outage that began later is named only if nothing better is known, a gap in
leadership never: the bot was there when the loan was due.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.standing import Blocker
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind

LATE = timedelta(minutes=2)
"""From here on a start or an end is called late."""
NOTICED_WITHIN = timedelta(minutes=1)
"""An outage is noticed by the first call that fails, which may be the one for what was due."""
_SILENT = {Blocker.API_DOWN: "the API server did not answer", Blocker.KUEUE_DOWN: "Kueue did not answer"}
_STOOD = {
    Blocker.IN_QUESTION: "nobody had said what a change from outside means",
    Blocker.NO_RIGHT: "the bot was not allowed to write the queue",
    Blocker.CANNOT_READ: "the bot could not read the queues",
    Blocker.REFUSED: "Kueue refused the change",
    Blocker.AUTOMATED: "Kueue itself wrote the quota",
    Blocker.PAUSED: "quota changes were paused",
    Blocker.WAITS: "another queue had to go first",
}


@dataclass(frozen=True, slots=True)
class Past:
    """An outage of a cluster that is over."""

    blocker: Blocker
    since: datetime
    until: datetime


def why_late(uow: UnitOfWork, due: datetime, past: Sequence[Past], stood: Blocker | None) -> str:
    """A clause. `stood` is what kept the loan when its people were told last."""
    causes, free = [], due
    gap = uow.leadership.gap()
    if gap is not None and gap[0] <= due <= gap[1]:
        causes.append("the database did not answer" if was_the_database(uow, gap) else "the bot was down")
        free = gap[1]
    for outage in sorted(past, key=lambda one: one.since):
        if outage.since <= free + NOTICED_WITHIN and outage.until >= free:
            causes.append(_SILENT[outage.blocker])
            free = outage.until
    if not causes and stood in _STOOD:
        causes.append(_STOOD[stood])
    if not causes:
        causes = [_SILENT[outage.blocker] for outage in past if outage.until >= due][:1]
    return ", then ".join(causes) or "it is not known why"


def was_the_database(uow: UnitOfWork, gap: tuple[datetime, datetime]) -> bool:
    """Nobody can lead without it, so an outage of it that was told looks like a bot that was down.

    The lease was renewed for the last time just before, and was taken again just after.
    """
    told = uow.notices.latest(f"{NoticeKind.DATABASE_BACK.value}:")
    if told is None:
        return False
    since, until = (datetime.fromisoformat(told.draft.facts[name]) for name in ("since", "until"))
    return gap[0] >= since - LATE and gap[1] <= until + LATE
