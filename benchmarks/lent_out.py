"""A cluster of many queues with many loans in force, and the database that knows of them. Used by benchmarks/converge.

The numbers, the annotations and the records are made as the bot's own writes would have left them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from bot.core.convergence import annotation as notes
from bot.core.convergence.annotation import Annotation, NotedField, NotedLeg
from bot.core.convergence.facts import FieldKey, FieldName, FieldRecord
from bot.core.convergence.legs import borrower_field, lender_field
from bot.core.kueue import FlavorResource
from bot.core.loans import Loan, LoanKind, LoanState
from bot.core.notices import NoticeDraft
from bot.core.requests import Ask, QuotaRequest, RequestState
from bot.demo.kube.sim import KubeSim
from bot.flows.cards import card_prefix
from bot.ports.store import Store
from bot.views.kinds import NoticeKind

CLUSTER, FLAVOR, GPU = "default", "a100", "nvidia.com/gpu"
ENTRY = FlavorResource(FLAVOR, GPU)
COHORT_OF = 20
"""Queues in one cohort."""
BASES = {FieldName.NOMINAL: 64, FieldName.BORROWING_LIMIT: 16}
LENGTH = timedelta(days=7)
REQUESTER = "U0REQUESTER"


def queue_name(number: int) -> str:
    """As teams call theirs."""
    return f"team-{number:03d}"


def make_loans(queues: int, loans: int, start: datetime) -> list[Loan]:
    """Half of them borrow, half are transfers from the next queue of the cohort."""
    return [_loan(number, queues, start) for number in range(1, loans + 1)]


def _loan(number: int, queues: int, start: datetime) -> Loan:
    borrower = number % queues
    lender = borrower - borrower % COHORT_OF + (borrower + 1) % COHORT_OF
    transfers = number // queues % 2 == 1 and lender < queues
    return Loan(
        id=number,
        cluster=CLUSTER,
        kind=LoanKind.TRANSFER if transfers else LoanKind.BORROW,
        lender=queue_name(lender) if transfers else None,
        borrower=queue_name(borrower),
        flavor=FLAVOR,
        resource=GPU,
        amount=1 + number % 4,
        start=start,
        end=start + LENGTH,
        state=LoanState.RUNNING,
    )


def furnish_cluster(sim: KubeSim, queues: int, loans: Iterable[Loan], install: str) -> list[FieldRecord]:
    """Create the queues with the loans in their numbers; the records of the fields that have any."""
    legs: dict[FieldKey, dict[str, Loan]] = defaultdict(dict)
    for loan in loans:
        for key in (lender_field(loan), borrower_field(loan)):
            if key is not None:
                legs[key][loan.leg_id] = loan
    records: list[FieldRecord] = []
    for number in range(queues):
        keys = [FieldKey(CLUSTER, queue_name(number), *ENTRY, name) for name in FieldName]
        records += _furnish_queue(sim, number, {key: legs[key] for key in keys if key in legs}, install)
    sim.reconcile()
    return records


def _furnish_queue(
    sim: KubeSim, number: int, legs: Mapping[FieldKey, Mapping[str, Loan]], install: str
) -> Iterator[FieldRecord]:
    name = queue_name(number)
    sizes = {key: {leg: _size(key, loan) for leg, loan in held.items()} for key, held in legs.items()}
    wrote = {key.name: BASES[key.name] + sum(of_field.values()) for key, of_field in sizes.items()}
    created = sim.add_cluster_queue(
        name,
        {
            FLAVOR: {
                "nominal": wrote.get(FieldName.NOMINAL, BASES[FieldName.NOMINAL]),
                "borrowing": wrote.get(FieldName.BORROWING_LIMIT, BASES[FieldName.BORROWING_LIMIT]),
            }
        },
        cohort=f"pool-{number // COHORT_OF}",
        preemption={"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
    )
    if not legs:
        return
    uid: str = created["metadata"]["uid"]
    fields = {}
    for key, held in legs.items():
        noted = {leg: _noted(key, loan, sizes[key][leg]) for leg, loan in held.items()}
        fields[ENTRY, key.name] = NotedField(1, BASES[key.name], wrote[key.name], None, noted)
        yield FieldRecord(key, uid, 1, BASES[key.name], sizes[key], wrote[key.name])
    sim.annotate(name, manager=install, **{notes.LOANS: notes.encode(Annotation(install, uid, 1, fields))})


def _size(key: FieldKey, loan: Loan) -> int:
    return loan.amount if key == borrower_field(loan) else -loan.amount


def _noted(key: FieldKey, loan: Loan, size: int) -> NotedLeg:
    other = loan.lender if key.queue == loan.borrower else loan.borrower
    return NotedLeg(size, loan.kind, other, loan.amount, loan.start, loan.end)


def furnish_database(store: Store, loans: Iterable[Loan], records: Iterable[FieldRecord]) -> None:
    """Requests, their loans and cards, and the records."""
    with store.begin() as uow:
        for loan in loans:
            request = uow.requests.add(_request(loan))
            if request.id != loan.id:
                raise ValueError(f"the database was not empty: request {request.id} for loan {loan.id}")
            uow.loans.add(replace(loan, in_force_at=loan.start))
            facts: dict[str, Any] = {"request": loan.id}
            key = f"{card_prefix(loan.id)}{REQUESTER}"
            uow.notices.owe_once(NoticeDraft(key, NoticeKind.REQUEST_CARD, REQUESTER, facts), loan.start)
        for record in records:
            uow.fields.put(record)
        uow.commit()


def _request(loan: Loan) -> QuotaRequest:
    ask = Ask(
        cluster=CLUSTER,
        team=loan.borrower,
        queue=loan.borrower,
        flavor=FLAVOR,
        resource=GPU,
        amount=loan.amount,
        kind=loan.kind,
        lender=loan.lender,
        start=None,
        duration=LENGTH,
        until=None,
        reason="a deadline",
        requester=REQUESTER,
    )
    lapses = loan.start + timedelta(days=3)
    return QuotaRequest(0, ask, RequestState.APPROVED, loan.start, lapses, f"command:{loan.id}", decided_at=loan.start)
