"""A cluster, a database and an executor small enough to explore: every message can be late, lost or doubled.

The executor is the one of the design's section 4: it reads the database, then the queues, plans, stores plan and intent
in one transaction that fails if anything changed since, and sends one patch. Nothing of it waits for an answer, so any
number of leaders and timeouts is covered by patches that are still in flight.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from bot.core.convergence import landed, planner, rebuild
from bot.core.convergence.annotation import FENCE, LOANS
from bot.core.convergence.answers import Void, apply_answer
from bot.core.convergence.changes import PatchOutcome
from bot.core.convergence.facts import Answer, AnswerKind, FieldKey, FieldName, FieldRecord, Intent
from bot.core.convergence.planner import Plan, PlanFacts
from bot.core.convergence.writes import PlannedWrite
from bot.core.kueue import ClusterPicture, FlavorResource, QueueSnapshot, Quota
from bot.core.loans import Loan, LoanKind, LoanState
from tests.support.convergence.ghost import Ghost

INSTALL, CLUSTER, GPU = "bot-1", "c", "nvidia.com/gpu"
EARLY = datetime(2026, 12, 1, 8, tzinfo=UTC)
LATE = EARLY + timedelta(days=30)
H100, A100 = FlavorResource("h100", GPU), FlavorResource("a100", GPU)


def key_of(queue: str, quota: FlavorResource = H100, name: FieldName = FieldName.NOMINAL) -> FieldKey:
    return FieldKey(CLUSTER, queue, quota.flavor, quota.resource, name)


def limit_of(queue: str, quota: FlavorResource = H100) -> FieldKey:
    return key_of(queue, quota, FieldName.BORROWING_LIMIT)


def transfer(number: int, lender: str, borrower: str, amount: int, quota: FlavorResource = H100) -> Loan:
    return Loan(number, CLUSTER, LoanKind.TRANSFER, lender, borrower, *quota, amount, EARLY, LATE)


def extra(number: int, borrower: str, amount: int, quota: FlavorResource = H100) -> Loan:
    return Loan(number, CLUSTER, LoanKind.EXTRA, None, borrower, *quota, amount, EARLY, LATE)


def borrow(number: int, borrower: str, amount: int, quota: FlavorResource = H100) -> Loan:
    return Loan(number, CLUSTER, LoanKind.BORROW, None, borrower, *quota, amount, EARLY, LATE)


def queue_of(name: str, nominal: int | Mapping[FlavorResource, Quota], cohort: str | None = "ml") -> QueueSnapshot:
    quotas = {H100: Quota(nominal)} if isinstance(nominal, int) else dict(nominal)
    return QueueSnapshot(CLUSTER, name, f"{name}.1", "1", 1, quotas, cohort)


def hard_of(quota: str) -> FieldKey:
    """The field of a ResourceQuota."""
    return FieldKey(CLUSTER, quota, "", GPU, FieldName.HARD)


def resource_quota(name: str, number: int) -> QueueSnapshot:
    """A ResourceQuota (namespace/name). It is in no cohort."""
    return QueueSnapshot(CLUSTER, name, f"{name}.1", "1", 1, {FlavorResource("", GPU): Quota(number)})


def picture_of(objects: Mapping[str, QueueSnapshot], now: datetime) -> ClusterPicture:
    """As the cluster shows them."""
    queues = {name: each for name, each in objects.items() if "/" not in name}
    quotas = {name: each for name, each in objects.items() if "/" in name}
    return ClusterPicture(CLUSTER, now, queues, resource_quotas=quotas)


def number_of(queue: QueueSnapshot | None, key: FieldKey) -> int | None:
    quota = None if queue is None else queue.quotas.get(FlavorResource(key.flavor, key.resource))
    if quota is None:
        return None
    return quota.borrowing_limit if key.name is FieldName.BORROWING_LIMIT else quota.nominal


def with_number(queue: QueueSnapshot, key: FieldKey, number: int | None) -> QueueSnapshot:
    """The queue after somebody typed a number (or took the entry, or the limit, away)."""
    quota = FlavorResource(key.flavor, key.resource)
    quotas = dict(queue.quotas)
    if number is None and key.name is not FieldName.BORROWING_LIMIT:
        quotas.pop(quota, None)
        return replace(queue, quotas=quotas)
    now = quotas.get(quota, Quota(0))
    if key.name is FieldName.BORROWING_LIMIT:
        quotas[quota] = replace(now, borrowing_limit=number)
    else:
        assert number is not None
        limit = None if now.lending_limit is None else min(now.lending_limit, number)
        quotas[quota] = replace(now, nominal=number, lending_limit=limit)
    return replace(queue, quotas=quotas)


class Broken(AssertionError):
    """A promise is broken."""


@dataclass(frozen=True, slots=True)
class Database:
    """Rows; never changed in place, so a read keeps what it saw."""

    records: Mapping[FieldKey, FieldRecord] = field(default_factory=dict)
    intents: Mapping[str, Intent] = field(default_factory=dict)
    loans: Mapping[int, Loan] = field(default_factory=dict)

    def put(self, *records: FieldRecord) -> "Database":
        rows = {r.key: replace(r, version=r.version + 1) for r in records}
        return replace(self, records={**self.records, **rows})

    def put_loans(self, *loans: Loan) -> "Database":
        rows = {loan.id: replace(loan, version=loan.version + 1) for loan in loans}
        return replace(self, loans={**self.loans, **rows})

    def close(self, *ids: str) -> "Database":
        return replace(self, intents={i: row for i, row in self.intents.items() if i not in ids})


@dataclass(frozen=True, slots=True)
class Read:
    """What one executor read: the database first, then the queues."""

    db: Database
    objects: Mapping[str, QueueSnapshot]
    outside: Mapping[str, int]
    """How often outsiders had changed each queue."""


@dataclass(frozen=True, slots=True)
class Flight:
    """A patch under way."""

    write: PlannedWrite
    intent: Intent
    outside: Mapping[str, int]
    """How often outsiders had changed each queue as it was planned."""


@dataclass(slots=True)
class World:
    """Everything there is. `copy` is cheap: all values in it are immutable."""

    objects: dict[str, QueueSnapshot]
    ghost: Ghost
    db: Database = field(default_factory=Database)
    flights: list[Flight] = field(default_factory=list)
    late: list[tuple[Intent, PatchOutcome]] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    now: datetime = EARLY
    lost: bool = False
    paused: bool = False
    """Quota changes are paused by an admin."""
    sent: int = 0
    lives: int = 1
    outside: Counter[str] = field(default_factory=Counter)
    trace: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, *queues: QueueSnapshot) -> "World":
        return cls({queue.name: queue for queue in queues}, Ghost())

    def copy(self) -> "World":
        twin = replace(self, objects=dict(self.objects), ghost=self.ghost.copy(), flights=list(self.flights))
        twin.late, twin.reads = list(self.late), list(self.reads)
        twin.refused, twin.trace, twin.outside = dict(self.refused), list(self.trace), Counter(self.outside)
        return twin

    # The executor

    def read(self) -> Read:
        """Steps 1 and 2. The two newest reads are kept: whoever acts may act on the older one."""
        seen = Read(self.db, dict(self.objects), dict(self.outside))
        self.reads = [*self.reads[-1:], seen]
        return seen

    def plan_of(self, seen: Read) -> Plan:
        """Step 3."""
        unwritable = {
            name: "refused"
            for name, version in self.refused.items()
            if name in seen.objects and seen.objects[name].resource_version == version
        }
        return planner.plan(
            PlanFacts(
                INSTALL,
                1,
                self.now,
                picture_of(seen.objects, self.now),
                seen.db.records,
                tuple(seen.db.intents.values()),
                tuple(loan for loan in seen.db.loans.values() if loan.state is not LoanState.CLOSED),
                unwritable,
                self.paused,
                self.ghost.beside,
            )
        )

    def unchanged(self, seen: Read) -> bool:
        """What the transaction of step 4 compares."""
        return self.db is seen.db or self.db == seen.db

    def commit(self, seen: Read, plan: Plan, write: PlannedWrite | None) -> Flight | None:
        """Steps 4 and 5: store, and send one of the writes. None if there is none, or the transaction failed."""
        if not self.unchanged(seen):
            return None
        self._check_questions(plan)
        self.db = self.db.put(*plan.records).put_loans(*plan.loans, *plan.found_loans).close(*plan.closed_intents)
        legless = {key for key, record in self.db.records.items() if not record.legs}
        parts = [part for intent in seen.db.intents.values() for part in intent.fields]
        closing = {(part.key, part.wrote) for part in parts if not part.legs}
        self.ghost.seen(seen.objects, self.wanted(self.db), legless, closing)
        if write is None:
            return None
        self.sent += 1
        flight = Flight(write, write.intent(f"i{self.sent}", 1, self.now), seen.outside)
        if flight.intent.fields:
            self.db = replace(self.db, intents={**self.db.intents, flight.intent.id: flight.intent})
        self.flights.append(flight)
        return flight

    def _check_questions(self, plan: Plan) -> None:
        """People are not asked about what nobody but the bot has touched."""
        for record in plan.records:
            if record.question is not None and not self.outside[record.key.queue]:
                raise Broken(f"asks about {record.key}, which no outsider has touched")

    def wanted(self, db: Database) -> Mapping[str, int]:
        """What people have agreed on, from the loans alone."""
        return {
            loan.leg_id: loan.amount
            for loan in db.loans.values()
            if loan.state in (LoanState.SCHEDULED, LoanState.RUNNING) and loan.suspended is None and self.now < loan.end
        }

    def land(self, flight: Flight, answer: str = "now") -> PatchOutcome:
        """The patch arrives. Its answer arrives `now`, `late` or is `lost`."""
        self.flights.remove(flight)
        outcome = self._apply(flight)
        if answer == "now":
            self.answered(flight.intent, outcome)
        elif answer == "late":
            self.late.append((flight.intent, outcome))
        return outcome

    def drop(self, flight: Flight, outcome: PatchOutcome | None = None) -> None:
        """The patch never arrives. With an outcome its sender knows so."""
        self.flights.remove(flight)
        if outcome is None:
            return
        if outcome in (PatchOutcome.REFUSED, PatchOutcome.FORBIDDEN):
            self.refused[flight.intent.queue] = flight.intent.resource_version
            self.ghost.disturbed.add(flight.intent.queue)
        self.answered(flight.intent, outcome)

    def answered(self, intent: Intent, outcome: PatchOutcome) -> None:
        """Step 6."""
        if self.lost:
            return
        settled = landed.settle(intent, outcome, self.db.records, self.db.intents.values())
        self.db = self.db.put(*settled.records).close(*settled.twins)
        if settled.close:
            self.db = self.db.close(intent.id)

    def crash(self) -> None:
        """The process is killed: it forgets what it read and what it waits for. Patches fly on."""
        self.reads, self.late = [], []
        self.refused = {}

    def _apply(self, flight: Flight) -> PatchOutcome:
        change, now = flight.write.change, self.objects.get(flight.intent.queue)
        planned_on = change.queue
        if now is None or (now.uid, now.resource_version) != (planned_on.uid, planned_on.resource_version):
            return PatchOutcome.CONFLICT
        after = now
        for key, number in change.numbers.items():
            after = with_number(after, key, number)
        quotas = dict(after.quotas)
        for quota, limit in change.lending_limits.items():
            quotas[quota] = replace(quotas[quota], lending_limit=limit)
        texts = {**now.annotations, **change.annotations}
        kept = {name: text for name, text in texts.items() if text is not None}
        after = replace(after, quotas=quotas, annotations=kept)
        self._check_valid(change.numbers, after, now)
        others = {name for name in self.outside if self.outside[name] != flight.outside.get(name)} - {after.name}
        self.ghost.disturbed.update(name for name, times in self.outside.items() if times)
        self.ghost.bot_wrote(self.objects, flight.write.fields, after, overtaken=bool(others))
        self._store(after, spec=after.quotas != now.quotas)
        return PatchOutcome.APPLIED

    @staticmethod
    def _check_valid(numbers: Mapping[FieldKey, int | None], after: QueueSnapshot, now: QueueSnapshot) -> None:
        for quota in after.quotas.values():
            limits = [quota.nominal, *(n for n in (quota.borrowing_limit, quota.lending_limit) if n is not None)]
            if min(limits) < 0:
                raise Broken(f"wrote a number below 0 to {now.name}")
            if quota.lending_limit is not None and quota.lending_limit > quota.nominal:
                raise Broken(f"wrote lendingLimit above nominalQuota to {now.name}")
        if (after.quotas, after.annotations) == (now.quotas, now.annotations):
            raise Broken(f"sent a patch that changes nothing to {now.name}")
        for key, number in numbers.items():
            if number_of(now, key) is None or number is None:
                raise Broken(f"wrote {key} that is not there")

    def _store(self, queue: QueueSnapshot, *, spec: bool) -> None:
        version = str(int(queue.resource_version) + 1)
        generation = queue.generation + (1 if spec else 0)
        self.objects[queue.name] = replace(queue, resource_version=version, generation=generation)

    # The others

    def edit(self, key: FieldKey, number: int | None, *, strip: bool = False) -> None:
        """Somebody types a number; tools that own the whole object take the annotation off with it."""
        queue = self.objects[key.queue]
        after = with_number(queue, key, number)
        if strip:
            after = replace(after, annotations={})
        if after != queue:
            self.outside[key.queue] += 1
            self._store(after, spec=after.quotas != queue.quotas)

    def set_lending_limit(self, name: str, limit: int | None, quota: FlavorResource = H100) -> None:
        self.outside[name] += 1
        queue = self.objects[name]
        quotas = {**queue.quotas, quota: replace(queue.quotas[quota], lending_limit=limit)}
        self._store(replace(queue, quotas=quotas), spec=True)

    def strip(self, name: str) -> None:
        self.outside[name] += 1
        self._store(replace(self.objects[name], annotations={}), spec=False)

    def touch(self, name: str, *, spec: bool = False) -> None:
        """Another part of the object changes: its status, or its spec."""
        self.outside[name] += 1 if spec else 0
        self._store(self.objects[name], spec=spec)

    def delete(self, name: str) -> QueueSnapshot:
        self.outside[name] += 1
        return self.objects.pop(name)

    def create(self, queue: QueueSnapshot) -> None:
        """Create, or create again, under a new uid."""
        self.lives += 1
        self.outside[queue.name] += 1
        self.objects[queue.name] = replace(
            queue, uid=f"{queue.name}.{self.lives}", resource_version=f"{self.lives}000", generation=1
        )

    def move(self, name: str, cohort: str | None) -> None:
        self.outside[name] += 1
        self._store(replace(self.objects[name], cohort=cohort), spec=True)

    # People

    def approve(self, loan: Loan) -> None:
        self.ghost.loans[loan.leg_id] = loan
        self.db = self.db.put_loans(loan)

    def give_back(self, number: int) -> None:
        loan = self.db.loans[number]
        if loan.state in (LoanState.SCHEDULED, LoanState.RUNNING):
            self.db = self.db.put_loans(replace(loan, state=LoanState.RETURNING))

    def resume(self, number: int) -> None:
        self.db = self.db.put_loans(replace(self.db.loans[number], suspended=None))

    def questions(self) -> list[FieldRecord]:
        return [record for record in self.db.records.values() if record.question is not None]

    def answer(self, record: FieldRecord, kind: AnswerKind) -> bool:
        """Press a button of the message about this record, which may be out of date; whether it counted."""
        asked, now = record.question, self.db.records.get(record.key)
        assert asked is not None
        if now is None:
            return False
        given = Answer(record.key, asked.uid, asked.live, record.version, kind, "U1", self.now)
        queue = self.objects.get(record.key.queue)
        quota = None if queue is None else queue.quotas.get(record.key.flavor_resource)
        limit = quota.lending_limit if quota and record.key.name is FieldName.NOMINAL else None
        after = apply_answer(now, given, limit)
        if isinstance(after, Void):
            return False
        self.db = self.db.put(after)
        self.outside[record.key.queue] += 1
        self.ghost.answered(after)
        return True

    # The database is lost

    def lose_database(self) -> None:
        self.crash()
        self.db, self.lost = Database(), True

    def rebuild(self) -> None:
        """Fence every queue, read them, store what the annotations know."""
        for name, queue in list(self.objects.items()):
            self._store(replace(queue, annotations={**queue.annotations, FENCE: f"1.{self.sent}"}), spec=False)
            self.sent += 1
            assert self.objects[name].annotations[FENCE]
        known = rebuild.rebuild(picture_of(self.objects, self.now), INSTALL, 1, self.now)
        self.outside.update(self.objects.keys())
        self.db = Database().put(*known.records).put_loans(*known.loans)
        self.ghost.forget(self.objects)
        self.lost = False

    def has_note(self, name: str) -> bool:
        return name in self.objects and LOANS in self.objects[name].annotations
