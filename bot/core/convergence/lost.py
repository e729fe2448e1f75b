"""What annotations say that the database does not know: loans, and fields that only another queue's leg names.

Called by the planner for single rows that are missing, and by rebuild for a database that is lost.
"""

from collections.abc import Collection, Iterator, Mapping

from bot.core.convergence.annotation import NotedLeg
from bot.core.convergence.facts import FieldKey, FieldName, FieldRecord
from bot.core.convergence.findings import Finding, FindingKind, about_field
from bot.core.convergence.observe import Look
from bot.core.convergence.views import QueueView
from bot.core.kueue import ClusterPicture
from bot.core.loans import Loan, LoanEnd, LoanKind, LoanState
from bot.core.resource_quotas import flavor_word


def unknown_fields(
    views: Mapping[str, QueueView], records: Mapping[FieldKey, FieldRecord]
) -> Iterator[tuple[FieldKey, Mapping[str, NotedLeg]]]:
    """Fields that an annotation lists and the database does not, with their legs."""
    for view in views.values():
        if view.note is None or view.queue is None:
            continue
        for (quota, name), noted in view.note.fields.items():
            key = FieldKey(view.queue.cluster, view.name, quota.flavor, quota.resource, name)
            if key not in records:
                yield key, noted.legs


def lost_loans(unknown: Mapping[FieldKey, Mapping[str, NotedLeg]], known: Collection[str]) -> dict[str, Loan]:
    """The loans of these legs that nobody knows; SCHEDULED, so that the clock decides their state."""
    found: dict[str, Loan] = {}
    for key, legs in sorted(unknown.items(), key=lambda field: field[0].name is FieldName.HARD):
        for leg, facts in legs.items():
            if leg not in known and leg not in found:
                found[leg] = _loan(key, leg, facts)
    return found


def _loan(key: FieldKey, leg: str, facts: NotedLeg) -> Loan:
    """Of a loan that only the ResourceQuota beside its queue names, the queue holds nothing: it is being given back."""
    lender, borrower, state = None, key.queue, LoanState.SCHEDULED
    if key.name is FieldName.HARD and facts.other is not None:
        borrower, state = facts.other, LoanState.RETURNING
    elif facts.kind is LoanKind.TRANSFER and facts.other is not None:
        lender, borrower = (facts.other, key.queue) if facts.size > 0 else (key.queue, facts.other)
    return Loan(
        id=int(leg[1:]),
        cluster=key.cluster,
        kind=facts.kind,
        lender=lender,
        borrower=borrower,
        flavor=key.flavor or flavor_word(key.resource),
        resource=key.resource,
        amount=facts.amount,
        start=facts.start,
        end=facts.end,
        state=state,
        end_reason=None if state is LoanState.SCHEDULED else LoanEnd.ENDED,
    )


def half_lost(
    unknown: Mapping[FieldKey, Mapping[str, NotedLeg]], records: Mapping[FieldKey, FieldRecord]
) -> dict[FieldKey, dict[str, int]]:
    """Fields with neither record nor annotation that a leg elsewhere names: they gave nothing, or hold all."""
    lost: dict[FieldKey, dict[str, int]] = {}
    for key, legs in unknown.items():
        for leg, facts in legs.items():
            if facts.other is None or key.name is FieldName.HARD:
                continue
            other = FieldKey(key.cluster, facts.other, key.flavor, key.resource, FieldName.NOMINAL)
            if other not in records and other not in unknown:
                held = 0 if facts.size > 0 else facts.amount
                lost.setdefault(other, {})[leg] = held
    return lost


def unknown_legs(looks: Collection[Look], known: Collection[str], picture: ClusterPicture) -> list[Finding]:
    """Legs in records whose loan is not among the known ones: nobody can say what they want."""
    return [
        Finding(
            FindingKind.UNKNOWN_LOAN,
            about_field(FindingKind.UNKNOWN_LOAN, look.key, leg, size),
            look.key.queue,
            look.key,
            int(leg[1:]),
        )
        for look in looks
        if picture.find(look.key.queue) is not None
        for leg, size in look.record.legs.items()
        if leg not in known
    ]
