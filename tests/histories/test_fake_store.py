"""The fake database is the real one: random programs give the same answers on both, and leave the same rows."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.db import engine as engines
from bot.adapters.db import migrate
from bot.adapters.db.unit_of_work import SqlStore
from bot.core.ask_backs import AskBack, AskBackState
from bot.core.convergence.facts import FieldKey, FieldName, FieldRecord, IntendedField, Intent, Question
from bot.core.convergence.proposals import Proposal, ProposalEnd, ProposedField
from bot.core.errors import NotLeader, Stale
from bot.core.escalations import Escalation
from bot.core.evictions import Eviction, EvictionState, Work
from bot.core.home_tab import HomeTab
from bot.core.idle_loans import IdleOffer, IdleState
from bot.core.inbox import Arrival, InboxItem
from bot.core.kueue import FlavorResource
from bot.core.loan_use import LoanUse, Unused
from bot.core.loans import Loan, LoanKind, LoanState
from bot.core.lost_names import LostName
from bot.core.messages import MessageRef
from bot.core.notices import Notice, NoticeDraft, NoticeState, Priority
from bot.core.offers import Offer, OfferState, terms_of
from bot.core.past_use import UsedLoan
from bot.core.pause import Pause
from bot.core.requests import Approval, ApprovalStep, Ask, AuditEntry, QuotaRequest, RequestState
from bot.ports.store import Store, UnitOfWork
from tests.support.fakes.clock import START, HandClock
from tests.support.fakes.store import FakeStore
from tests.support.postgres import PostgresServer

SCRIPTS = Path(__file__).parents[2] / "alembic"
QUEUES = ("alpha", "beta", "gamma")


@contextmanager
def _real(kind: str, request: pytest.FixtureRequest) -> Iterator[SqlStore]:
    with ExitStack() as stack:
        url = "sqlite://"
        if kind == "postgresql":
            postgres: PostgresServer = request.getfixturevalue("postgres")
            url = stack.enter_context(postgres.database())
        engine = engines.create(url)
        stack.callback(engine.dispose)
        migrate.migrate(engine, SCRIPTS)
        yield SqlStore(engine)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def real(request: pytest.FixtureRequest) -> Iterator[SqlStore]:
    with _real(request.param, request) as store:
        yield store


@pytest.fixture(params=["fake", "sqlite", "postgresql"])
def any_store(request: pytest.FixtureRequest) -> Iterator[tuple[Store, HandClock]]:
    """A store and the clock of the fake one: the real ones go by the database's."""
    clock = HandClock()
    if request.param == "fake":
        yield FakeStore(clock).session(), clock
        return
    with _real(request.param, request) as store:
        yield store, clock


