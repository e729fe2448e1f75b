"""P5 over random histories: whatever is killed, repeated, missed or lost, each owner reads each story once, as it ends.

The oracle knows only what happened to the work. It counts what stands in Slack.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.incidents.facts import Change
from bot.flows.observe_work import observe_work, tell_due
from bot.flows.world import World
from tests.support import quota
from tests.support.fakes.chat import Trouble
from tests.support.fakes.gate import Gate, Killed, kill
from tests.support.view_text import seen
from tests.support.watched import Work

OWNERS = {"U0VISION": "vision-train", "U0NLP": "nlp-train", "U0ROBOTICS": "robotics-sim"}
MINUTE = timedelta(minutes=1)


@dataclass
class Told:
    """A cluster with one Job for each owner, the bot that watches it, and what became of each Job."""

    bench: Any
    random: random.Random
    forgetful: bool = False
    """A deliberate mistake: every batch is judged as if nothing were remembered."""
    works: dict[str, Work] = field(default_factory=dict)
    lost: Counter[str] = field(default_factory=Counter)
    runs: dict[str, bool] = field(default_factory=dict)
    unread: list[Change] = field(default_factory=list)
    """What the watch has yet to bring, in order."""
    last: list[Change] = field(default_factory=list)

    def begin(self) -> None:
        changed = quota.documents()
        changed["alerts.yaml"] = {"storm": {"more_than": 50}, "fold_within": "30d"}
        self.bench.policy = quota.policy(changed)
        for owner, namespace in OWNERS.items():
            notes = {"gpu-quota-bot.io/owner": owner, "gpu-quota-bot.io/alerts": "dm"}
            work = Work(f"job-{owner.lower()}", namespace, annotations=notes)
            self.works[owner], self.runs[owner] = work.admitted(self.bench.clock()).running(self.bench.clock()), True
            self.unread.append(work.change())
        self.watch()

    def happens(self) -> None:
        """Something happens to one Job, and the watch will show it, or only what it leads to."""
        owner = self.random.choice(list(OWNERS))
        work, now = self.works[owner], self.bench.clock()
        if self.runs[owner]:
            work.evicted(now)
            self.lost[owner] += 1
            if self.random.random() < 0.7:
                self.unread.append(work.change())
            work.requeued(now)
        else:
            work.admitted(now).running(now)
        self.runs[owner] = not self.runs[owner]
        if self.random.random() < 0.8:
            self.unread.append(work.change())

    def watch(self) -> None:
        """The next batch, sometimes with an old one before it, sometimes killed on its way; then it comes again."""
        batch = [*(self.last if self.random.random() < 0.3 else ()), *self.unread]
        if self.random.random() < 0.3:
            self.killed(lambda world, epoch: observe_work(world, epoch, "default", batch))
        if self.random.random() < 0.2:
            self.bench.pass_time(minutes=1)
            self.bench.epoch = self.bench.lead(f"P{self.random.random()}")
        if self.forgetful:
            self.bench.store.tables.remembered.clear()
        observe_work(self.bench.world, self.bench.epoch, "default", batch)
        self.last, self.unread = list(self.unread), []

    def killed(self, work: Callable[[World, int], object]) -> None:
        """It runs in a process that dies at some passage."""
        gate = Gate()
        gate.plan(kill, after=self.random.randrange(3), matches="store")
        dying = self.bench.with_gate(gate)
        try:
            work(dying, self.bench.epoch)
        except Killed:
            gate.closed = True

    def deliver(self) -> None:
        """Some of what is owed is posted; now and then Slack's answer is lost, or it has enough."""
        if self.random.random() < 0.4:
            troubles = [Trouble.ANSWER_LOST, Trouble.RATE_LIMITED, Trouble.NOT_REACHED]
            self.bench.slack.troubles.append(self.random.choice(troubles))
        self.bench.pass_time(minutes=self.random.choice([0.5, 2]))
        tell_due(self.bench.world, self.bench.epoch)
        self.bench.deliver()

    def end(self) -> None:
        """All is listed once more, Slack answers, and what is owed is told."""
        self.bench.slack.troubles.clear()
        self.unread += [work.change() for work in self.works.values()]
        self.watch()
        self.bench.pass_time(minutes=6)
        for _ in range(3):  # the loop looks every half minute, also for what it only found in a channel's history
            self.bench.deliver_all(within=3600)
            self.bench.pass_time(minutes=0.5)

    def wrong(self) -> list[str]:
        """What some owner must have read and did not, or read twice."""
        found = []
        for owner in OWNERS:
            cards = [seen(one.message) for one in self.bench.posted(owner) if one.thread is None]
            lost = self.lost[owner]
            if len(cards) != bool(lost):
                found.append(f"{owner} lost {lost} and has {len(cards)} cards")
                continue
            if not lost:
                continue
            said = " preempted: " if lost == 1 else f" preempted {lost} times in "
            stands = "Running again" if self.runs[owner] else "Back in the queue"
            if said not in cards[0][0] or not any(line.startswith(stands) for line in cards[0]):
                found.append(f"{owner} lost {lost}, runs: {self.runs[owner]}, and reads {cards[0][:2]}")
            notices = Counter(one.notice for one in self.bench.posted(owner))
            found += [f"{owner} got {key} {count} times" for key, count in notices.items() if count > 1]
        return found


def history(new_bench: Callable[[], Any], seed: int, *, forgetful: bool = False) -> list[str]:
    """Thirty things happen, or do not; what is wrong at the end."""
    told = Told(new_bench(), random.Random(seed), forgetful)
    told.begin()
    for _ in range(30):
        told.bench.pass_time(minutes=told.random.choice([0.1, 1, 7]))
        told.random.choice([told.happens, told.watch, told.deliver])()
    told.end()
    return told.wrong()


@given(seed=st.integers(0, 2**32))
def test_each_owner_reads_each_story_once_and_as_it_ended(new_bench: Callable[[], Any], seed: int) -> None:
    assert history(new_bench, seed) == []


def test_the_oracle_sees_a_bot_that_forgets(new_bench: Callable[[], Any]) -> None:
    assert any(history(new_bench, seed, forgetful=True) for seed in range(20))


@pytest.mark.parametrize("point", ["store.begin", "store.commit", "store.committed"])
def test_a_kill_between_storing_and_sending_loses_nothing_and_repeats_nothing(bench: Any, point: str) -> None:
    told = Told(bench, random.Random(1))
    told.begin()
    work = told.works["U0VISION"].evicted(bench.clock())
    gate = Gate()
    gate.plan(kill, matches=point)
    with pytest.raises(Killed):
        observe_work(bench.with_gate(gate), bench.epoch, "default", [work.change()])
    observe_work(bench.world, bench.epoch, "default", [work.change()])
    bench.pass_time(minutes=2)
    bench.deliver_all()
    assert len(bench.posted("U0VISION")) == 1
