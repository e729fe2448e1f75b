"""Deliberate mistakes are caught: each within so many histories, and the run says by which promise."""

from collections.abc import Callable

import pytest

from tests.histories.harness.history import run
from tests.histories.harness.mistakes import MISTAKES

WITHIN = 60
"""Histories in which a mistake must show."""


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    MISTAKES[name](monkeypatch)
    for seed in range(WITHIN):
        history = run(seed)
        if history.broken:
            record_property("summary: what caught the seeded mistakes", f"{name}: seed {seed}, {history.broken[0]}")
            return
    pytest.fail(f"{WITHIN} histories saw nothing of: {name}")
