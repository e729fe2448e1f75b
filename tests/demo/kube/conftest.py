"""A simulator with a clock that stands still, and the recorded answers of the real servers."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.demo.kube.sim import KubeSim

CAPTURES = Path(__file__).parents[2] / "captures"


class Clock:
    def __init__(self) -> None:
        self.at = datetime(2026, 12, 2, 7, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def advance(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sim(clock: Clock) -> KubeSim:
    return KubeSim(clock)


@pytest.fixture(scope="session")
def captured() -> Callable[[str], list[dict[str, Any]]]:
    """The recorded requests and answers of a file in tests/captures."""
    return lambda name: json.loads((CAPTURES / name).read_text())
