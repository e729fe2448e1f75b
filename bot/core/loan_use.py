"""How much of each loan is used: what a look at the queues shows, and what many looks come to.

Called by flows/measure_use for each look of convergence, and by flows/live_use; read by core/idle_loans. Decided here:

- A queue uses its own quota first, then its loans: a loan of nominalQuota before one that lets it borrow more, since
  Kueue counts as borrowed only what is above nominalQuota.
- Among several loans of one number the one that ends first is counted as used first. So what is unused is found in the
  loan that would lie idle the longest.
- What a look shows holds until the next look, if that comes soon enough. Else nobody knows what was in between: it is
  counted neither as used nor as unused, and after a longer gap "unused for so long" begins anew.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.core.convergence.facts import FieldKey, FieldRecord
from bot.core.convergence.legs import borrower_field
from bot.core.convergence.wants import live_number
from bot.core.kueue import ClusterPicture, FlavorResource, QueueSnapshot
from bot.core.loans import Loan, LoanKind, LoanState

MOST_APART = timedelta(minutes=5)
"""Two looks further apart have a gap between them."""
FORGETS_AFTER = timedelta(hours=1)
"""A longer gap ends every stretch in which something was unused."""
MOST_STEPS = 32
"""Stretches that are kept of one loan; the shortest are dropped first."""


@dataclass(frozen=True, slots=True)
class Unused:
    """At least so many devices were unused all through so much observed time, up to the last look."""

    at_least: int
    lasted: timedelta


@dataclass(frozen=True, slots=True)
class LoanUse:
    """What is known of one loan, in a handful of numbers however long it lasts."""

    loan: int
    seen_at: datetime
    """Of the last look."""
    amount: int
    """On loan then."""
    used: int
    """Of it then: 0 to `amount`."""
    observed: timedelta = timedelta(0)
    """Time without gaps."""
    used_time: timedelta = timedelta(0)
    """Devices in use times observed time: over `observed` it is the average use."""
    unused: tuple[Unused, ...] = ()
    """From the largest number and shortest time down to the smallest and longest; both differ from each to the next."""

    def idle_for(self, length: timedelta) -> int:
        """How many devices were unused for at least so long; 0 if none."""
        return max((one.at_least for one in self.unused if one.lasted >= length), default=0)

    def lasted(self, devices: int) -> timedelta:
        """How long at least so many were unused."""
        return max((one.lasted for one in self.unused if one.at_least >= devices), default=timedelta(0))


def use_of_loans(
    picture: ClusterPicture, loans: Sequence[Loan], records: Mapping[FieldKey, FieldRecord]
) -> Mapping[int, int]:
    """By loan id, devices in use of each loan that is in force with all of its amount.

    `loans`: all that are open on this cluster. A queue with a number that nobody has explained is left out: nobody can
    say whose a device is there.
    """
    lent: dict[tuple[str, FlavorResource], list[tuple[Loan, int]]] = {}
    unclear: set[tuple[str, FlavorResource]] = set()
    for loan in loans:
        key = borrower_field(loan)
        record, queue = records.get(key), picture.queues.get(loan.borrower)
        if record is None or queue is None:
            continue
        place = (loan.borrower, key.flavor_resource)
        lent.setdefault(place, []).append((loan, record.legs.get(loan.leg_id, 0)))
        as_written = record.uid == queue.uid and live_number(queue, key) == record.wrote
        if record.question is not None or not as_written or key.flavor_resource not in queue.quotas:
            unclear.add(place)
    used: dict[int, int] = {}
    for place, parts in lent.items():
        if place not in unclear:
            in_use = used_parts(picture.queues[place[0]], place[1], parts)
            used |= {loan.id: in_use[loan.id] for loan, part in parts if _is_whole(loan, part)}
    return used


def _is_whole(loan: Loan, part: int) -> bool:
    in_force = loan.state is LoanState.RUNNING and loan.in_force_at is not None and loan.suspended is None
    return in_force and part == loan.amount


def used_parts(queue: QueueSnapshot, entry: FlavorResource, parts: Sequence[tuple[Loan, int]]) -> Mapping[int, int]:
    """Devices in use of each loan, by loan id. `parts`: all loans of this queue, with how much is in its numbers."""
    quota = queue.quotas[entry]
    reserved = queue.reserved.get(entry, 0)
    nominal = [(loan, part) for loan, part in parts if loan.kind is not LoanKind.BORROW]
    borrowed = [(loan, part) for loan, part in parts if loan.kind is LoanKind.BORROW]
    own = quota.nominal - _sum(nominal)
    limit = (quota.borrowing_limit or 0) - _sum(borrowed)
    return {**_shared(nominal, reserved - own), **_shared(borrowed, reserved - quota.nominal - limit)}


def _sum(parts: Iterable[tuple[Loan, int]]) -> int:
    return sum(part for _, part in parts)


def _shared(parts: Sequence[tuple[Loan, int]], above: int) -> dict[int, int]:
    """Use above what there is without these loans, the one that ends first counted first."""
    left, used = max(0, above), {}
    for loan, part in sorted(parts, key=lambda one: (one[0].end, one[0].id)):
        used[loan.id] = min(left, part)
        left -= used[loan.id]
    return used


def first_seen(loan: int, amount: int, used: int, at: datetime) -> LoanUse:
    """After the first look."""
    return _at_this_look(LoanUse(loan, at, amount, 0), amount, used, at)


def seen_again(use: LoanUse, amount: int, used: int, at: datetime) -> LoanUse:
    """After one more look. One that is not later than the last says only how it is now."""
    apart = at - use.seen_at
    if timedelta(0) < apart <= MOST_APART:
        use = replace(
            use,
            observed=use.observed + apart,
            used_time=use.used_time + use.used * apart,
            unused=tuple(replace(one, lasted=one.lasted + apart) for one in use.unused),
        )
    elif apart > FORGETS_AFTER:
        use = replace(use, unused=())
    return _at_this_look(use, amount, used, max(at, use.seen_at))


def _at_this_look(use: LoanUse, amount: int, used: int, at: datetime) -> LoanUse:
    """Whatever more was unused than is now has been unused, down to what is, for as long."""
    used = min(max(0, used), amount)
    idle = amount - used
    lasted = max((one.lasted for one in use.unused if one.at_least >= idle), default=timedelta(0))
    longer = [one for one in use.unused if one.at_least < idle and one.lasted > lasted]
    steps = [*([Unused(idle, lasted)] if idle else []), *longer]
    return replace(use, amount=amount, used=used, seen_at=at, unused=tuple(steps[-MOST_STEPS:]))
