"""A whole world of fakes for one flow: database, Slack and cluster in memory, and a clock that only the test moves."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.core.errors import Rejected
from bot.core.inbox import Arrival, InboxItem
from bot.core.messages import Message, MessageRef
from bot.core.notices import Notice, NoticeDraft, Priority
from bot.core.pace import Pace
from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.requests import Ask
from bot.demo.kube.faults import Refuse
from bot.demo.kube.people import Limits
from bot.demo.kube.sim import KubeSim
from bot.flows.cards import owe_cards
from bot.flows.converge_memory import ConvergeMemory
from bot.flows.converge_quota import converge_all
from bot.flows.deliver_notices import Render, deliver
from bot.flows.grant_loan import grant_loan
from bot.flows.hold_leadership import hold_leadership
from bot.flows.render_notices import renderer
from bot.flows.world import World
from bot.ports.chat import PostUnknown
from tests.support import quota
from tests.support.fakes.chat import FakeSlack, Posted, Session
from tests.support.fakes.clock import HandClock, Ids
from tests.support.fakes.cluster import sim_cluster
from tests.support.fakes.gate import Gate
from tests.support.fakes.policies import FakePolicies
from tests.support.fakes.store import FakeStore

LEASE = timedelta(seconds=30)
PEOPLE = ("U0VISION", "U0LEADVISION", "U0NLP", "U0LEADNLP", "U0ROBOTICS", "U0LEADROBOTICS", "U0ADMIN", "U0ADMINTWO")
QUEUES: dict[str, dict[str, Limits | int | str]] = {
    "nlp": {"a100": {"nominal": 24}},
    "vision": {"a100": {"nominal": 16, "borrowing": 4}},
    "robotics": {"a100": {"nominal": 8, "borrowing": 0}},
}

_ADMIN = {"content-type": "application/json"}


class MoodyChat(Session):
    """Slack that refuses some channels, and never answers for some messages."""

    def __init__(self, slack: FakeSlack, gate: Gate) -> None:
        super().__init__(slack, gate)
        self.refuses: dict[str, str] = {}
        """Slack's code by channel."""
        self.silent_for: set[str] = set()
        """Texts."""

    def post(self, to: str, message: Message, notice_id: str, thread: MessageRef | None = None) -> MessageRef:
        self._mind(thread.channel if thread else to, message)
        return super().post(to, message, notice_id, thread)

    def update(self, ref: MessageRef, message: Message) -> None:
        self._mind(ref.channel, message)
        super().update(ref, message)

    def _mind(self, channel: str, message: Message) -> None:
        if channel in self.refuses:
            raise Rejected("Slack", self.refuses[channel])
        if message.text in self.silent_for:
            raise PostUnknown("no answer")


