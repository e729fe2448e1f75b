"""What each loan wants at this moment: its state by the clock, what suspends it, and the amount that follows.

Called by the planner before it looks at any number.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.core.convergence.annotation import NotedLeg
from bot.core.convergence.facts import FieldKey, FieldName, FieldRecord, IntendedField
from bot.core.convergence.legs import Sides
from bot.core.kueue import ClusterPicture, QueueSnapshot
from bot.core.loans import Loan, LoanEnd, LoanState
from bot.core.resource_quotas import counting_key, kind_of


def by_the_clock(loan: Loan, now: datetime) -> Loan:
    """Start and end it. RETURNING is stored and never goes back, even if the clock does."""
    begun = loan.state is LoanState.SCHEDULED and loan.start <= now
    if loan.end > now:
        return replace(loan, state=LoanState.RUNNING) if begun else loan
    if begun or loan.state is LoanState.RUNNING:
        reason, at = loan.end_reason or LoanEnd.ENDED, loan.ended_at or loan.end
        loan = replace(loan, state=LoanState.RETURNING, end_reason=reason, ended_at=at)
    return loan


def wanted(loan: Loan) -> int:
    """Devices it should move now."""
    return loan.amount if loan.state is LoanState.RUNNING and loan.suspended is None else 0


def begun(
    records: Iterable[FieldRecord], parts: Iterable[IntendedField], notes: Iterable[Mapping[str, NotedLeg]]
) -> Mapping[str, int]:
    """How much of each loan stands in some number already, or in `parts` that may come, by leg id: the larger side."""
    sizes: dict[str, int] = defaultdict(int)
    held = [record.legs for record in records]
    held += [part.legs for part in parts]
    held += [{leg: one.size for leg, one in legs.items()} for legs in notes]
    for legs in held:
        for leg, size in legs.items():
            sizes[leg] = max(sizes[leg], abs(size))
    return sizes


def live_number(queue: QueueSnapshot | None, key: FieldKey) -> int | None:
    """The number as it stands; None if object, entry or limit is not there."""
    quota = None if queue is None else queue.quotas.get(key.flavor_resource)
    if quota is None:
        return None
    return quota.borrowing_limit if key.name is FieldName.BORROWING_LIMIT else quota.nominal


@dataclass(frozen=True, slots=True)
class Ground:
    """What loans stand on: the live picture and its cohort trees. Made once per plan."""

    picture: ClusterPicture
    roots: Mapping[str, str | None]
    unread: Collection[str]
    """Queues that could not be read: nothing is concluded from their absence."""
    known: dict[FieldKey, bool] = field(default_factory=dict)

    def is_there(self, key: FieldKey) -> bool:
        """Whether object, entry and limit are there (or cannot be told)."""
        there = self.known.get(key)
        if there is None:
            there = key.queue in self.unread or live_number(self.picture.find(key.queue), key) is not None
            self.known[key] = there
        return there


def obstacle(sides: Sides, ground: Ground) -> str | None:
    """Why the loan cannot be: a queue, an entry or a limit is gone, or the two queues share no cohort tree."""
    lender, borrower = sides.lender, sides.borrower
    if lender is not None and not ground.is_there(lender):
        return absence(ground.picture, lender)
    if not ground.is_there(borrower):
        return absence(ground.picture, borrower)
    if lender is None or lender.queue in ground.unread or borrower.queue in ground.unread:
        return None
    root = ground.roots.get(lender.queue)
    if root is None or root != ground.roots.get(borrower.queue):
        return f"{lender.queue} and {borrower.queue} are no longer in one cohort tree"
    return None


def absence(picture: ClusterPicture, key: FieldKey) -> str:
    """What of this field is not there, in words."""
    queue = picture.find(key.queue)
    if queue is None:
        return f"{kind_of(key.queue)} {key.queue} is {'not there' if key.name is FieldName.HARD else 'gone'}"
    if key.name is FieldName.HARD:
        return f"ResourceQuota {key.queue} has no {counting_key(key.resource)}"
    if key.flavor_resource not in queue.quotas:
        return f"{key.queue} no longer lists {key.resource} of flavor {key.flavor}"
    return f"borrowingLimit of {key.queue} is not set any more"