class Program:
    """A random program: what it does depends on the seed alone, never on what the store answers."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.name = f"s{seed}"
        """Keeps the programs apart, which share one real database."""
        self.now = START
        self.held: dict[str, Any] = {}

    def at(self) -> datetime:
        self.now += timedelta(seconds=self.random.choice([1, 60, 400]))
        return self.now

    def key(self, sort: str, many: int = 4) -> str:
        return f"{self.name}:{sort}{self.random.randrange(many)}"

    def request(self, **changes: Any) -> QuotaRequest:
        ask = Ask(
            cluster=self.name,
            team=self.name,
            queue=self.random.choice(QUEUES),
            flavor="a100",
            resource="nvidia.com/gpu",
            amount=self.random.randrange(1, 5),
            kind=LoanKind.TRANSFER,
            lender="alpha",
            start=None,
            duration=timedelta(hours=1),
            until=None,
            reason="ü <!here>",
            requester=self.name,
        )
        at = self.at()
        made = QuotaRequest(
            0, ask, RequestState.WAITING, at, at, self.key("origin", 8), steps=(ApprovalStep("leads:a"),)
        )
        return replace(made, **changes)

    def field(self) -> FieldKey:
        name = self.random.choice(list(FieldName))
        return FieldKey(self.name, self.random.choice(QUEUES), "a100", "nvidia.com/gpu", name)

    def draft(self) -> NoticeDraft:
        facts = {"n": self.random.randrange(9), "list": [1, {"a": None}]}
        priority = self.random.choice(list(Priority))
        return NoticeDraft(self.key("card:", 5), "request_card", "C1", facts, priority)


def requests(program: Program, uow: UnitOfWork) -> Any:
    draw = program.random
    what = draw.choice(["add", "add", "update", "stale", "approve", "find", "open", "extended", "origin"])
    mine = uow.requests.find(requester=program.name)
    if what == "add":
        return uow.requests.add(program.request(extends=draw.choice([None, 1, 2])))
    if what == "extended":
        return uow.requests.find(extends=draw.choice([1, 2]), requester=program.name)
    if what == "open":
        return uow.requests.find_open(requester=program.name, teams=draw.choice([None, {program.name}, ()]))
    if what == "origin":
        return uow.requests.by_origin(program.key("origin", 8))
    if what == "find":
        states = draw.choice([None, {RequestState.WAITING}, {RequestState.DENIED, RequestState.LAPSED}])
        return uow.requests.find(states=states, teams={program.name}, since=START, limit=draw.choice([None, 2]))
    if not mine:
        return None
    one = draw.choice(mine)
    if what == "approve":
        uow.requests.approve(Approval(one.id, 0, draw.choice(["U1", "U2"]), program.at(), terms=one.terms))
        return uow.requests.approvals(one.id)
    version = one.version + (what == "stale")
    state, terms = draw.choice(list(RequestState)), one.terms + (draw.random() < 0.3)
    changed = replace(one, state=state, terms=terms, judged_at=program.at() if terms else None)
    return uow.requests.update(replace(changed, revision=one.revision + 1, version=version))


def offers(program: Program, uow: UnitOfWork) -> Any:
    draw = program.random
    mine = uow.requests.find(requester=program.name)
    what = draw.choice(["add", "add", "settle", "stale", "of", "get"])
    if not mine:
        return uow.offers.get(10**6)
    of = draw.choice(mine)
    known = uow.offers.of(of.id)
    if what == "add":
        terms = replace(terms_of(of.ask), amount=1, start=draw.choice([None, program.at()]))
        made = Offer(0, of.id, terms, terms_of(of.ask), "U1", program.at(), "ü <!here>", notes=("a", "b"))
        return uow.offers.add(made)
    if what == "of" or not known:
        return known
    one = draw.choice(known)
    if what == "get":
        return uow.offers.get(one.id)
    settled = replace(one, state=draw.choice(list(OfferState)), settled_by="U2", settled_at=program.at())
    return uow.offers.update(replace(settled, version=one.version + (what == "stale")))


def loans(program: Program, uow: UnitOfWork) -> Any:
    draw = program.random
    mine = [loan for loan in uow.loans.find() if loan.cluster == program.name]
    what = draw.choice(["add", "add", "update", "stale", "find", "get"])
    if what == "add":
        asked = uow.requests.find(requester=program.name)
        if not asked:
            return None
        start = program.at()
        lender = draw.choice([None, "alpha"])
        number = draw.choice(asked).id
        one = Loan(number, program.name, LoanKind.TRANSFER, lender, "beta", "a100", "r", 2, start, start + timedelta(1))
        return uow.loans.add(one)
    if what == "find":
        states = draw.choice([None, {LoanState.RUNNING, LoanState.RETURNING}])
        found = uow.loans.find(states=states, queues=draw.choice([None, {"alpha"}, {"beta"}]), since=START)
        return [loan for loan in found if loan.cluster == program.name]
    if not mine:
        return None
    one = draw.choice(mine)
    if what == "get":
        return uow.loans.get(one.id)
    changed = replace(one, state=draw.choice(list(LoanState)), suspended=draw.choice([None, "gone"]))
    return uow.loans.update(replace(changed, version=one.version + (what == "stale")))


def fields(program: Program, uow: UnitOfWork) -> Any:
    draw = program.random
    key, what = program.field(), draw.choice(["put", "put", "stale", "records", "intent", "close"])
    known = uow.fields.records(program.name).get(key)
    if what == "records":
        return list(uow.fields.records(program.name).items())
    if what == "intent":
        part = IntendedField(key, 2, None, {"L1": -2}, 6, 4, None)
        uow.fields.add_intent(Intent(program.key("i"), program.name, "alpha", "u", "7", 3, 1, (part,), program.at()))
        return uow.fields.open_intents(program.name)
    if what == "close":
        uow.fields.close_intent(program.key("i"), "dead", program.at())
        return uow.fields.open_intents(program.name)
    question = Question("u", draw.choice([None, 3]), program.at(), None) if draw.random() < 0.5 else None
    record = FieldRecord(key, draw.choice([None, "u"]), 1, 8, {"L1": 2}, 10, question, None, 4, version=0)
    version = known.version if known is not None else 0
    return uow.fields.put(replace(record, version=version + (what == "stale")))


def inbox(program: Program, uow: UnitOfWork) -> Any:
    draw = program.random
    key, what = program.key("k"), draw.choice(["put", "take", "lost", "claim", "done", "failed"])
    if what == "put":
        items = [InboxItem(program.key("k"), Arrival.COMMAND, "x", {"a": 1}, program.at()) for _ in range(2)]
        return sorted(uow.inbox.put(items))
    if what == "claim":
        return uow.inbox.claim(key, "w")
    if what in {"take", "lost"}:
        age = timedelta(hours=1 if what == "take" else -1)
        return [item for item in uow.inbox.take("w", 100, age) if item.key.startswith(f"{program.name}:")]
    return uow.inbox.done(key) if what == "done" else uow.inbox.failed(key, "why")


def notices(program: Program, uow: UnitOfWork) -> Any:
    draw = program.random
    what = draw.choice(["owe", "once", "later", "refresh", "merge", "get", "latest", "waiting", "claim", "record"])
    if what in {"owe", "later"}:
        return uow.notices.owe(program.draft(), program.at(), program.at() if what == "later" else None)
    if what == "once":
        return uow.notices.owe_once(program.draft(), program.at())
    if what in {"refresh", "merge"}:
        return uow.notices.refresh(f"{program.name}:card:", program.at(), {"new": True} if what == "merge" else None)
    if what == "get":
        return uow.notices.get(program.key("card:", 5))
    if what == "latest":
        return uow.notices.latest(f"{program.name}:card:")
    if what == "waiting":
        due = uow.notices.waiting(program.at(), draw.choice([EPOCH, EPOCH + 1]), 1000)
        return [notice for notice in due if notice.draft.key.startswith(f"{program.name}:")]
    if what == "claim":
        notice = uow.notices.get(program.key("card:", 5))
        return notice and uow.notices.claim(notice, draw.choice([EPOCH, EPOCH, EPOCH + 7]), program.at())
    return _record(program, uow)


def _record(program: Program, uow: UnitOfWork) -> Any:
    """What a deliverer records, of the claim as it is or of an older one."""
    draw = program.random
    notice = uow.notices.get(program.key("card:", 5))
    if notice is None:
        return None
    done = replace(
        notice,
        ref=draw.choice([None, MessageRef("C1", "1.2")]),
        state=draw.choice([NoticeState.SETTLED, NoticeState.OWED, NoticeState.GIVEN_UP]),
        shown=draw.choice([0, notice.wanted]),
        wanted=draw.choice([notice.wanted, max(1, notice.wanted - 1)]),
        attempts=draw.randrange(3),
        failure=draw.choice([None, "is_archived"]),
        claimed_at=draw.choice([notice.claimed_at, notice.claimed_at, program.at()]),
    )
    uow.notices.record(done)
    return uow.notices.get(notice.draft.key)


def audit(program: Program, uow: UnitOfWork) -> Any:
    uow.audit.add(AuditEntry(program.at(), "U1", "approve", program.key("Q"), "ok"))
    return uow.audit.of(program.key("Q"))


def pauses(program: Program, uow: UnitOfWork) -> Any:
    """Begun and ended in any order, also twice; all programs of a store have one, so what was there goes first."""
    uow.pauses.end()
    said: list[Any] = []
    for _ in range(4):
        pause = Pause("U1", "Ada", program.at(), program.random.choice(["", "maintenance"]))
        said.append(uow.pauses.end() if program.random.random() < 0.5 else uow.pauses.begin(pause))
        said.append(uow.pauses.get())
    return said


def idle(program: Program, uow: UnitOfWork) -> Any:
    """Use of this program's loans, and questions about them."""
    draw = program.random
    what = draw.choice(["put", "put", "of", "like", "ask", "ask", "answer", "stale"])
    mine = [loan.id for loan in uow.loans.find() if loan.cluster == program.name]
    if not mine:
        return uow.idle_offers.get(10**6)
    number = draw.choice(mine)
    last = uow.idle_offers.latest(number)
    if what == "put":
        steps = (Unused(2, timedelta(seconds=draw.randrange(9))),)
        uow.uses.put([LoanUse(number, program.at(), 2, 0, timedelta(1), timedelta(2), steps)])
        return uow.uses.of(mine)
    if what in {"of", "like"}:
        return uow.uses.of(mine) if what == "of" else uow.uses.like(program.request().ask, program.at())
    if what == "ask" or last is None:
        nth = draw.choice([1, 2, 3])
        return uow.idle_offers.add(IdleOffer(0, number, nth, 1, 2, timedelta(hours=12), program.at()))
    settled = replace(last, state=draw.choice(list(IdleState)), settled_by="U2", settled_at=program.at(), left=1)
    return uow.idle_offers.update(replace(settled, version=last.version + (what == "stale")))


