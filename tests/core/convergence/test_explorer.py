"""The planner against an adversary: P1 and P3 after every landing; rest, P1 and P2 once the faults stop.

`CONVERGENCE_WALKS=2000 pytest tests/core/convergence/test_explorer.py` walks longer.
"""

import os
from collections import Counter
from dataclasses import replace

import pytest

from tests.support.convergence.exhaust import explore
from tests.support.convergence.explorer import Scenario, walk
from tests.support.convergence.scenarios import BACK_AND_FORTH, EDITS, EVERYTHING, NARROW, NETWORK, PAUSES, SCENARIOS
from tests.support.convergence.world import extra, key_of, queue_of, transfer

WALKS = int(os.environ.get("CONVERGENCE_WALKS", "15"))
FIRST = int(os.environ.get("CONVERGENCE_SEED", "0"))
STEPS = 40
MIXES = {"network": NETWORK, "edits": EDITS, "everything": EVERYTHING, "pauses": PAUSES}

_PAIR = (queue_of("a", 2), queue_of("b", 2))
_CHAIN = (queue_of("a", 1), queue_of("b", 0), queue_of("c", 0))
_ONE = (transfer(1, "a", "b", 1),)
_A, _B, _C = key_of("a"), key_of("b"), key_of("c")

SMALL = [
    (Scenario("nothing goes wrong", _PAIR, _ONE, ()), 4000, True),
    (Scenario("a lost answer", _PAIR, _ONE, (), budgets={"lost answer": 1}), 1000, False),
    (Scenario("a revert and a lost answer", _PAIR, _ONE, (_A,), (2,), {"edit": 1, "lost answer": 1}), 1000, False),
    (Scenario("an edit", _PAIR, _ONE, (_A, _B), (1, 2, 3), {"edit": 1}), 1000, False),
    (Scenario("the database is lost", _PAIR, _ONE, (), budgets={"lose": 1, "strip": 1}), 1000, False),
    (Scenario("a move", _PAIR, _ONE, (), budgets={"move": 1}), 1000, False),
    (
        Scenario("a chain", _CHAIN, (*_ONE, transfer(2, "b", "c", 1)), (_C,), (0, 2), {"edit": 1}),
        1000,
        False,
    ),
    (Scenario("give and take", _PAIR, (*_ONE, extra(2, "a", 2)), (_A,), (2,), {"edit": 1}), 1000, False),
]


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario.name for scenario in SCENARIOS])
def test_random_walks_keep_the_promises(scenario: Scenario, mix: str) -> None:
    happened: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + WALKS):
        happened += walk(replace(scenario, budgets=MIXES[mix]), seed, STEPS)
    assert min(happened[kind] for kind in ("act", "land", "start", "end", "lost answer", "drop")) > 0


@pytest.mark.parametrize("scenario", NARROW, ids=[scenario.name for scenario in NARROW])
def test_random_walks_of_narrow_worlds_keep_the_promises(scenario: Scenario) -> None:
    happened: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + WALKS):
        happened += walk(scenario, seed, STEPS)
    assert {kind for kind in scenario.budgets if happened[kind] == 0} == set()


@pytest.mark.parametrize(("scenario", "at_most", "complete"), SMALL, ids=[scenario.name for scenario, _, _ in SMALL])
def test_every_history_of_a_small_world_keeps_the_promises(scenario: Scenario, at_most: int, complete: bool) -> None:
    done = explore(scenario, at_most)
    assert done.complete is complete
    assert done.finished > 0


def test_a_walk_that_once_ended_with_a_loan_half_there() -> None:
    """A closing write that changed no number, its answer lost; then the loans of the circle were wanted again."""
    happened = walk(replace(BACK_AND_FORTH, budgets={"lost answer": 4, "drop": 2, "edit": 2, "strip": 1}), 152, STEPS)
    assert min(happened[kind] for kind in ("lost answer", "drop", "edit", "strip", "answer")) > 0


def test_walks_meet_every_kind_of_fault() -> None:
    """Over all seeds of the suite, or the tests above would prove less than they say."""
    happened: Counter[str] = Counter()
    for scenario in SCENARIOS:
        for seed in range(1000, 1012):
            happened += walk(replace(scenario, budgets=EVERYTHING), seed, STEPS)
    assert {kind for kind in EVERYTHING if happened[kind] == 0} == set()
