"""The bot's real flows on a site: convergence with the real database store and the real adapter.

One `Replica` is one process of the bot; replicas of one installation share its database. It sees the queues of its own
test only, since tests share a server; everything else is as in life.
"""

import itertools
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.adapters.db import engine as engines
from bot.adapters.db import migrate
from bot.adapters.db.unit_of_work import SqlStore
from bot.core.convergence.changes import PatchResult, QueueChange
from bot.core.convergence.facts import AnswerKind, FieldKey, FieldName, FieldRecord
from bot.core.convergence.findings import field_path
from bot.core.impact import Impact, to_json
from bot.core.inbox import Arrival, InboxItem
from bot.core.kueue import ClusterPicture
from bot.core.loans import Loan, LoanKind
from bot.core.overcommit import Hardware
from bot.core.requests import ApprovalStep, Ask, QuotaRequest, RequestState
from bot.flows.answer_edit import EditPress, answer_edit
from bot.flows.converge_memory import ConvergeMemory
from bot.flows.converge_quota import converge_all
from bot.flows.hold_leadership import hold_leadership
from bot.flows.live_impact import live_impact
from bot.flows.record_decision import Press, approve
from bot.flows.world import World
from bot.ports.cluster import Cluster
from tests.cluster.places import BOT, Rights
from tests.cluster.programs import ROOT
from tests.cluster.site import GPU, Site
from tests.histories.harness import people
from tests.support.fakes.chat import FakeSlack
from tests.support.fakes.clock import HandClock, Ids
from tests.support.fakes.policies import FakePolicies

LEASE = timedelta(minutes=5)
FOR = timedelta(days=3)


class OwnQueues:
    """Implements ports.cluster.Cluster: the real one, without the queues of other tests. `sent` has every patch."""

    name = "default"

    def __init__(self, real: Cluster, mark: str) -> None:
        self._real = real
        self._mark = mark
        self.sent: list[QueueChange] = []

    def read(
        self, *, cohorts_within: timedelta = timedelta(0), resource_quotas: Collection[str] = (), kueue: bool = True
    ) -> ClusterPicture:
        picture = self._real.read(cohorts_within=cohorts_within, resource_quotas=resource_quotas, kueue=kueue)
        own = {name: queue for name, queue in picture.queues.items() if name.endswith(self._mark)}
        return replace(picture, queues=own)

    def workloads(self, queues: Any) -> Any:
        return self._real.workloads(queues)

    def hardware(self, resource: str) -> Hardware:
        return self._real.hardware(resource)

    def patch(self, change: QueueChange, *, dry_run: bool = False) -> PatchResult:
        self.sent.append(change)
        return self._real.patch(change, dry_run=dry_run)


class Replica:
    """One process. `cluster` may be replaced before the world is used."""

    def __init__(self, site: Site, store: SqlStore, clock: HandClock, name: str, rights: Rights = BOT) -> None:
        self.name = name
        self.store = store
        self.cluster = OwnQueues(site.bot(rights), site.mark)
        self.epoch: int | None = None
        self.memory = ConvergeMemory()
        self.world = World(
            store=store,
            chat=FakeSlack(clock, people.everybody(), {people.GROUP: frozenset(people.ADMINS)}).session(),
            clusters={"default": self.cluster},
            policies=FakePolicies(people.policy(0)),
            clock=clock,
            new_id=Ids(f"{site.mark}-{name}"),
            wake_convergence=lambda: None,
            wake_delivery=lambda: None,
            install=f"contract-{site.mark}",
        )

    def lead(self) -> bool:
        """Take or keep the lease; whether it leads."""
        self.epoch = hold_leadership(self.world, self.name, LEASE)
        return self.epoch is not None

    def converge(self) -> None:
        """One step of the convergence loop. Raises NotLeader."""
        assert self.epoch is not None
        converge_all(self.world, self.epoch, self.memory, self._lift)

    def _lift(self, at_least: int) -> None:
        assert self.epoch is not None
        with self.store.begin() as uow:
            self.epoch = uow.leadership.raise_epoch(self.name, self.epoch, at_least)
            uow.commit()