def evictions(program: Program, uow: UnitOfWork) -> Any:
    """Numbers of loans are shared by all programs of a store, so each has its own hundred."""
    loan = 100 * int(program.name[1:]) + program.random.randrange(3)
    entry = FlavorResource("a100", "nvidia.com/gpu")
    draft = Eviction(loan, "default", "alpha", entry, 2, timedelta(hours=1), program.at())
    added, found = uow.evictions.add(draft), uow.evictions.get(loan)
    assert found is not None
    old = replace(found, version=found.version + program.random.choice([0, 0, 1]))
    work = Work("ns", "w", program.key("w"), "w", 2)
    try:
        uow.evictions.update(replace(old, state=program.random.choice(list(EvictionState)), works=(work,)))
    except Stale:
        added = False
    mine = [one for one in uow.evictions.open() if one.loan // 100 == loan // 100]
    return added, uow.evictions.get(loan), mine


def ask_backs(program: Program, uow: UnitOfWork) -> Any:
    """Of loans that are there; what is asked back is settled or not, also twice."""
    draw = program.random
    mine = [loan for loan in uow.loans.find() if loan.cluster == program.name]
    if not mine:
        return uow.ask_backs.get(10**6)
    loan = draw.choice(mine)
    known = uow.ask_backs.of(loan.id)
    what = draw.choice(["add", "settle", "stale", "of"])
    if what == "add":
        return uow.ask_backs.add(AskBack(0, loan.id, "U1", program.at(), "ü <!here>"))
    if what == "of" or not known:
        return known, [one for one in uow.ask_backs.waiting() if one.loan == loan.id]
    one = draw.choice(known)
    settled = replace(one, state=draw.choice(list(AskBackState)), settled_at=program.at(), given=draw.choice([None, 2]))
    return uow.ask_backs.update(replace(settled, version=one.version + (what == "stale")))


def proposals(program: Program, uow: UnitOfWork) -> Any:
    """One of a queue is open at most; ends of those that are open, ended or not there."""
    draw = program.random
    what = draw.choice(["add", "add", "end", "get", "open", "taken back"])
    if what == "add":
        key = program.field()
        before = IntendedField(key, 2, 6, {}, 6, 4, None)
        parts = (ProposedField(before, replace(before, seq=3, legs={"L1": 2}, wrote=8)),) * draw.randrange(3)
        made = Proposal(program.key("p", 6), program.name, key.queue, "u", parts, program.at())
        return uow.proposals.add(made)
    if what == "end":
        return uow.proposals.end(program.key("p", 6), draw.choice(list(ProposalEnd)), program.at())
    if what == "taken back":
        return uow.proposals.taken_back(program.name, program.at())
    return uow.proposals.get(program.key("p", 6)) if what == "get" else uow.proposals.open(program.name)


def escalations(program: Program, uow: UnitOfWork) -> Any:
    draw = program.random
    mine = uow.requests.find(requester=program.name)
    if not mine:
        return uow.escalations.of(10**6)
    one = draw.choice(mine)
    made = Escalation(one.id, draw.randrange(2), draw.randrange(2), "leads:a", "group:b", program.at(), "8 h")
    return uow.escalations.add(made), uow.escalations.of(one.id)


def home_tabs(program: Program, uow: UnitOfWork) -> Any:
    """Opened and shown, also where it was never opened."""
    draw = program.random
    user, at = f"{program.name}-{draw.randrange(3)}", program.at()
    if draw.random() < 0.5:
        uow.home_tabs.opened(user, at)
    else:
        failure = draw.choice([None, None, "not_enabled"])
        uow.home_tabs.shown(HomeTab(user, at, draw.choice([None, "d1", "d2"]), at, "1.2", failure))
    watched = uow.home_tabs.watched(at - timedelta(minutes=5), 1000)
    names = draw.choice([(), ("leads:a",), ("group:b",), ("leads:c", "group:b")])
    waiting = [one for one in uow.home_tabs.waiting_for(names) if one.ask.team == program.name]
    held = uow.home_tabs.on_loan(program.name), uow.home_tabs.on_loan(teams=(program.name,))
    return uow.home_tabs.get(user), [one for one in watched if one.user.startswith(f"{program.name}-")], waiting, held


def lost_names(program: Program, uow: UnitOfWork) -> Any:
    draw = program.random
    missing = [one for one in uow.lost_names.open() if one.name.startswith(program.name)]
    if draw.random() < 0.5:
        return uow.lost_names.begin(program.key("team", 3), program.at())
    for one in missing[:1]:
        uow.lost_names.end(one.id, program.at())
    return missing


EPOCH = 1
PARTS: tuple[Callable[[Program, UnitOfWork], Any], ...] = (
    requests,
    offers,
    loans,
    fields,
    inbox,
    notices,
    notices,
    audit,
    pauses,
    idle,
    evictions,
    ask_backs,
    escalations,
    home_tabs,
    proposals,
    proposals,
    lost_names,
)


def transcript(store: Store, seed: int) -> list[Any]:
    """What a program of 60 transactions is answered, with the ids of notices and numbers of requests left out."""
    program, seen = Program(seed), _Names()
    for _ in range(60):
        draw = program.random
        parts = [draw.choice(PARTS) for _ in range(draw.randrange(1, 4))]
        commits, ahead = draw.random() < 0.8, draw.getstate()
        try:
            with store.begin() as uow:
                answers = [part(program, uow) for part in parts]
                if commits:
                    uow.commit()
            seen.add(answers, keep=commits)
        except (Stale, NotLeader) as error:
            seen.add(type(error).__name__)
        draw.setstate(ahead)
        draw.random()
    with store.read() as uow:
        seen.add([uow.requests.find(requester=program.name), list(uow.fields.records(program.name).values())])
        seen.add([uow.notices.get(f"{program.name}:card:{number}") for number in range(5)])
        seen.add([uow.proposals.get(f"{program.name}:p{number}") for number in range(6)])
    return seen.said


class _Names:
    """Makes answers comparable: what the database chooses by itself is replaced by its order of appearance."""

    def __init__(self) -> None:
        self.said: list[Any] = []
        self._ids: dict[Any, str] = {}

    def add(self, answer: Any, *, keep: bool = True) -> None:
        """`keep`: the rows stay. The id of one that was rolled back is given again by SQLite, and not by PostgreSQL."""
        known = dict(self._ids)
        self.said.append(self._plain(answer))
        if not keep:
            self._ids = known

    def _plain(self, value: Any) -> Any:
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            return [self._plain(one) for one in value]
        if isinstance(value, Notice):
            return replace(value, id=self._name("notice", value.id))
        if isinstance(value, QuotaRequest | Loan):
            return (self._name("request", value.id), replace(value, id=0))
        if isinstance(value, Offer):
            return (self._name("offer", value.id), replace(value, id=0, request=0))
        if isinstance(value, LoanUse | UsedLoan):
            return (self._name("request", value.loan), replace(value, loan=0))
        if isinstance(value, IdleOffer):
            return (self._name("idle offer", value.id), replace(value, id=0, loan=0))
        if isinstance(value, LostName):
            return (self._name("lost name", value.id), replace(value, id=0))
        if isinstance(value, AskBack):
            return (self._name("ask-back", value.id), replace(value, id=0, loan=0))
        if isinstance(value, Approval | Escalation):
            return replace(value, request=0)
        return value

    def _name(self, sort: str, found: Any) -> str:
        return self._ids.setdefault((sort, found), f"{sort} {len(self._ids)}")


def _lead(store: Store, holder: str) -> int | None:
    with store.begin() as uow:
        epoch = uow.leadership.acquire(holder, timedelta(hours=1))
        uow.commit()
    return epoch


@pytest.mark.parametrize("seed", range(40))
def test_a_program_is_answered_the_same_by_both(seed: int, real: SqlStore) -> None:
    fake = FakeStore(HandClock()).session()
    assert _lead(fake, "me") == _lead(real, "me") == EPOCH
    assert transcript(fake, seed) == transcript(real, seed)


def test_the_lease_goes_to_one_and_its_epoch_only_rises(any_store: tuple[Store, HandClock]) -> None:
    store, clock = any_store
    with store.begin() as uow:
        lead = uow.leadership
        assert (lead.gap(), lead.acquire("a", timedelta(hours=1)), lead.gap()) == (None, 1, None)
        assert lead.acquire("b", timedelta(hours=1)) is None
        assert lead.acquire("a", timedelta(hours=1)) == 1, "a renewal keeps the epoch"
        lead.check(1)
        with pytest.raises(NotLeader):
            lead.check(2)
        assert (lead.raise_epoch("a", 1, 0), lead.raise_epoch("a", 1, 4)) == (1, 5)
        with pytest.raises(NotLeader):
            lead.raise_epoch("b", 5, 9)
        lead.release("b")
        lead.check(5)
        lead.release("a")
        with pytest.raises(NotLeader):
            lead.check(5)
        assert lead.acquire("b", timedelta(0)) == 6
        clock.advance(timedelta(seconds=1))
        assert lead.acquire("a", timedelta(hours=1)) == 7, "the lease has run out"
        assert lead.gap() is not None
        uow.commit()


def test_what_is_not_committed_was_never_there() -> None:
    fake = FakeStore(HandClock()).session()
    with fake.begin() as uow:
        uow.audit.add(AuditEntry(START, "U1", "approve", "Q-1", "ok"))
    with fake.read() as uow:
        assert not uow.audit.of("Q-1")


def test_a_transaction_inside_another_one_fails_the_test() -> None:
    fake = FakeStore(HandClock()).session()
    with fake.begin(), pytest.raises(AssertionError, match="inside another"), fake.begin():
        pass