class Bench:
    """One process's world, and what people see of it. It leads unless a test says otherwise."""

    def __init__(self) -> None:
        self.clock = HandClock(quota.NOW)
        self.gate = Gate()
        self.kube = KubeSim(self.clock)
        for name, limits in QUEUES.items():
            self.kube.add_cluster_queue(name, limits, cohort="gpu-pool")
        self.kube.reconcile()
        self.store = FakeStore(self.clock)
        self.slack = FakeSlack(self.clock, {user: Person(user, user.lower()) for user in PEOPLE})
        self.slack.groups |= {f"S0{name}": frozenset() for name in ("NLP", "VISION", "ROBOTICS", "ADMINS")}
        self.chat = MoodyChat(self.slack, self.gate)
        self.policies = FakePolicies(quota.policy())
        self.woken: list[str] = []
        self.world = World(
            store=self.store.session(self.gate),
            chat=self.chat,
            clusters={"default": sim_cluster(self.kube, self.clock, self.gate)},
            policies=self.policies,
            clock=self.clock,
            new_id=Ids("id"),
            wake_convergence=lambda: self.woken.append("convergence"),
            wake_delivery=lambda: self.woken.append("delivery"),
            install="bench",
        )
        self.memory = ConvergeMemory()
        self.new_id = Ids("origin")
        self.pace = Pace()
        self.epoch = self.lead("P1")

    def with_gate(self, gate: Gate) -> World:
        """The world of another process on the same database, whose calls to it pass a gate of its own."""
        return replace(self.world, store=self.store.session(gate))

    @property
    def policy(self) -> Policy:
        return self.policies.policy

    @policy.setter
    def policy(self, changed: Policy) -> None:
        self.policies.policy = changed

    def lead(self, holder: str) -> int:
        """Take the lease under this name."""
        held = hold_leadership(self.world, holder, LEASE)
        assert held is not None
        return held

    def pass_time(self, **by: float) -> None:
        """The clock goes on."""
        self.clock.advance(timedelta(**by))

    def converge(self) -> None:
        """The queues become what they should be, and Kueue's controller sees it."""
        converge_all(self.world, self.epoch, self.memory, lambda _fence: None)
        self.kube.reconcile()
        converge_all(self.world, self.epoch, self.memory, lambda _fence: None)

    def deliver(self, render: Render | None = None) -> timedelta | None:
        """One pass of the deliverer."""
        return deliver(self.world, self.epoch, self.pace, render or self._render)

    def _render(self, notice: Notice) -> Message:
        return plain(notice) if notice.draft.kind == "test" else renderer(self.world)(notice)

    def deliver_all(self, render: Render | None = None, within: float = 600) -> None:
        """Passes, each when the last one wanted it, until it wants no more or the time is over."""
        until = self.clock() + timedelta(seconds=within)
        while (wait := self.deliver(render)) is not None and self.clock() + wait <= until:
            self.clock.advance(wait)

    def owe(self, key: str, to: str = "C0PLATFORM", *, thread_of: str | None = None, **changes: Any) -> None:
        """Owe a message whose text is its key (rendered by `plain`)."""
        priority = changes.pop("priority", Priority.PERSON)
        draft = NoticeDraft(key, changes.pop("kind", "test"), to, changes, priority, thread_of)
        with self.world.store.begin() as uow:
            uow.notices.owe(draft, self.clock())
            uow.commit()

    def notice(self, key: str) -> Notice:
        """As it is stored."""
        with self.world.store.read() as uow:
            found = uow.notices.get(key)
        assert found is not None, key
        return found

    def keys(self, prefix: str = "") -> list[str]:
        """What is owed or was."""
        return sorted(key for key in self.store.tables.notices if key.startswith(prefix))

    def facts(self, key: str) -> Mapping[str, Any]:
        return self.notice(key).draft.facts

    def posted(self, to: str) -> list[Posted]:
        """What stands in a channel or in a person's DM, oldest first."""
        channel = self.slack.channel_of(to)
        return [one for one in self.slack.messages if one.ref.channel == channel]

    def texts(self, to: str) -> list[str]:
        return [one.message.text for one in self.posted(to)]

    def arrival(self, key: str) -> str:
        """Something arrived and is stored; its key, for the flow that marks it as done."""
        with self.world.store.begin() as uow:
            uow.inbox.put([InboxItem(key, Arrival.ACTION, "test", {}, self.clock())])
            uow.commit()
        return key

    def approved(self, ask: Ask) -> int:
        """A request that was approved just now, with its cards; its number."""
        with self.world.store.begin() as uow:
            waiting = uow.requests.add(quota.request(of=ask, created_at=self.clock(), origin=self.new_id()))
            request = grant_loan(uow, waiting, "U0ADMIN", self.clock())
            owe_cards(uow, self.policy, request, self.clock(), {})
            uow.commit()
        return request.id

    def number(self, queue: str) -> int:
        """A queue's live a100 quota."""
        return self.world.clusters["default"].read().queues[queue].quotas[quota.A100].nominal

    def set_nominal(self, queue: str, number: int) -> None:
        """Somebody changes a queue's a100 quota by hand, outside the bot."""
        path = f"/apis/kueue.x-k8s.io/v1beta2/clusterqueues/{queue}"
        status, _, found = self.kube.handle("GET", path, headers=_ADMIN)
        found["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = str(number)
        status, _, answer = self.kube.handle("PUT", path, {"fieldManager": "kubectl-edit"}, _ADMIN, found)
        assert status == 200, answer

    def api_down(self) -> None:
        """The API server answers 503 until `kube.faults.clear()`."""
        self.kube.faults.plan(Refuse(503), times=None)


def plain(notice: Notice) -> Message:
    """A renderer that says nothing but the key and how often it was wanted."""
    return Message(notice.draft.key if notice.wanted == 1 else f"{notice.draft.key} {notice.wanted}")


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def plainly() -> Callable[[Notice], Message]:
    return plain


@pytest.fixture(scope="session")
def new_bench() -> Callable[[], Bench]:
    """For properties, which want one for each example."""
    return Bench
