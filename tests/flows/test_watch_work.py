"""A watch through everything that can go wrong on the way: nothing is lost, and nothing is told twice."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.errors import NoRight, NotLeader, Rejected, Unavailable
from bot.core.incidents.facts import Kind, Observed, Wanted
from bot.flows.observe_work import tell_due
from bot.flows.watch_work import LONGEST_WAIT, SAVE_EVERY, WorkWatch
from bot.ports.watching import Expired, News, Page
from tests.support import quota
from tests.support.fakes.gate import Killed, kill
from tests.support.view_text import seen as read
from tests.support.watched import GPU, Work, pod, refused, unschedulable

VISION, PLATFORM = "C0VISION", "C0PLATFORM"
DOWN = Unavailable("API server", "connection lost")


@dataclass
class Server:
    """A cluster's objects of one kind, and the log of their changes. Implements ports.watching.Source."""

    kind: Kind = Kind.WORKLOAD
    cluster: str = "default"
    objects: dict[str, Observed] = field(default_factory=dict)
    log: list[tuple[Observed, bool]] = field(default_factory=list)
    forgotten: int = 0
    """Changes that no watch can begin before."""
    per_page: int = 2
    per_burst: int = 1
    fails: list[tuple[int, BaseException]] = field(default_factory=list)
    """(passages until then, what is raised), one at a time: each page and each burst is one."""
    twice: bool = False
    asked: list[str] = field(default_factory=list)
    resets: int = 0
    wanted: Wanted | None = None

    def put(self, seen: Observed | None) -> None:
        assert seen is not None
        self.objects[seen.uid] = seen
        self.log.append((seen, False))

    def delete(self, uid: str) -> None:
        self.log.append((self.objects.pop(uid), True))

    def forget(self) -> None:
        self.forgotten = len(self.log)

    def pages(self, wanted: Wanted) -> Iterator[Page]:
        self.asked.append("list")
        self.wanted = wanted
        every, version = list(self.objects.values()), str(len(self.log))
        for start in range(0, len(every) or 1, self.per_page):
            self._pass()
            yield Page(every[start : start + self.per_page], version)

    def follow(self, version: str, wanted: Wanted) -> Iterator[News]:
        self.asked.append(f"watch {version}")
        begin = int(version)
        if begin < self.forgotten:
            raise Expired
        for start in range(begin, len(self.log), self.per_burst):
            self._pass()
            changes = self.log[start : start + self.per_burst]
            if self.twice and start:
                changes = [self.log[start - 1], *changes, *changes]
            yield News(changes, str(min(start + self.per_burst, len(self.log))))

    def reset(self) -> None:
        self.resets += 1

    def stop(self) -> None: ...

    def _pass(self) -> None:
        if not self.fails:
            return
        left, what = self.fails[0]
        if left:
            self.fails[0] = (left - 1, what)
            return
        self.fails.pop(0)
        raise what


class Watched:
    """A bench with one watch."""

    def __init__(self, bench: Any, server: Server | None = None) -> None:
        self.bench = bench
        changed = quota.documents()
        changed["teams.yaml"]["teams"]["vision"]["namespaces"] = ["vision-train"]
        bench.policy = quota.policy(changed)
        self.server = server or Server()
        self.restart()

    def restart(self) -> None:
        """A new process: it knows what the database knows."""
        self.watch = WorkWatch(self.bench.world, self.server, lambda: 0.5)

    def step(self) -> timedelta | None:
        return self.watch.step(self.bench.epoch)

    def settle(self) -> None:
        """Until a watch ends as watches do, and a second one has nothing new."""
        for _ in range(20):
            before = len(self.server.fails)
            wait = self.step()
            assert wait is not None
            if not before and not self.server.fails and wait < timedelta(seconds=0.5):
                break
        self.step()

    def cards(self, to: str = VISION) -> list[str]:
        """First lines, when all that is due has been told."""
        for _ in range(3):
            self.bench.pass_time(minutes=6)
            tell_due(self.bench.world, self.bench.epoch)
            self.bench.deliver_all()
        return [read(one.message)[0] for one in self.bench.posted(to) if one.thread is None]

    def work(self, name: str) -> Work:
        """Admitted and running."""
        work = Work(name=name).admitted(self.bench.clock()).running(self.bench.clock())
        self.server.put(work.change().seen)
        return work

    def preempt(self, work: Work) -> None:
        self.server.put(work.evicted(self.bench.clock()).change().seen)
        self.server.put(work.requeued(self.bench.clock()).change().seen)


@pytest.fixture
def watched(bench: Any) -> Watched:
    return Watched(bench)


def test_the_first_start_is_silent_and_what_happens_after_it_is_told(watched: Watched) -> None:
    old, new = watched.work("old"), watched.work("new")
    watched.preempt(old)
    watched.step()
    watched.preempt(new)
    watched.step()
    assert watched.cards() == ["↩️ new preempted: 8 a100"]
    assert watched.server.asked == ["list", "watch 4", "watch 4"]


