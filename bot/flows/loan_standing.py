"""How each loan stands in the live numbers, from a plan and the picture it was made on. Called by flows/tell_loans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.core.cohorts import QuotaTree, quota_tree
from bot.core.convergence.beside import RoomBeside
from bot.core.convergence.facts import FieldKey, FieldRecord
from bot.core.convergence.figures import LoanFigures
from bot.core.convergence.legs import borrower_field, lender_field
from bot.core.convergence.wants import live_number
from bot.core.impact import Move, others_reclaim
from bot.core.kueue import ClusterPicture, FlavorResource, QueueSnapshot
from bot.core.loans import Loan, LoanKind
from bot.core.pause import Pause
from bot.core.standing import Blocker, LoanStanding, RoomStanding
from bot.flows.why_late import Past


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why nothing, or one queue, can be written now."""

    blocker: Blocker
    words: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Live:
    """What standings are computed from."""

    picture: ClusterPicture
    records: Mapping[FieldKey, FieldRecord]
    troubles: Mapping[str, Trouble]
    """By queue."""
    past: Sequence[Past] = ()
    """Outages of this cluster that are over."""
    pause: Pause | None = None
    _trees: dict[FlavorResource, QuotaTree] = field(default_factory=dict)
    _reclaimed: dict[tuple[FlavorResource, str], bool] = field(default_factory=dict)

    def tree(self, entry: FlavorResource) -> QuotaTree:
        """The picture's trees for this entry, computed once: thousands of loans share them."""
        if entry not in self._trees:
            self._trees[entry] = quota_tree(self.picture, entry)
        return self._trees[entry]

    def others_reclaim(self, entry: FlavorResource, queue: str) -> bool:
        """As core/impact has it, computed once."""
        if (entry, queue) not in self._reclaimed:
            self._reclaimed[entry, queue] = others_reclaim(self.picture, self.tree(entry), queue)
        return self._reclaimed[entry, queue]


def standing_of(loan: Loan, figures: LoanFigures | None, live: Live) -> LoanStanding:
    """A loan without figures has nothing in any number (any more)."""
    borrower, lender = borrower_field(loan), lender_field(loan)
    entry = FlavorResource(loan.flavor, loan.resource)
    blocker, words, since = _blocked(loan, figures, live)
    return LoanStanding(
        raised=figures.raised if figures else 0,
        lowered=figures.lowered if figures else 0,
        borrower=_move(borrower, live),
        lender=_move(lender, live) if lender else None,
        blocker=blocker,
        words=words,
        queue=_queue_of(figures, blocker),
        since=since,
        free=live.tree(entry).free(loan.borrower),
        read_at=live.picture.read_at,
        above=above_quota(live.picture.queues.get(loan.borrower), entry),
        taken_back_by_kueue=_taken_back(loan, live, entry),
        in_no_cohort=live.tree(entry).cohort(loan.borrower) is None,
        beside=_room(figures.beside, live) if figures and figures.beside else None,
    )


def is_seen(loan: Loan, figures: LoanFigures | None, picture: ClusterPicture) -> bool:
    """Whether the controllers have seen the numbers: Kueue's of its queues, the quota controller of the ResourceQuota.

    A ResourceQuota that is not written is waited for by nobody.
    """
    room = figures.beside if figures else None
    beside = None if room is None or room.blocked is not None or room.in_question else room.field
    for key in (borrower_field(loan), lender_field(loan), beside):
        queue = picture.find(key.queue) if key else None
        if queue is not None and (queue.observed_generation or 0) < queue.generation:
            return False
    return True


def _room(room: RoomBeside, live: Live) -> RoomStanding:
    number = live_number(live.picture.find(room.field.queue), room.field)
    before = None if number is None else number - room.raised
    return RoomStanding(Move(room.field.queue, before, number), room.raised, room.blocked, room.in_question)


def _queue_of(figures: LoanFigures | None, blocker: Blocker | None) -> str:
    if figures is None:
        return ""
    if blocker is Blocker.PROPOSED:
        return figures.proposed[0]
    return figures.unwritable[0][0] if figures.unwritable else ""


def above_quota(queue: QueueSnapshot | None, entry: FlavorResource) -> int:
    """Devices reserved above nominalQuota."""
    if queue is None or entry not in queue.quotas:
        return 0
    return max(0, queue.reserved.get(entry, 0) - queue.quotas[entry].nominal)


def _move(key: FieldKey, live: Live) -> Move:
    record = live.records.get(key)
    number = live_number(live.picture.find(key.queue), key)
    return Move(key.queue, record.base if record else number, number)


def _taken_back(loan: Loan, live: Live, entry: FlavorResource) -> bool:
    """Of a transfer the lender reclaims; of a borrow anybody in the cohort may."""
    lender = live.picture.queues.get(loan.lender) if loan.lender else None
    if loan.kind is LoanKind.TRANSFER and lender is not None:
        return lender.preemption.reclaim_within_cohort != "Never"
    return live.others_reclaim(entry, loan.borrower)


def _blocked(loan: Loan, figures: LoanFigures | None, live: Live) -> tuple[Blocker | None, str, datetime | None]:
    if loan.suspended is not None:
        return Blocker.SUSPENDED, loan.suspended, None
    if figures is None:
        return None, "", None
    if figures.held_back and live.pause is not None:
        return Blocker.PAUSED, live.pause.name, live.pause.since
    for queue in figures.in_question:
        return Blocker.IN_QUESTION, *_asked(loan, queue, live)
    for queue, why in figures.unwritable:
        if (found := live.picture.queues.get(queue)) is not None and found.quota_automation is not None:
            return Blocker.AUTOMATED, found.quota_automation, None
        trouble = live.troubles.get(queue)
        return (trouble.blocker, trouble.words, trouble.since) if trouble else (Blocker.REFUSED, why, None)
    if figures.proposed:
        return Blocker.PROPOSED, "", None
    if figures.short_by:
        return Blocker.SHORT, loan.lender or "", None
    return (Blocker.WAITS, figures.waits_for, None) if figures.waits_for else (None, "", None)


def _asked(loan: Loan, queue: str, live: Live) -> tuple[str, datetime | None]:
    for key in (borrower_field(loan), lender_field(loan)):
        record = live.records.get(key) if key else None
        if key and key.queue == queue and record and record.question:
            return record.question.manager or "", record.question.since
    return "", None
