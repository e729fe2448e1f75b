"""Worlds with the real bot as processes: on an SQLite file, on PostgreSQL, and one in this process for outages."""

from collections.abc import Iterator

import pytest

from bot.demo.run_stage import Stage
from tests.support.outside import Outside


@pytest.fixture(params=["sqlite", "postgresql"])
def outside(request: pytest.FixtureRequest) -> Iterator[Outside]:
    """No bot runs yet."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    with Outside(url) as world:
        yield world


@pytest.fixture
def alone() -> Iterator[Outside]:
    """On SQLite; no bot runs yet."""
    with Outside() as world:
        yield world


@pytest.fixture
def replicas(postgres_url: str) -> Iterator[Outside]:
    """For several processes on one PostgreSQL."""
    with Outside(postgres_url) as world:
        yield world


@pytest.fixture
def stage() -> Iterator[Stage]:
    """The bot in this process, so that a test can move its clock."""
    with Stage() as world:
        yield world
