"""Deliberate mistakes are caught: each within so many histories, and the run says by which promise."""

import os
from collections.abc import Callable

import pytest

from tests.histories.harness.history import run
from tests.histories.harness.mistakes import MISTAKES, RARE, Mistake

WITHIN = 60
"""Histories in which a mistake must show."""
FOR_RARE = int(os.environ.get("HISTORIES_FOR_RARE", "0"))
TRIED: list[tuple[str, Mistake, int]] = [
    *((name, mistake, WITHIN) for name, mistake in MISTAKES.items()),
    *((name, mistake, FOR_RARE) for name, mistake in RARE.items() if FOR_RARE),
]


@pytest.mark.parametrize(("name", "mistake", "within"), TRIED, ids=[name for name, _, _ in TRIED])
def test_the_mistake_is_caught(
    name: str,
    mistake: Mistake,
    within: int,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    mistake(monkeypatch)
    for seed in range(within):
        history = run(seed)
        if history.broken:
            record_property("summary: what caught the deliberate mistakes", f"{name}: seed {seed}, {history.broken[0]}")
            return
    pytest.fail(f"{within} histories saw nothing of: {name}")
