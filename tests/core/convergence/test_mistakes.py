"""The explorer is worth something: it catches each of these mistakes within a bounded number of walks."""

from dataclasses import replace

import pytest

from tests.support.convergence.explorer import walk
from tests.support.convergence.mistakes import MISTAKES, Mistake
from tests.support.convergence.scenarios import EDITS, EVERYTHING, NARROW, NETWORK, SCENARIOS

SEEDS = 100
"""At most so many walks of every narrow scenario."""
BROAD_SEEDS = 30
"""At most so many of every broad one, with every mix of faults."""
BROAD = [replace(scenario, budgets=mix) for scenario in SCENARIOS for mix in (NETWORK, EDITS, EVERYTHING)]


def _caught() -> str | None:
    """Where a mistake first shows, and the promise that it breaks."""
    for seed in range(SEEDS):
        for scenario in (*NARROW, *(BROAD if seed < BROAD_SEEDS else ())):
            try:
                walk(scenario, seed, 40)
            except AssertionError as broken:
                first = str(broken).splitlines()[0] if str(broken) else "an assertion of the planner"
                return f"{scenario.name}, seed {seed}: {first}"
    return None


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_the_explorer_catches(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake.make(monkeypatch)
    caught = _caught()
    print(f"{mistake.name} -> {caught}")  # noqa: T201
    assert caught is not None
