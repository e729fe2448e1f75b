"""Random walks with queues in Git: merges at any time, in any order, or never, judged from the live numbers."""

import random
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from bot.core.convergence import order, steps
from bot.core.convergence.proposals import Proposing
from bot.flows import plan_quota
from bot.flows.converge_memory import ConvergeMemory
from bot.flows.end_loan import end_loan
from tests.support import quota
from tests.support.git_queues import in_git

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

BASE = {"nlp": 24, "vision": 16, "robotics": 8}
TOTAL = sum(BASE.values())
STEPS = 25


class Walk:
    """One bench, some of whose queues are in Git for all the walk."""

    def __init__(self, bench: "Bench", seed: int) -> None:
        self.bench, self.random = bench, random.Random(seed)
        self.in_git = self.random.sample(sorted(BASE), self.random.randint(1, 3))
        bench.policy = in_git(*self.in_git)
        self.done: list[str] = []

    def step(self) -> None:
        act: Callable[[], None] = self.random.choice(
            [self.lend, self.lend, self.merge, self.merge, self.merge, self.end, self.hours, self.restart]
        )
        self.done.append(act.__name__)
        act()
        self.look()

    def look(self) -> None:
        self.bench.converge()
        self.bench.deliver_all()
        numbers = {name: self.bench.number(name) for name in BASE}
        assert sum(numbers.values()) <= TOTAL, self.done
        after = [max(numbers[name], self.open().get(name, 0)) for name in BASE]
        assert sum(after) <= TOTAL, f"what is proposed could be merged at any time, {self.done}"
        wrote = [one for one in self.bench.kube.history if one.manager == "gpu-quota-bot" and one.name in self.in_git]
        assert not wrote, self.done

    def open(self) -> dict[str, int]:
        """By queue: the number that is proposed."""
        numbers = {}
        for one in self.bench.store.tables.proposals.values():
            for part in one.fields if one.ended is None else ():
                assert part.after.wrote is not None
                numbers[one.queue] = part.after.wrote
        return numbers

    def lend(self) -> None:
        lender, borrower = self.random.sample(sorted(BASE), 2)
        ask = quota.transfer(self.random.randint(1, 3), lender, queue=borrower, team=borrower)
        self.bench.approved(ask)

    def merge(self) -> None:
        if waiting := sorted(self.open().items()):
            self.bench.set_nominal(*self.random.choice(waiting))

    def end(self) -> None:
        if loans := [loan for loan in self.bench.store.tables.loans.values() if loan.ended_at is None]:
            loan = self.random.choice(loans)
            end_loan(self.bench.world, loan.id, "needed", "U0ADMIN", self.bench.arrival(f"end-{loan.id}"))

    def hours(self) -> None:
        self.bench.pass_time(hours=self.random.choice([1, 5, 30]))

    def restart(self) -> None:
        self.bench.memory = ConvergeMemory()

    def finish(self) -> None:
        """Everything is over, and merged one after another."""
        self.bench.pass_time(days=20)
        self.look()
        for _ in range(60):
            if not self.open():
                break
            self.merge()
            self.look()


@pytest.mark.parametrize("seed", range(40))
def test_nothing_from_nowhere_nothing_written_and_all_given_back(new_bench: Callable[[], "Bench"], seed: int) -> None:
    bench = new_bench()
    walk = Walk(bench, seed)
    for _ in range(STEPS):
        walk.step()
    walk.finish()
    assert {name: bench.number(name) for name in BASE} == BASE, walk.done
    assert not any(record.legs for record in bench.store.tables.records.values())
    assert not bench.keys("edit:"), "a merge of what is proposed is nobody's outside edit"
    told = Counter(row.notice.draft.key for row in bench.store.tables.notices.values())
    assert {key for key in told if key.startswith("proposal:")} == {
        f"proposal:{name}" for name in bench.store.tables.proposals
    }
    in_force = [key for key in told if key.startswith("loan_in_force")]
    assert len(in_force) == len({key.split(":")[1] for key in in_force}), "told once"


def _borrower_first(patch: pytest.MonkeyPatch) -> None:
    """Everything is written or proposed at once, whatever has landed on the other side."""
    patch.setattr(steps, "_step_of_leg", lambda _look, _goal, _now, target: (target, None))
    patch.setattr(order._Group, "blocker", lambda *_: None)


def _writes_after_all(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks whether a queue is in Git."""
    patch.setattr(plan_quota, "_proposing", lambda *_: Proposing())


@pytest.mark.parametrize("mistake", [_borrower_first, _writes_after_all])
def test_the_walks_see_a_mistake(
    mistake: Callable[[pytest.MonkeyPatch], None], new_bench: Callable[[], "Bench"], monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake(monkeypatch)

    def walk_all() -> None:
        for seed in range(40):
            walk = Walk(new_bench(), seed)
            for _ in range(STEPS):
                walk.step()

    with pytest.raises(AssertionError):
        walk_all()
