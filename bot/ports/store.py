"""The database: one unit of work with a repository per kind of thing. Implemented by adapters/db."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, Protocol

from bot.core.audit import AuditQuery
from bot.core.convergence.facts import FieldKey, FieldRecord, Intent
from bot.core.inbox import InboxItem
from bot.core.loans import Loan, LoanState
from bot.core.notices import Notice, NoticeDraft
from bot.core.offers import Offer
from bot.core.pause import Pause
from bot.core.requests import Approval, AuditEntry, QuotaRequest, RequestState
from bot.ports.evictions import Evictions
from bot.ports.home_tabs import HomeTabs
from bot.ports.idle_store import IdleOffers, LoanUses
from bot.ports.incidents import Incidents, Memory, Storms
from bot.ports.leadership import Leadership
from bot.ports.lost_names import LostNames
from bot.ports.proposals import Proposals
from bot.ports.unanswered import AskBacks, Escalations
from bot.ports.watching import Positions


class Requests(Protocol):
    """Requests, the approvals they have, and who did what."""

    def add(self, draft: QuotaRequest) -> QuotaRequest:
        """Store a new request; the number is assigned (`draft.id` is ignored). Stale if its origin is there already."""
        ...

    def get(self, number: int) -> QuotaRequest | None: ...

    def by_origin(self, origin: str) -> QuotaRequest | None: ...

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
        """Newest first; every given condition holds. `extends` is a loan, `since` about created_at.
        Without those that stand for one time of a series."""
        ...

    def find_open(
        self, *, teams: Collection[str] | None = None, requester: str | None = None
    ) -> Sequence[QuotaRequest]:
        """Those that wait, or whose loan (of a series any of its times) is not over; otherwise as `find`."""
        ...

    def times_of(self, series: int) -> Sequence[QuotaRequest]:
        """The requests that stand for the times of a series, in order."""
        ...

    def teams(self) -> frozenset[str]:
        """Every team that ever asked, by its name then."""
        ...

    def update(self, request: QuotaRequest) -> QuotaRequest:
        """Compare-and-set on `request.version`; returns it with the new version. Raises Stale, also where the stored
        state does not lead to the new one."""
        ...

    def approvals(self, number: int) -> Sequence[Approval]:
        """Of the terms that the request has now, in the order given."""
        ...

    def approve(self, approval: Approval) -> None:
        """Raises Stale if this person approved these terms of this request before."""
        ...


class Offers(Protocol):
    """Counter-offers, never deleted."""

    def add(self, draft: Offer) -> Offer:
        """Store an open offer; its id is assigned (`draft.id` is ignored). Stale if the request has an open one."""
        ...

    def get(self, offer_id: int) -> Offer | None: ...

    def of(self, number: int) -> Sequence[Offer]:
        """All of a request, in order."""
        ...

    def update(self, offer: Offer) -> Offer:
        """Settle an open one, by compare-and-set on `offer.version`. Raises Stale, also for one that is settled."""
        ...


class Loans(Protocol):
    """Loans, never deleted."""

    def add(self, loan: Loan) -> Loan: ...

    def get(self, number: int) -> Loan | None: ...

    def find(
        self,
        *,
        states: Collection[LoanState] | None = None,
        queues: Collection[str] | None = None,
        since: datetime | None = None,
    ) -> Sequence[Loan]:
        """Oldest first. `queues`: lender or borrower is one of them; `since`: about start."""
        ...

    def update(self, loan: Loan) -> Loan:
        """Compare-and-set on `loan.version`; returns it with the new version. Raises Stale."""
        ...


class Fields(Protocol):
    """Records and intents of convergence."""

    def records(self, cluster: str) -> Mapping[FieldKey, FieldRecord]: ...

    def put(self, record: FieldRecord) -> FieldRecord:
        """Insert (version 0) or compare-and-set on `record.version`; returns it with the new version. Raises Stale."""
        ...

    def open_intents(self, cluster: str) -> Sequence[Intent]: ...

    def add_intent(self, intent: Intent) -> None: ...

    def close_intent(self, intent_id: str, outcome: str, at: datetime) -> None:
        """Harmless when it is closed already."""
        ...


class Inbox(Protocol):
    """Arrivals that were acknowledged."""

    def put(self, items: Sequence[InboxItem]) -> frozenset[str]:
        """Store all of them in one statement; the keys that were new (a redelivery is in none)."""
        ...

    def take(self, worker: str, limit: int, retry_after: timedelta) -> Sequence[InboxItem]:
        """Claim waiting items, oldest first, and those whose claim is older than `retry_after` by the database's clock.
        Each is given to one worker only, over all replicas."""
        ...

    def claim(self, key: str, worker: str) -> bool:
        """Claim one item that was just stored; False if somebody else has it."""
        ...

    def done(self, key: str) -> None:
        """Handled: nobody takes it again. Part of the transaction that did the work."""
        ...

    def failed(self, key: str, why: str) -> None:
        """Given up after its last attempt; kept for people to look at."""
        ...


class Notices(Protocol):
    """The outbox."""

    def owe(self, draft: NoticeDraft, at: datetime, not_before: datetime | None = None) -> None:
        """Owe a message. For a key that exists: replace its facts and raise `wanted`."""
        ...

    def owe_once(self, draft: NoticeDraft, at: datetime, not_before: datetime | None = None) -> bool:
        """Owe a message unless its key exists already; whether it was new."""
        ...

    def refresh(self, key_prefix: str, at: datetime, facts: Mapping[str, Any] | None = None) -> int:
        """Raise `wanted` of all notices whose key starts so (every copy of a card), new facts merged in; how many."""
        ...

    def get(self, key: str) -> Notice | None: ...

    def by_id(self, notice_id: str) -> Notice | None: ...

    def latest(self, key_prefix: str) -> Notice | None:
        """The newest notice whose key starts so."""
        ...

    def waiting(self, now: datetime, epoch: int, limit: int) -> Sequence[Notice]:
        """By priority, then age, then threads before what goes into them: OWED ones that are due, and CLAIMED ones of
        another epoch or of long ago."""
        ...

    def claim(self, notice: Notice, epoch: int, at: datetime) -> Notice | None:
        """Take one for delivery: None if it changed since it was read. Raises NotLeader for an old epoch."""
        ...

    def record(self, notice: Notice) -> None:
        """Store what came of a claimed one: ref, shown, state, not_before, attempts, doubtful, failure.

        If `wanted` rose meanwhile it is OWED again.
        """
        ...


class Audit(Protocol):
    """Who did what."""

    def add(self, entry: AuditEntry) -> None: ...

    def of(self, subject: str) -> Sequence[AuditEntry]:
        """In order."""
        ...

    def find(self, query: AuditQuery, limit: int | None = None) -> Sequence[AuditEntry]:
        """The newest first."""
        ...


class Pauses(Protocol):
    """Whether quota changes are paused."""

    def get(self) -> Pause | None: ...

    def begin(self, pause: Pause) -> bool:
        """False, and nothing changes, if it is paused already."""
        ...

    def end(self) -> Pause | None:
        """The pause that is over; None if there was none."""
        ...


class UnitOfWork(Protocol):
    """One transaction. Leaving it without `commit` rolls back."""

    @property
    def requests(self) -> Requests: ...
    @property
    def offers(self) -> Offers: ...
    @property
    def loans(self) -> Loans: ...
    @property
    def fields(self) -> Fields: ...
    @property
    def inbox(self) -> Inbox: ...
    @property
    def notices(self) -> Notices: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def leadership(self) -> Leadership: ...
    @property
    def pauses(self) -> Pauses: ...
    @property
    def uses(self) -> LoanUses: ...
    @property
    def idle_offers(self) -> IdleOffers: ...
    @property
    def evictions(self) -> Evictions: ...
    @property
    def ask_backs(self) -> AskBacks: ...
    @property
    def escalations(self) -> Escalations: ...
    @property
    def home_tabs(self) -> HomeTabs: ...
    @property
    def proposals(self) -> Proposals: ...
    @property
    def memory(self) -> Memory: ...
    @property
    def incidents(self) -> Incidents: ...
    @property
    def storms(self) -> Storms: ...
    @property
    def positions(self) -> Positions: ...
    @property
    def lost_names(self) -> LostNames: ...

    def alone(self, what: str) -> None:
        """Wait until nobody else is in a transaction that is alone with `what`, and be in it until this one ends."""
        ...

    def commit(self) -> None: ...


class Store(Protocol):
    """The database."""

    def begin(self) -> AbstractContextManager[UnitOfWork]:
        """A transaction that may write (on SQLite it takes the write lock at once, so that it cannot deadlock)."""
        ...

    def read(self) -> AbstractContextManager[UnitOfWork]:
        """A consistent read."""
        ...
