"""One history's world: a simulated cluster, a database and a Slack in memory, and the bot's processes on them.

Processes take turns in one thread. What another one does in the middle of a turn is planned at a gate, so every
interleaving is a choice of the history and the same in every run.
"""

import random
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Any

from bot.core.errors import NotLeader, Refused, Stale, Unavailable
from bot.core.inbox import Arrival, InboxItem
from bot.core.pace import Pace
from bot.core.policy import Policy
from bot.demo.kube.sim import KubeSim
from bot.flows.answer_ask_back import close_ask_backs
from bot.flows.chase_requests import chase_requests
from bot.flows.converge_memory import ConvergeMemory
from bot.flows.converge_quota import converge_all
from bot.flows.deliver_notices import deliver
from bot.flows.evict_work import evict_work
from bot.flows.hold_leadership import hold_leadership
from bot.flows.lapse_requests import lapse_requests
from bot.flows.lost_names import lost_names
from bot.flows.offer_idle import offer_idle
from bot.flows.remind_loans import remind_loans
from bot.flows.render_notices import renderer
from bot.flows.tell_loans import tell_after_start
from bot.flows.world import World
from tests.histories.harness import people
from tests.histories.harness.recorder import Recorder
from tests.support.fakes.chat import FakeSlack
from tests.support.fakes.clock import HandClock, Ids
from tests.support.fakes.cluster import sim_cluster
from tests.support.fakes.gate import Gate, Killed
from tests.support.fakes.policies import FakePolicies
from tests.support.fakes.store import FakeStore

LEASE = timedelta(seconds=30)
CLAIM_IS_OLD = timedelta(minutes=2)
QUEUES = {
    "alpha": {"a100": {"nominal": 8, "borrowing": 4}, "h100": {"nominal": 4, "borrowing": 2, "lending": 3}},
    "beta": {"a100": {"nominal": 6, "borrowing": 2, "lending": 5}, "h100": {"nominal": 3, "borrowing": 0}},
    "gamma": {"a100": {"nominal": 4, "borrowing": 0}},
}
NODES = {"a-1": ("a100", 8), "a-2": ("a100", 8), "a-3": ("a100", 4), "h-1": ("h100", 8)}
"""By node: flavor and GPUs. The queues promise 18 a100 and 7 h100, so that some extra loans fit and others do not."""
Act = Callable[[World, str], Any]
"""What one arrival does: the world it is handled in, and its inbox key."""


class Unhurried(Pace):
    """Waits when Slack says so, never by itself: a history's clock stands still while messages go out."""

    def posted(self, channel: str, at: Any) -> None:
        return

    def updated(self, at: Any) -> None:
        return


class Process:
    """One process of the bot: its own epoch, memory and gate."""

    def __init__(self, town: "Town", name: str) -> None:
        self.name = name
        self.gate = Gate()
        self.town = town
        self.epoch: int | None = None
        self.memory = ConvergeMemory()
        self.evicting: dict[int, datetime] = {}
        self.pace = Unhurried()
        self.wait: timedelta | None = None
        self.world = World(
            store=town.store.session(self.gate),
            chat=town.slack.session(self.gate),
            clusters={"default": sim_cluster(town.sim, town.clock, self.gate, town.late.append, town.answered)},
            policies=town.policies,
            clock=town.clock,
            new_id=Ids(name),
            wake_convergence=lambda: None,
            wake_delivery=lambda: None,
            install="town",
        )
        self.render = renderer(self.world)

    def lead(self) -> None:
        """Take or keep the lease."""
        before, self.epoch = self.epoch, None
        self.epoch = hold_leadership(self.world, self.name, LEASE)
        if self.epoch is not None and self.epoch != before:
            tell_after_start(self.world, self.epoch)

    def converge(self) -> None:
        """One step of the convergence loop, if it leads."""
        if self.epoch is not None:
            self.wait = converge_all(self.world, self.epoch, self.memory, self._lift)

    def deliver(self) -> None:
        """One pass of the deliverer, if it leads."""
        if self.epoch is not None:
            deliver(self.world, self.epoch, self.pace, self.render)

    def lapse(self) -> None:
        """The timetable's looks at what nobody answers, at ends to come and at idle loans, if it leads."""
        if self.epoch is not None:
            lapse_requests(self.world, self.epoch)
            lost_names(self.world, self.epoch)
            remind_loans(self.world, self.epoch)
            offer_idle(self.world, self.epoch)
            close_ask_backs(self.world, self.epoch)
            chase_requests(self.world, self.epoch)

    def evict(self) -> None:
        """The timetable's look at work above quota, if it leads."""
        if self.epoch is not None and self.town.looks_at_work:
            evict_work(self.world, self.epoch, self.evicting)

    def _lift(self, at_least: int) -> None:
        assert self.epoch is not None
        if self.epoch > at_least:
            return
        with self.world.store.begin() as uow:
            self.epoch = uow.leadership.raise_epoch(self.name, self.epoch, at_least)
            uow.commit()


