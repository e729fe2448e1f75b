"""How much of each loan is used, from the queues that convergence reads anyway. Called by flows/converge_quota at rest.

Every look counts; the database is written to once in a while, all loans in one statement. What a kill loses is not made
up: the next leader goes on from what is stored, and the time between is a gap (core/loan_use).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.core.convergence.facts import FieldKey, FieldRecord
from bot.core.kueue import ClusterPicture
from bot.core.loan_use import LoanUse, first_seen, seen_again, use_of_loans
from bot.core.loans import Loan
from bot.flows.world import World

STORED_EVERY = timedelta(minutes=10)


@dataclass(slots=True)
class UseMemory:
    """What the leader knows of the loans of all clusters. Another epoch begins anew, from what is stored."""

    epoch: int = 0
    uses: dict[str, Mapping[int, LoanUse]] = field(default_factory=dict)
    """By cluster: loans that were in force at the last look."""
    stored_at: dict[str, datetime] = field(default_factory=dict)
    """By cluster."""

    def known(self, epoch: int, cluster: str) -> Mapping[int, LoanUse]:
        """Of one cluster; none if this is the first look under an epoch."""
        if epoch != self.epoch:
            self.epoch, self.uses, self.stored_at = epoch, {}, {}
        return self.uses.get(cluster, {})


def measure_use(
    world: World,
    epoch: int,
    picture: ClusterPicture,
    loans: Sequence[Loan],
    records: Mapping[FieldKey, FieldRecord],
    memory: UseMemory,
) -> None:
    """One look. `loans`: all that are open on this cluster. Raises NotLeader, Unavailable (database)."""
    cluster, at = picture.cluster, picture.read_at
    known = memory.known(epoch, cluster)
    used = use_of_loans(picture, loans, records)
    new = used.keys() - known.keys()
    if new:
        with world.store.read() as uow:
            known = {**known, **{use.loan: use for use in uow.uses.of(new)}}
    uses = {loan.id: _look(known.get(loan.id), loan, used[loan.id], at) for loan in loans if loan.id in used}
    over = [use for number, use in known.items() if number not in uses]
    due = at - memory.stored_at.setdefault(cluster, at) >= STORED_EVERY
    if due or over:
        _store(world, epoch, [*(uses.values() if due else ()), *over])
    memory.uses[cluster] = uses
    if due:
        memory.stored_at[cluster] = at


def _look(known: LoanUse | None, loan: Loan, used: int, at: datetime) -> LoanUse:
    if known is None:
        return first_seen(loan.id, loan.amount, used, at)
    return seen_again(known, loan.amount, used, at)


def _store(world: World, epoch: int, uses: Sequence[LoanUse]) -> None:
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        uow.uses.put(uses)
        uow.commit()
