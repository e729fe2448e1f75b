"""The explorer is worth something: it catches each of these mistakes within a bounded number of walks."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.convergence.explorer import Scenario, walk
from tests.support.convergence.mistakes import MISTAKES, Mistake
from tests.support.convergence.scenarios import EDITS, EVERYTHING, NARROW, NETWORK, SCENARIOS

SEEDS = 100
"""At most so many walks, with every mix of faults."""


def _worlds(name: str) -> list[Scenario]:
    narrow = [scenario for scenario in NARROW if scenario.name == name]
    broad = [scenario for scenario in SCENARIOS if scenario.name == name]
    return narrow + [replace(scenario, budgets=mix) for scenario in broad for mix in (NETWORK, EDITS, EVERYTHING)]


def _caught(scenarios: Sequence[Scenario]) -> str | None:
    """When the mistake shows, and the promise that it breaks."""
    for seed in range(SEEDS):
        for scenario in scenarios:
            try:
                walk(scenario, seed, 40)
            except AssertionError as broken:
                first = str(broken).splitlines()[0] if str(broken) else "an assertion of the planner"
                return f"{scenario.name}, seed {seed}: {first}"
    return None


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_the_explorer_catches(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake.make(monkeypatch)
    caught = _caught(_worlds(mistake.where))
    print(f"{mistake.name} -> {caught}")  # noqa: T201
    assert caught is not None