def test_a_seeding_that_was_cut_short_is_still_silent_the_next_time(watched: Watched) -> None:
    for name in ("one", "two", "three"):
        watched.preempt(watched.work(name))
    watched.server.fails = [(1, DOWN)]
    watched.step()
    watched.restart()
    watched.step()
    assert watched.cards() == []
    assert watched.server.asked == ["list", "list", "watch 9"]


def test_a_restart_goes_on_where_the_last_process_stopped(watched: Watched) -> None:
    work = watched.work("resnet")
    watched.step()
    watched.restart()
    watched.preempt(work)
    watched.step()
    assert watched.server.asked == ["list", "watch 1", "watch 1"]
    assert watched.cards() == ["↩️ resnet preempted: 8 a100"]


def test_the_position_is_stored_now_and_then_and_moves_with_bookmarks(watched: Watched) -> None:
    watched.work("resnet")
    watched.step()
    for number in range(3):
        watched.bench.pass_time(seconds=SAVE_EVERY.total_seconds() * 0.6)
        watched.work(f"other-{number}")
        watched.step()
    stored = watched.bench.store.tables.positions["default", "Workload"]
    assert stored.version == "3", "the fourth came within the half minute after the third"


def test_what_was_deleted_while_away_ends_its_story(watched: Watched) -> None:
    work, stays = watched.work("goes"), watched.work("stays")
    watched.step()
    watched.preempt(work)
    watched.step()
    assert watched.cards() == ["↩️ goes preempted: 8 a100"]
    watched.server.delete(work.change().uid)
    watched.server.forget()
    watched.step()
    watched.step()
    left = {one.uid for one in watched.bench.store.tables.remembered.values()}
    assert left == {stays.change().uid}
    assert watched.server.asked[-3:] == ["watch 4", "list", "watch 5"]


@pytest.mark.parametrize(("hours", "late"), [(0.1, False), (1, True)])
def test_what_is_found_after_a_long_time_away_is_marked_late(watched: Watched, hours: float, late: bool) -> None:
    work = watched.work("resnet")
    watched.step()
    watched.bench.pass_time(hours=hours)
    watched.preempt(work)
    watched.server.forget()
    watched.settle()
    (incident,) = watched.bench.store.tables.incidents.values()
    assert incident.late is late


def test_an_api_that_is_down_at_the_start_is_asked_more_and_more_rarely(watched: Watched) -> None:
    watched.work("resnet")
    watched.server.fails = [(0, DOWN)] * 8
    waits = [watched.step() for _ in range(8)]
    seconds = [wait.total_seconds() for wait in waits if wait is not None]
    assert seconds == sorted(seconds)
    assert seconds[0] < 1
    assert seconds[-1] == LONGEST_WAIT.total_seconds() * 0.75
    watched.settle()
    assert watched.cards() == []


def test_after_a_failure_nothing_that_was_given_counts_as_known(watched: Watched) -> None:
    watched.work("resnet")
    watched.step()
    before = watched.server.resets
    watched.server.fails = [(0, DOWN)]
    watched.work("other")
    watched.step()
    assert watched.server.resets == before + 1


def test_a_database_that_is_down_loses_nothing(watched: Watched) -> None:
    work = watched.work("resnet")
    watched.step()
    watched.preempt(work)
    locked = Unavailable("database", "is locked")

    def fail() -> None:
        raise locked

    for _ in range(3):
        watched.bench.gate.plan(fail, matches="store.begin")
        assert watched.step() is not None
    watched.settle()
    assert watched.cards() == ["↩️ resnet preempted: 8 a100"]


@pytest.mark.parametrize("passage", range(12))
def test_a_kill_anywhere_in_a_batch_loses_nothing_and_tells_nothing_twice(bench: Any, passage: int) -> None:
    watched = Watched(bench, Server(per_burst=3))
    works = [watched.work(name) for name in ("one", "two")]
    watched.step()
    for work in works:
        watched.preempt(work)
    bench.gate.plan(kill, after=passage, matches="store")
    try:
        watched.step()
    except Killed:
        watched.restart()
        bench.pass_time(minutes=1)
        bench.epoch = bench.lead(f"P-{passage}")
    bench.gate.clear()
    watched.settle()
    assert sorted(watched.cards()) == ["↩️ one preempted: 8 a100", "↩️ two preempted: 8 a100"]


def test_a_new_leader_takes_over_in_mid_batch(watched: Watched) -> None:
    works = [watched.work(name) for name in ("one", "two", "three")]
    watched.step()
    for work in works:
        watched.preempt(work)
    old, second = watched.watch, WorkWatch(watched.bench.world, watched.server, lambda: 0.5)
    first_epoch = watched.bench.epoch

    def takes_over() -> None:
        watched.bench.pass_time(minutes=5)
        watched.bench.epoch = watched.bench.lead("P2")

    watched.bench.gate.plan(takes_over, after=2, matches="store.begin")
    with pytest.raises(NotLeader):
        old.step(first_epoch)
    second.step(watched.bench.epoch)
    with pytest.raises(NotLeader):
        old.step(first_epoch)
    assert sorted(watched.cards()) == [f"↩️ {name} preempted: 8 a100" for name in ("one", "three", "two")]