class Installation:
    """A database and its replicas; the first one leads."""

    def __init__(self, site: Site, clock: HandClock, urls: Iterator[str]) -> None:
        self._site = site
        self._urls = urls
        self._arrivals = itertools.count(1)
        self.store = self._empty_database()
        self.clock = clock
        self.first = self.replica("first")
        assert self.first.lead()

    def forget(self) -> None:
        """The database is lost, and with it every process: there is a new one, and the first replica leads again."""
        self.store.close()
        self.store = self._empty_database()
        self.first = self.replica("first")
        assert self.first.lead()

    def _empty_database(self) -> SqlStore:
        url = next(self._urls)
        migrate.upgrade(url, ROOT / "alembic")
        return SqlStore(engines.create(url))

    def replica(self, name: str, rights: Rights = BOT) -> Replica:
        """One more process."""
        return Replica(self._site, self.store, self.clock, name, rights)

    def grant(self, kind: LoanKind, borrower: str, amount: int, lender: str | None = None) -> Loan:
        """An approved request's loan, from now on for three days. Nothing is written to the cluster yet."""
        now, flavor = self.clock(), self._site.flavor()
        ask = Ask("default", "alpha", borrower, flavor, GPU, amount, kind, lender, None, FOR, None, "why", "U0ALPHA")
        draft = QuotaRequest(0, ask, RequestState.APPROVED, now, now + FOR, f"K-{next(self._arrivals)}")
        with self.store.begin() as uow:
            number = uow.requests.add(draft).id
            loan = uow.loans.add(Loan(number, "default", kind, lender, borrower, flavor, GPU, amount, now, now + FOR))
            uow.commit()
        return loan

    def asks(self, kind: LoanKind, borrower: str, amount: int) -> int:
        """A request of team alpha that waits, with the picture of now; its number. The queue is that team's."""
        policy = people.policy(0)
        alpha = policy.teams.teams["alpha"].model_copy(update={"queues": {"*": (borrower,)}})
        teams = policy.teams.model_copy(update={"teams": {**policy.teams.teams, "alpha": alpha}})
        self.first.world = replace(self.first.world, policies=FakePolicies(replace(policy, teams=teams)))
        now, flavor = self.clock(), self._site.flavor()
        ask = Ask("default", "alpha", borrower, flavor, GPU, amount, kind, None, None, FOR, None, "why", "U0ALPHA")
        impact = live_impact(self.first.world, ask)
        assert isinstance(impact, Impact)
        steps = (ApprovalStep("group:gpu-admins"),)
        draft = QuotaRequest(0, ask, RequestState.WAITING, now, now + FOR, f"K-{next(self._arrivals)}", steps=steps)
        with self.store.begin() as uow:
            number = uow.requests.add(replace(draft, rule="rest", picture=to_json(impact))).id
            uow.commit()
        return number

    def request(self, number: int) -> QuotaRequest:
        """As the database has it."""
        with self.store.read() as uow:
            request = uow.requests.get(number)
        assert request is not None
        return request

    def approves(self, number: int, *, ticked: bool) -> str:
        """An admin presses Approve, with or without the tick. Raises Refused."""
        key = f"approve-{next(self._arrivals)}"
        with self.store.begin() as uow:
            uow.inbox.put([InboxItem(key, Arrival.ACTION, "contract", {}, self.clock())])
            uow.commit()
        press = Press(number, self.request(number).revision, people.ADMINS[0], key, ticked)
        return approve(self.first.world, press)

    def loan(self, number: int) -> Loan:
        """As the database has it."""
        with self.store.read() as uow:
            loan = uow.loans.get(number)
        assert loan is not None
        return loan

    def release(self, replica: Replica) -> None:
        """The replica loses the lease without knowing."""
        with self.store.begin() as uow:
            uow.leadership.release(replica.name)
            uow.commit()

    def answer(self, queue: str, kind: AnswerKind) -> None:
        """An admin answers the question about a queue's nominalQuota, and convergence goes on."""
        key = f"answer-{kind}-{queue}"
        field = field_path(self.record(queue).key)
        with self.store.begin() as uow:
            notice = uow.notices.latest(f"edit:{field}:")
            uow.inbox.put([InboxItem(key, Arrival.ACTION, "contract", {}, self.clock())])
            uow.commit()
        assert notice is not None
        answer_edit(self.first.world, EditPress(notice.id, self.record(queue).version, kind, people.ADMINS[0], key))
        self.first.converge()

    def record(self, queue: str, name: FieldName = FieldName.NOMINAL) -> FieldRecord:
        """What the bot knows of one number."""
        with self.store.read() as uow:
            return uow.fields.records("default")[FieldKey("default", queue, self._site.flavor(), GPU, name)]


def sqlite_files(folder: Path) -> Iterator[str]:
    """The URL of an empty database, and of another each time."""
    return (f"sqlite:///{folder / f'bot{number}.db'}" for number in itertools.count(1))


@contextmanager
def installation(site: Site, clock: HandClock, urls: Iterator[str]) -> Iterator[Installation]:
    """On the first database of `urls`; each further one is used when the one before is lost."""
    made = Installation(site, clock, urls)
    try:
        yield made
    finally:
        made.store.close()
