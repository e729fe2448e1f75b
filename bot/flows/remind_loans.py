"""People are reminded that a loan ends, a day and an hour before, each once. Run by the leader's timetable.

What was said is known by the notices' keys alone, which have the end in them: an extension gives new reminders, and one
of an end that is no more is not said. While the cluster does not answer they go out without live figures.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.core.kueue import ClusterPicture
from bot.core.loans import Loan, LoanState
from bot.core.notices import NoticeDraft
from bot.core.reminders import Batch, Ending, Reminder, batches, may_be_due
from bot.core.requests import QuotaRequest, RequestState
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.who_hears import who_hears
from bot.flows.work_above import above_base, likely_work
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind

_KINDS = {Reminder.DAY: NoticeKind.ENDS_IN_A_DAY, Reminder.HOUR: NoticeKind.ENDS_SOON}
_Pictures = dict[str, ClusterPicture | NotRead]


def remind_loans(world: World, epoch: int) -> timedelta | None:
    """Whatever is due now and was not said. Raises NotLeader, Unavailable (database)."""
    now = world.clock()
    pictures: _Pictures = {}
    for which in Reminder:
        for batch in batches(which, _unsaid(world, which, now), now):
            _remind(world, epoch, batch, pictures)
    return None


def _unsaid(world: World, which: Reminder, now: datetime) -> list[Ending]:
    found: list[tuple[Loan, QuotaRequest, datetime]] = []
    with world.store.read() as uow:
        for loan in uow.loans.find(states={LoanState.RUNNING}):
            if not may_be_due(which, loan, now) or uow.notices.latest(_prefix(which, loan)) is not None:
                continue
            request = uow.requests.get(loan.id)
            if request is not None:  # else rebuilt from annotations: nobody is known to have asked for it
                found.append((loan, request, _agreed(uow, loan, request)))
    return [Ending(loan, tuple(who_hears(world, request)), since) for loan, request, since in found]


def _agreed(uow: UnitOfWork, loan: Loan, request: QuotaRequest) -> datetime:
    """Since when its end is what it is: the approval, or that of its latest extension."""
    decided = [request, *uow.requests.find(states={RequestState.APPROVED}, extends=loan.id)]
    return max(loan.start, *(one.decided_at or loan.start for one in decided))


def _prefix(which: Reminder, loan: Loan) -> str:
    return f"{_KINDS[which].value}:{loan.id}:{loan.end.isoformat()}:"


def _remind(world: World, epoch: int, batch: Batch, pictures: _Pictures) -> None:
    """One message for all of them; the others of a batch only leave their keys, so that nobody says them again."""
    loans = [_facts(world, loan, pictures) for loan in batch.loans]
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        if any(_changed(uow, loan) for loan in batch.loans):
            return  # looked at again at the next pass, as it is then
        for to in batch.to:
            for loan in batch.loans:
                facts = {"loans": loans if loan is batch.loans[0] else []}
                draft = NoticeDraft(_prefix(batch.which, loan) + to, _KINDS[batch.which], to, facts)
                uow.notices.owe_once(draft, world.clock())
        uow.commit()
    world.wake_delivery()


def _changed(uow: UnitOfWork, loan: Loan) -> bool:
    stored = uow.loans.get(loan.id)
    return stored is None or stored.version != loan.version


def _facts(world: World, loan: Loan, pictures: _Pictures) -> Mapping[str, Any]:
    facts: dict[str, Any] = {"request": loan.id, "end": loan.end.isoformat()}
    if loan.cluster not in pictures:
        pictures[loan.cluster] = read_queues(world, loan.cluster)
    picture = pictures[loan.cluster]
    queue = None if isinstance(picture, NotRead) else picture.queues.get(loan.borrower)
    if queue is None:
        return facts
    above = above_base(loan, queue)
    work = likely_work(world, loan, above) if above else ()
    return {**facts, "above": above, "work": [[one.name, one.amount] for one in work]}