class Town:
    """Everything that all processes share, and who they are."""

    def __init__(self, seed: int, *, resource_quota: bool = False, in_git: Collection[str] = ()) -> None:
        self.random = random.Random(seed)
        self.clock = HandClock(tick=timedelta(milliseconds=1))
        self.sim = KubeSim(self.clock)
        self.log = Recorder(self.sim, self.clock)
        self.store = FakeStore(self.clock)
        self.store.on_commit = self.log.committed
        self.slack = FakeSlack(self.clock, people.everybody(), heard=self.log.heard)
        self.late: list[Callable[[], Any]] = []
        """Requests that timed out and may be handled later."""
        self.webhook_refusals = 0
        self.policy_version = 0
        self.resource_quota = resource_quota
        self.in_git = in_git
        self.policies = FakePolicies(self.policy_of(0))
        self.jobs: list[tuple[str, str]] = []
        """Team and name of each that was ever submitted."""
        self.looks_at_work = False
        """Not before there is any, so that a history without it is what it was; and at the end of each."""
        self.arrivals: dict[str, Act] = {}
        self.presses: dict[str, dict[str, Any]] = {}
        self.work: list[tuple[str, str]] = []
        """Namespaces and names of jobs."""
        self.cases = {"keys": 0, "processes": 0}
        self.planned: Callable[[Process], None] = lambda _process: None
        """Plans at the gate of each process that comes up what is planned at the others'."""
        self.set_people(people.ADMINS)
        for name in in_git:
            self.log.add("git", queue=name)
        for name, quotas in QUEUES.items():
            self.add_queue(name, quotas)
        self.automated: set[str] = set()
        """Queues that Kueue itself writes."""
        if resource_quota:
            team, namespace, name = people.WITH_QUOTA
            self.sim.add("namespaces", namespace)
            self.add_quota()
            self.log.add("beside", queue=team, quota=f"{namespace}/{name}")
        self.cordoned: set[str] = set()
        for name, (flavor, gpus) in NODES.items():
            self.sim.add_node(name, flavor, gpus)
        self.tell_nodes()
        self.processes = [self.new_process(), self.new_process()]
        self.sim.reconcile()

    # -- the world's own doings ---------------------------------------------------------------------------------------

    def add_queue(self, name: str, quotas: Any, cohort: str = "pool") -> None:
        """Create a ClusterQueue as an administrator."""
        self.sim.add_cluster_queue(name, quotas, cohort=cohort)
        self.log.drain()

    def automate(self, queue: str, *, effective: bool) -> None:
        """Kueue writes this queue's quotas from now on."""
        self.sim.automate(queue, effective=effective)
        self.automated.add(queue)
        self.log.add("automation", queue=queue, on=True)

    def let_go(self, queue: str) -> None:
        """Kueue writes them no more. A queue that was deleted is nobody's in any case."""
        self.automated.discard(queue)
        self.log.add("automation", queue=queue, on=False)
        self.sim.let_go(queue)

    def add_quota(self) -> None:
        """Create the ResourceQuota of its team."""
        _, namespace, name = people.WITH_QUOTA
        self.sim.add("resourcequotas", name, {"spec": {"hard": {f"requests.{people.GPU}": "9"}}}, namespace)
        self.log.drain()

    def policy_of(self, version: int) -> Policy:
        """As it is while this version is in force."""
        return people.policy(version, resource_quota=self.resource_quota, in_git=self.in_git)

    def set_people(self, admins: tuple[str, ...]) -> None:
        """Who is in the admins' user group from now on."""
        self.slack.groups[people.GROUP] = frozenset((*admins, people.GUEST))
        self.tell_people()

    def tell_people(self) -> None:
        """For the oracle: who is who from now on."""
        self.log.add("people", **people.meant(self.policy_version, self.slack.groups[people.GROUP]))

    def cordon(self, name: str) -> None:
        """A node takes no new pods from now on, or does again."""
        self.cordoned ^= {name}
        self.sim.cordon(name, undo=name not in self.cordoned)
        self.tell_nodes()

    def tell_nodes(self) -> None:
        """For the oracle: what the nodes have from now on."""
        capacity = {"a100": 0, "h100": 0}
        for name, (flavor, gpus) in NODES.items():
            capacity[flavor] += 0 if name in self.cordoned else gpus
        self.log.add("nodes", capacity=capacity)

    def pass_time(self, by: timedelta) -> None:
        """The one clock goes on."""
        self.log.drain()
        self.clock.advance(by)

    def answered(self, status: int) -> None:
        """The API server answered a patch."""
        self.webhook_refusals += status == 500 and not self.sim.kueue_up

    # -- processes ----------------------------------------------------------------------------------------------------

    def new_process(self) -> Process:
        """A process that has just started. Its name is never used again."""
        self.cases["processes"] += 1
        process = Process(self, f"P{self.cases['processes']}")
        self.planned(process)
        return process

    @property
    def first(self) -> Process:
        """The replica that tries to lead before the others."""
        return self.processes[0]

    def run(self, process: Process, *works: Callable[[], Any]) -> bool:
        """A process does these one after another; an outage ends one of them, a kill all. Whether it lives."""
        for work in works:
            try:
                work()
            except NotLeader:
                process.epoch = None
            except Unavailable:
                continue
            except Killed:
                self.bury(process)
                return False
        return True

    def bury(self, process: Process) -> None:
        """A killed process does nothing more, and a new one comes up in its place."""
        process.gate.closed = True
        if process in self.processes:
            self.processes[self.processes.index(process)] = self.new_process()

    def tend(self) -> None:
        """What goes on by itself: the lease, convergence, Kueue's controllers, delivery, arrivals that were left."""
        for process in list(self.processes):
            self.run(process, process.lead)
        for process in list(self.processes):
            self.run(process, lambda p=process: self.handle_left(p), process.converge)  # type: ignore[misc]
            self.sim.reconcile()
            self.run(process, process.converge, process.evict, process.deliver, process.lapse)
        self.log.drain()

    # -- arrivals -----------------------------------------------------------------------------------------------------

    def new_key(self) -> str:
        """An inbox key."""
        self.cases["keys"] += 1
        return f"K{self.cases['keys']:04d}"

    def arrive(self, process: Process, act: Act, press: dict[str, Any] | None = None, key: str | None = None) -> None:
        """Somebody does something: it is stored, acknowledged, and handled by this process."""
        key = key or self.new_key()
        if press is not None:
            self.presses[key] = press
        item = InboxItem(key, Arrival.ACTION, "test", {}, self.clock())

        def put() -> None:
            with process.world.store.begin() as uow:
                uow.inbox.put([item])
                uow.commit()
            self.arrivals[key] = act
            self._handle_new(process, key)

        self.run(process, put)

    def _handle_new(self, process: Process, key: str) -> None:
        with process.world.store.begin() as uow:
            mine = uow.inbox.claim(key, process.name)
            uow.commit()
        if mine:
            self._handle(process, key)

    def handle_left(self, process: Process) -> None:
        """Arrivals that nobody finished."""
        with process.world.store.begin() as uow:
            items = uow.inbox.take(process.name, 20, CLAIM_IS_OLD)
            uow.commit()
        for item in items:
            if item.key in self.arrivals:
                self._handle(process, item.key)

    def _handle(self, process: Process, key: str) -> None:
        result, words = "done", ""
        try:
            self.arrivals[key](process.world, key)
        except Refused as refused:
            result, words = "refused", refused.sentence
        except Stale:
            return
        except Unavailable as error:
            if error.what == "database":
                raise
            result, words = "refused", str(error)
        if key in self.presses:
            self.log.add("press", result=result, words=words, **self.presses.pop(key))
        with process.world.store.begin() as uow:
            try:
                uow.inbox.done(key)
            except Stale:
                return
            uow.commit()
