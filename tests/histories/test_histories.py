"""P1 to P5 and P8 over histories: overlapping loans, hand edits, two replicas, kills and outages at any step.

`HISTORIES` says how many (default 2,200), `HISTORIES_FROM` the first seed. A history is the same for its seed:
`python -m tests.histories.harness.replay SEED` shows what happened.
"""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.histories.harness.coverage import collect, leave, missing, table
from tests.histories.harness.history import run

HISTORIES = int(os.environ.get("HISTORIES", "2200"))
FIRST = int(os.environ.get("HISTORIES_FROM", "0"))
SHARDS = 24
LEAST_STEPS = 20
LATER_STEPS = (
    *("ask extra", "tick over-commit", "cordon node"),
    *("offer", "accept offer", "keep what was asked", "accept and decide race"),
    *("extend", "pause", "resume"),
    *("loans lie idle", "return what is idle", "keep what is idle", "a job begins", "a job is done"),
    *("submit work", "loan ends with work", "work ends", "extend after the end"),
    *("flavor removed", "Kueue takes over", "Kueue lets go"),
    *("edit ResourceQuota", "take out its key", "re-create ResourceQuota"),
    *("ask series", "stop series"),
    *("merge proposal", "merge half", "merge another number", "merge what was taken back"),
)
"""They came after the histories that were hard once, which would be others with them."""
ENOUGH_FOR_ALL_PAIRS = 2000
"""A shorter run prints its pairs and does not ask for all of them."""


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run have."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "histories"


def _seeds(shard: int) -> range:
    return range(FIRST + shard * HISTORIES // SHARDS, FIRST + (shard + 1) * HISTORIES // SHARDS)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_promise_holds_in_every_history(
    shard: int, shared: Path, record_property: Callable[[str, object], None]
) -> None:
    pairs: Counter[tuple[str, str]] = Counter()
    for seed in _seeds(shard):
        history = run(seed, LEAST_STEPS)
        assert not history.broken, str(history)
        assert len(history.steps) > LEAST_STEPS
        assert history.faults, f"seed {seed} met no fault"
        pairs += history.pairs
    leave(shared, shard, pairs)
    together = collect(shared, SHARDS)
    if together is not None:
        record_property("summary: pairs of step and fault in histories", table(together))
        assert not missing(together) or HISTORIES < ENOUGH_FOR_ALL_PAIRS


@pytest.mark.parametrize(
    ("seed", "what"),
    [
        (574, "put back twice: the second before the first was written"),
        (1178, "put back, then edited again before the bot wrote"),
        (1770, "put back twice, where two loans are given"),
        (2151, "the lender of a number in question is deleted"),
        (5613, "somebody types the number of a write whose answer was lost"),
        (6272, "the number changes after the question was asked again"),
    ],
)
def test_what_was_hard_once_holds(seed: int, what: str) -> None:
    """Histories that showed a mistake, of the bot or of the oracle, with the steps that there were then."""
    history = run(seed, LEAST_STEPS, LATER_STEPS)
    assert not history.broken, f"{what}: {history}"
