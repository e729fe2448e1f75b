"""How lendingLimit follows nominalQuota. It is no field of loans: it has no question and no order of its own.

One formula for lender and borrower: what the queue lends without loans, plus what it received by transfer (so that
loaned GPUs that idle flow back to the cohort), never more than the nominalQuota written with it (Kueue refuses that).
"""

from collections.abc import Mapping
from dataclasses import replace

from bot.core.convergence.facts import FieldName, FieldRecord
from bot.core.kueue import QueueSnapshot
from bot.core.loans import Loan, LoanKind


def lending_limit(lending_base: int | None, nominal: int, received: int) -> int | None:
    """The limit to write together with `nominal`; None leaves it unset."""
    return None if lending_base is None else min(lending_base + received, nominal)


def received_by_transfer(legs: Mapping[str, int], loans: Mapping[str, Loan]) -> int:
    """Devices in these legs that came from a lender."""
    return sum(size for leg, size in legs.items() if size > 0 and leg in loans and loans[leg].kind is LoanKind.TRANSFER)


def live_lending_limit(record: FieldRecord, queue: QueueSnapshot) -> int | None:
    """The live limit beside this field; None if unset, and for a borrowingLimit (which has none)."""
    quota = queue.quotas.get(record.key.flavor_resource)
    return quota.lending_limit if quota is not None and record.key.name is FieldName.NOMINAL else None


def adopt_live(record: FieldRecord, queue: QueueSnapshot) -> FieldRecord:
    """Take the live limit as the one without loans."""
    live = live_lending_limit(record, queue)
    return replace(record, lending_base=live, lending_wrote=live)