def test_a_missing_right_is_told_once_and_tried_again(watched: Watched) -> None:
    watched.server.kind = Kind.POD
    words = 'pods is forbidden: User "bot" cannot list resource "pods" in API group "" at the cluster scope'
    missing = NoRight("API server", "list", "pods", words)
    watched.server.fails = [(0, missing)] * 3
    assert [watched.step() for _ in range(3)] == [LONGEST_WAIT] * 3
    watched.bench.deliver_all()
    (told,) = [read(one.message) for one in watched.bench.posted(PLATFORM)]
    assert told[0] == "⚠️ The bot may not list pods since 14:05"
    assert told[2] == "Owners do not hear what these would show; all other alerts go on, and it tries again by itself"
    assert "list" in told[3]
    watched.settle()
    assert watched.server.asked[-2:] == ["watch 0", "watch 0"]


def test_a_cluster_without_kueue_is_no_trouble(watched: Watched) -> None:
    watched.server.fails = [(0, Rejected("Kueue", "not installed"))] * 2
    assert [watched.step() for _ in range(2)] == [LONGEST_WAIT] * 2
    assert watched.bench.keys() == []


def test_a_new_policy_is_compared_with_all_that_there_is(watched: Watched) -> None:
    watched.step()
    before = watched.server.wanted
    assert before is not None
    assert (GPU in before.accelerators, before.labels) == (True, frozenset())
    changed = quota.documents()
    changed["alerts.yaml"] = {"owner_labels": ["example.org/slack"]}
    watched.bench.policy = quota.policy(changed)
    watched.step()
    assert watched.server.wanted == Wanted(before.accelerators, frozenset({"example.org/slack"}))
    assert watched.server.asked == ["list", "watch 0", "list", "watch 0"]


def test_pods_and_events_are_followed_alike(bench: Any) -> None:
    pods, events = Watched(bench, Server(Kind.POD)), Watched(bench, Server(Kind.EVENT))
    pods.step()
    events.step()
    pods.server.put(pod("lonely", conditions=unschedulable(bench.clock())).seen)
    events.server.put(refused("e1", bench.clock()).seen)
    pods.step()
    events.step()
    assert sorted(pods.cards()) == ["⚠️ lonely: no node has room", "⛔ rq: pods refused, 2 GPUs too many"]
    events.server.objects.clear()
    events.server.forget()
    events.server.log.append((refused("e2", bench.clock()).seen, False))  # type: ignore[arg-type]
    events.server.forget()
    events.settle()
    assert any(key[1] == "Event" for key in bench.store.tables.remembered), "an Event that is gone says nothing"


STEPS = st.sampled_from(
    ["preempt", "readmit", "step", "restart", "leader", "forget", "cut", "expire", "locked", "killed", "wait"]
)


@given(steps=st.lists(STEPS, max_size=25), twice=st.booleans(), per_burst=st.integers(1, 4), data=st.data())
def test_whatever_comes_between_each_preemption_is_told_once(
    new_bench: Callable[[], Any], steps: list[str], twice: bool, per_burst: int, data: st.DataObject
) -> None:
    bench = new_bench()
    watched = Watched(bench, Server(twice=twice, per_burst=per_burst))
    works = [watched.work(name) for name in ("one", "two", "three")]
    running, hit = list(works), set[str]()
    watched.settle()
    for number, step in enumerate(steps):
        match step:
            case "preempt" if running:
                work = running.pop(data.draw(st.integers(0, len(running) - 1)))
                watched.preempt(work)
                hit.add(work.name)
            case "readmit":
                for work in works:
                    if work not in running:
                        watched.server.put(work.admitted(bench.clock()).running(bench.clock()).change().seen)
                        running.append(work)
            case "forget":
                watched.server.forget()
            case "cut" | "expire":
                error: BaseException = DOWN if step == "cut" else Expired("too old")
                watched.server.fails.append((data.draw(st.integers(0, 3)), error))
            case "locked":
                bench.gate.plan(_lock, after=data.draw(st.integers(0, 4)), matches="store.begin")
            case "wait":
                bench.pass_time(minutes=1)
            case _:
                _go_on(watched, step, number, data)
        bench.pass_time(seconds=1)
    bench.gate.clear()
    watched.settle()
    watched.settle()
    told = watched.cards()
    assert sorted(line.split()[1] for line in told) == sorted(hit)


def _lock() -> None:
    raise Unavailable("database", "is locked")


def _go_on(watched: Watched, step: str, number: int, data: st.DataObject) -> None:
    """A step of the watch, maybe of another process than before, maybe killed."""
    bench = watched.bench
    if step == "leader":
        bench.pass_time(minutes=1)
        bench.gate.clear()
        bench.epoch = bench.lead(f"P-{number}")
    if step in {"restart", "leader"}:
        watched.restart()
    if step == "killed":
        bench.gate.plan(kill, after=data.draw(st.integers(0, 8)), matches="store")
    try:
        watched.step()
    except Killed:
        watched.restart()
