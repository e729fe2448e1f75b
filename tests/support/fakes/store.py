"""The database in memory: real transactions over frozen values, no SQL. Stands in for adapters/db in tests.

A transaction works on a copy and swaps it in at commit. It never waits: a transaction that is begun inside another one
of the same thread would hang forever on SQLite, so here it fails the test. `tests/support/fakes` is held to the real
store by tests/histories/test_fake_store.py.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from bot.core.audit import AuditQuery
from bot.core.convergence.facts import FieldKey, FieldRecord, Intent
from bot.core.convergence.proposals import Proposal
from bot.core.errors import Stale
from bot.core.evictions import Eviction, EvictionState
from bot.core.idle_loans import IdleOffer
from bot.core.loan_use import LoanUse
from bot.core.loans import Loan, LoanState
from bot.core.lost_names import LostName
from bot.core.offers import Offer, OfferState
from bot.core.pause import Pause
from bot.core.requests import Approval, AuditEntry, QuotaRequest, RequestState, ways_into
from tests.support.fakes.clock import Ids
from tests.support.fakes.gate import Gate
from tests.support.fakes.home_tabs import FakeHomeTabs, HomeTab
from tests.support.fakes.idle import FakeIdleOffers, FakeLoanUses
from tests.support.fakes.inbox import FakeInbox, StoredItem
from tests.support.fakes.incidents import FakeIncidents, FakeMemory, FakeStorms, Incident, Remembered, Storm
from tests.support.fakes.leadership import DatabaseClock, FakeLeadership, LeaderRow
from tests.support.fakes.lost_names import FakeLostNames
from tests.support.fakes.outbox import FakeNotices, StoredNotice
from tests.support.fakes.positions import FakePositions, Position
from tests.support.fakes.proposals import FakeProposals
from tests.support.fakes.unanswered import AskBack, Escalation, FakeAskBacks, FakeEscalations


@dataclass(slots=True)
class Tables:
    """All rows. The values are frozen, so a copy of the containers is a copy of everything."""

    requests: dict[int, QuotaRequest] = field(default_factory=dict)
    approvals: tuple[Approval, ...] = ()
    offers: dict[int, Offer] = field(default_factory=dict)
    loans: dict[int, Loan] = field(default_factory=dict)
    records: dict[FieldKey, FieldRecord] = field(default_factory=dict)
    intents: dict[str, tuple[Intent, str | None]] = field(default_factory=dict)
    """With the outcome, None while it is open."""
    inbox: dict[str, StoredItem] = field(default_factory=dict)
    notices: dict[str, StoredNotice] = field(default_factory=dict)
    """By key."""
    audit: tuple[AuditEntry, ...] = ()
    leader: LeaderRow = field(default_factory=LeaderRow)
    pause: Pause | None = None
    uses: dict[int, LoanUse] = field(default_factory=dict)
    idle_offers: dict[int, IdleOffer] = field(default_factory=dict)
    evictions: dict[int, Eviction] = field(default_factory=dict)
    ask_backs: dict[int, AskBack] = field(default_factory=dict)
    escalations: tuple[Escalation, ...] = ()
    home_tabs: dict[str, HomeTab] = field(default_factory=dict)
    proposals: dict[str, Proposal] = field(default_factory=dict)
    remembered: dict[tuple[str, str, str], Remembered] = field(default_factory=dict)
    incidents: dict[int, Incident] = field(default_factory=dict)
    storms: dict[int, Storm] = field(default_factory=dict)
    positions: dict[tuple[str, str], Position] = field(default_factory=dict)
    lost_names: dict[int, LostName] = field(default_factory=dict)

    def copy(self) -> "Tables":
        """Changes of the copy do not show in this one."""
        return Tables(
            requests=dict(self.requests),
            approvals=self.approvals,
            offers=dict(self.offers),
            loans=dict(self.loans),
            records=dict(self.records),
            intents=dict(self.intents),
            inbox=dict(self.inbox),
            notices=dict(self.notices),
            audit=self.audit,
            leader=self.leader.copy(),
            pause=self.pause,
            uses=dict(self.uses),
            idle_offers=dict(self.idle_offers),
            evictions=dict(self.evictions),
            ask_backs=dict(self.ask_backs),
            escalations=self.escalations,
            home_tabs=dict(self.home_tabs),
            proposals=dict(self.proposals),
            remembered=dict(self.remembered),
            incidents=dict(self.incidents),
            storms=dict(self.storms),
            positions=dict(self.positions),
            lost_names=dict(self.lost_names),
        )


class FakeRequests:
    """Implements ports.store.Requests."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, draft: QuotaRequest) -> QuotaRequest:
        if self.by_origin(draft.origin) is not None:
            raise Stale(f"a request from {draft.origin} is there already")
        number = 1 + max(self._tables.requests, default=0)
        stored = replace(draft, id=number, version=1)
        self._tables.requests[number] = stored
        return stored

    def get(self, number: int) -> QuotaRequest | None:
        return self._tables.requests.get(number)

    def by_origin(self, origin: str) -> QuotaRequest | None:
        return next((one for one in self._tables.requests.values() if one.origin == origin), None)

    def find(
        self,
        *,
        states: Collection[RequestState] | None = None,
        teams: Collection[str] | None = None,
        requester: str | None = None,
        extends: int | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> Sequence[QuotaRequest]:
        found = [
            one
            for one in self._tables.requests.values()
            if (states is None or one.state in states)
            and (teams is None or one.ask.team in teams)
            and (requester is None or one.ask.requester == requester)
            and (extends is None or one.extends == extends)
            and one.series is None
            and (since is None or one.created_at >= since)
        ]
        found.sort(key=lambda one: (one.created_at, one.id), reverse=True)
        return found[:limit]

    def find_open(
        self, *, teams: Collection[str] | None = None, requester: str | None = None
    ) -> Sequence[QuotaRequest]:
        found = self.find(teams=teams, requester=requester)
        return [one for one in found if one.state is RequestState.WAITING or self._on_loan(one)]

    def _on_loan(self, request: QuotaRequest) -> bool:
        numbers = [request.id, *(one.id for one in self.times_of(request.id))]
        loans = [loan for number in numbers if (loan := self._tables.loans.get(number)) is not None]
        return any(loan.state is not LoanState.CLOSED for loan in loans)

    def teams(self) -> frozenset[str]:
        return frozenset(one.ask.team for one in self._tables.requests.values())

    def times_of(self, series: int) -> Sequence[QuotaRequest]:
        return [one for _, one in sorted(self._tables.requests.items()) if one.series == series]

    def update(self, request: QuotaRequest) -> QuotaRequest:
        known = self._tables.requests.get(request.id)
        if known is None or known.version != request.version or known.state not in ways_into(request.state):
            raise Stale(f"request {request.id}")
        stored = replace(request, version=request.version + 1)
        self._tables.requests[request.id] = stored
        return stored

    def approvals(self, number: int) -> Sequence[Approval]:
        known = self._tables.requests.get(number)
        given = [one for one in self._tables.approvals if one.request == number]
        return [one for one in given if known is not None and one.terms == known.terms]

    def approve(self, approval: Approval) -> None:
        same = (approval.request, approval.who, approval.terms)
        if any((one.request, one.who, one.terms) == same for one in self._tables.approvals):
            raise Stale(f"the approval of request {approval.request} by {approval.who} is there already")
        self._tables.approvals += (approval,)


class FakeOffers:
    """Implements ports.store.Offers."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, draft: Offer) -> Offer:
        if any(one.state is draft.state is OfferState.OPEN for one in self.of(draft.request)):
            raise Stale(f"an open offer of Q-{draft.request} is there already")
        stored = replace(draft, id=1 + max(self._tables.offers, default=0), version=1)
        self._tables.offers[stored.id] = stored
        return stored

    def get(self, offer_id: int) -> Offer | None:
        return self._tables.offers.get(offer_id)

    def of(self, number: int) -> Sequence[Offer]:
        return [one for _, one in sorted(self._tables.offers.items()) if one.request == number]

    def update(self, offer: Offer) -> Offer:
        known = self._tables.offers.get(offer.id)
        if known is None or known.version != offer.version or known.state is not OfferState.OPEN:
            raise Stale(f"offer {offer.id}")
        stored = replace(offer, version=offer.version + 1)
        self._tables.offers[offer.id] = stored
        return stored


class FakeLoans:
    """Implements ports.store.Loans."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, loan: Loan) -> Loan:
        if loan.id in self._tables.loans:
            raise Stale(f"loan {loan.id} is there already")
        stored = replace(loan, version=1)
        self._tables.loans[loan.id] = stored
        return stored

    def get(self, number: int) -> Loan | None:
        return self._tables.loans.get(number)

    def find(
        self,
        *,
        states: Collection[LoanState] | None = None,
        queues: Collection[str] | None = None,
        since: datetime | None = None,
    ) -> Sequence[Loan]:
        return [
            loan
            for _, loan in sorted(self._tables.loans.items())
            if (states is None or loan.state in states)
            and (queues is None or loan.lender in queues or loan.borrower in queues)
            and (since is None or loan.start >= since)
        ]

    def update(self, loan: Loan) -> Loan:
        known = self._tables.loans.get(loan.id)
        if known is None or known.version != loan.version:
            raise Stale(f"loan {loan.id}")
        stored = replace(loan, version=loan.version + 1)
        self._tables.loans[loan.id] = stored
        return stored


class FakeFields:
    """Implements ports.store.Fields."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def records(self, cluster: str) -> Mapping[FieldKey, FieldRecord]:
        return {key: record for key, record in sorted(self._tables.records.items()) if key.cluster == cluster}

    def put(self, record: FieldRecord) -> FieldRecord:
        known = self._tables.records.get(record.key)
        if (0 if known is None else known.version) != record.version:
            raise Stale(f"the record of {'/'.join(record.key)}")
        stored = replace(record, legs=dict(record.legs), version=record.version + 1)
        self._tables.records[record.key] = stored
        return stored

    def open_intents(self, cluster: str) -> Sequence[Intent]:
        still_open = [one for one, outcome in self._tables.intents.values() if outcome is None]
        return sorted((one for one in still_open if one.cluster == cluster), key=lambda one: (one.created_at, one.id))

    def add_intent(self, intent: Intent) -> None:
        if intent.id in self._tables.intents:
            raise Stale(f"intent {intent.id} is there already")
        self._tables.intents[intent.id] = (intent, None)

    def close_intent(self, intent_id: str, outcome: str, at: datetime) -> None:
        known = self._tables.intents.get(intent_id)
        if known is not None and known[1] is None:
            self._tables.intents[intent_id] = (known[0], outcome)


class FakeAudit:
    """Implements ports.store.Audit."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, entry: AuditEntry) -> None:
        self._tables.audit += (entry,)

    def of(self, subject: str) -> Sequence[AuditEntry]:
        return [one for one in self._tables.audit if one.subject == subject]

    def find(self, query: AuditQuery, limit: int | None = None) -> Sequence[AuditEntry]:
        requests = self._tables.requests.values()
        theirs = {f"Q-{one.id}" for one in requests if one.ask.team == query.team}
        found = [
            one
            for one in reversed(self._tables.audit)
            if query.subject in (None, one.subject)
            and query.who in (None, one.who)
            and (query.team is None or one.subject in theirs or one.subject.startswith(query.fields))
            and (query.since is None or one.at >= query.since)
        ]
        return found[:limit]


class FakePauses:
    """Implements ports.store.Pauses."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def get(self) -> Pause | None:
        return self._tables.pause

    def begin(self, pause: Pause) -> bool:
        if self._tables.pause is not None:
            return False
        self._tables.pause = pause
        return True

    def end(self) -> Pause | None:
        before, self._tables.pause = self._tables.pause, None
        return before


class FakeEvictions:
    """Implements ports.store.Evictions."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, draft: Eviction) -> bool:
        if draft.loan in self._tables.evictions:
            return False
        self._tables.evictions[draft.loan] = replace(draft, version=1)
        return True

    def get(self, loan: int) -> Eviction | None:
        return self._tables.evictions.get(loan)

    def open(self) -> Sequence[Eviction]:
        return [one for _, one in sorted(self._tables.evictions.items()) if one.state is not EvictionState.CLOSED]

    def update(self, eviction: Eviction) -> Eviction:
        known = self._tables.evictions.get(eviction.loan)
        if known is None or known.version != eviction.version:
            raise Stale(f"the eviction of loan {eviction.loan}")
        stored = replace(eviction, version=eviction.version + 1)
        self._tables.evictions[eviction.loan] = stored
        return stored


_ROLES: dict[str, Callable[["FakeUnitOfWork"], Any]] = {
    "requests": lambda uow: FakeRequests(uow._tables),
    "offers": lambda uow: FakeOffers(uow._tables),
    "loans": lambda uow: FakeLoans(uow._tables),
    "fields": lambda uow: FakeFields(uow._tables),
    "inbox": lambda uow: FakeInbox(uow._tables.inbox, uow._clock),
    "audit": lambda uow: FakeAudit(uow._tables),
    "pauses": lambda uow: FakePauses(uow._tables),
    "uses": lambda uow: FakeLoanUses(uow._tables),
    "idle_offers": lambda uow: FakeIdleOffers(uow._tables),
    "evictions": lambda uow: FakeEvictions(uow._tables),
    "ask_backs": lambda uow: FakeAskBacks(uow._tables),
    "escalations": lambda uow: FakeEscalations(uow._tables),
    "home_tabs": lambda uow: FakeHomeTabs(uow._tables),
    "proposals": lambda uow: FakeProposals(uow._tables.proposals),
    "memory": lambda uow: FakeMemory(uow._tables),
    "incidents": lambda uow: FakeIncidents(uow._tables),
    "storms": lambda uow: FakeStorms(uow._tables),
    "positions": lambda uow: FakePositions(uow._tables.positions),
    "lost_names": lambda uow: FakeLostNames(uow._tables.lost_names),
    "leadership": lambda uow: FakeLeadership(uow._tables.leader, uow._clock),
    "notices": lambda uow: FakeNotices(uow._tables.notices, uow._ids, uow.leadership.check),
}


class FakeUnitOfWork:
    """One transaction; nothing can be done with it after `commit`. A role is made when it is first asked for: most
    transactions need two of them."""

    def __init__(
        self, tables: Tables, clock: DatabaseClock, ids: Callable[[], str], commit: Callable[[], None]
    ) -> None:
        self._tables = tables
        self._clock = clock
        self._ids = ids
        self._commit = commit

    def __getattr__(self, role: str) -> Any:
        if role not in _ROLES:
            raise AttributeError(role)
        made = self.__dict__[role] = _ROLES[role](self)
        return made

    def alone(self, what: str) -> None:
        """Nobody else is ever in a transaction at the same time here."""

    def commit(self) -> None:
        self._commit()


class FakeStore:
    """The shared database. Each process has its own `Session` on it."""

    def __init__(self, clock: DatabaseClock) -> None:
        self.clock = clock
        self.tables = Tables()
        self.ids = Ids("N")
        self.on_commit: Callable[[Tables, Tables], None] = lambda _before, _after: None
        """Hears of every commit: the rows before and after it."""
        self.busy = False
        """Whether a transaction that may write is open."""

    def session(self, gate: Gate | None = None) -> "Session":
        """The store as one process has it."""
        return Session(self, gate or Gate())


class Session:
    """Implements ports.store.Store for one process."""

    def __init__(self, shared: FakeStore, gate: Gate) -> None:
        self._shared = shared
        self._gate = gate

    @contextmanager
    def begin(self) -> Iterator[FakeUnitOfWork]:
        self._gate.passes("store.begin")
        with self._turn():
            yield self._unit(self._shared.tables.copy(), writes=True)

    @contextmanager
    def read(self) -> Iterator[FakeUnitOfWork]:
        self._gate.passes("store.read")
        with self._turn():
            yield self._unit(self._shared.tables.copy(), writes=False)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        assert not self._shared.busy, "a transaction inside another one: it would wait for itself for ever"
        self._shared.busy = True
        try:
            yield
        finally:
            self._shared.busy = False

    def _unit(self, mine: Tables, *, writes: bool) -> FakeUnitOfWork:
        shared = self._shared

        def commit() -> None:
            assert writes, "a read has nothing to commit"
            self._gate.passes("store.commit")
            before, shared.tables = shared.tables, mine
            shared.on_commit(before, mine)
            shared.busy = False  # what comes between here and the end of the block is somebody else's turn already
            self._gate.passes("store.committed")

        return FakeUnitOfWork(mine, shared.clock, shared.ids, commit)
