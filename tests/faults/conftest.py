"""Worlds with the real bot as processes or in this one, on an SQLite file and on PostgreSQL."""

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
    """On SQLite, for what only a file can suffer; no bot runs yet."""
    with Outside() as world:
        yield world


@pytest.fixture
def replicas(postgres_url: str) -> Iterator[Outside]:
    """For several processes on one PostgreSQL."""
    with Outside(postgres_url) as world:
        yield world


class _StageOn(Stage):
    def __init__(self, database_url: str) -> None:
        super().__init__()
        self._database_url = database_url

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "DATABASE_URL": self._database_url}


@pytest.fixture(params=["sqlite", "postgresql"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    """The bot in this process, so that a test can move its clock."""
    on_postgres = request.param == "postgresql"
    with _StageOn(request.getfixturevalue("postgres_url")) if on_postgres else Stage() as world:
        yield world
