"""A migrated database per test: an SQLite file, one in memory, a PostgreSQL. `database_url` has the two that last."""

import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine

from bot.adapters.db import engine as engines
from bot.adapters.db import migrate
from bot.adapters.db.tables import Base
from bot.adapters.db.unit_of_work import SqlStore
from bot.core.convergence.facts import FieldKey, FieldName, FieldRecord, IntendedField, Intent
from bot.core.inbox import Arrival, InboxItem
from bot.core.loans import Loan, LoanKind
from bot.core.notices import NoticeDraft
from bot.core.requests import ApprovalStep, Ask, QuotaRequest, RequestState
from tests.support.postgres import PostgresServer

NOW = datetime(2026, 3, 29, 1, 30, 0, 123456, tzinfo=UTC)


@pytest.fixture(scope="session")
def scripts() -> Path:
    """The folder of the migrations."""
    return Path(__file__).parents[3] / "alembic"


@pytest.fixture(scope="session")
def sqlite_template(scripts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file to copy."""
    path = tmp_path_factory.mktemp("template") / "bot.db"
    migrate.upgrade(f"sqlite:///{path}", scripts)
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres: PostgresServer, scripts: Path) -> Iterator[str]:
    """A migrated PostgreSQL that tests share; `_url` empties it. (A new one for each test takes a second.)"""
    with postgres.database() as url:
        migrate.upgrade(url, scripts)
        yield url


def _url(kind: str, request: pytest.FixtureRequest) -> str:
    """The URL of a migrated, empty database that several engines can open."""
    if kind == "postgresql":
        url: str = request.getfixturevalue("migrated_postgres")
        _empty(url)
        return url
    copied = shutil.copy(request.getfixturevalue("sqlite_template"), request.getfixturevalue("tmp_path") / "bot.db")
    return f"sqlite:///{copied}"


def _empty(url: str) -> None:
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute("SET LOCAL session_replication_role = replica")  # past the audit's triggers
        connection.execute(f"TRUNCATE {', '.join(Base.metadata.tables)} RESTART IDENTITY".encode())
        connection.execute("INSERT INTO leader (id, epoch) VALUES (1, 0)")


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    return _url(request.param, request)


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """For what goes around the store: what an operator, a crash or another replica does to the database."""
    made = engines.create(database_url)
    yield made
    made.dispose()


@pytest.fixture
def shared_store(engine: Engine) -> SqlStore:
    """A store for tests with several threads or with `engine`: not in memory, where there is one connection."""
    return SqlStore(engine)


@pytest.fixture(params=["sqlite", "memory", "postgresql"])
def store(request: pytest.FixtureRequest, scripts: Path) -> Iterator[SqlStore]:
    """A store on each kind of database."""
    if request.param == "memory":
        engine = engines.create("sqlite://")
        migrate.migrate(engine, scripts)
        yield SqlStore(engine)
        engine.dispose()
        return
    made = SqlStore(engines.create(_url(request.param, request)))
    yield made
    made.close()


class Make:
    """Plausible values; keywords change what a test is about."""

    now = NOW

    @staticmethod
    def later(**by: float) -> datetime:
        return NOW + timedelta(**by)

    @staticmethod
    def request(origin: str = "Ev1", team: str = "vision", **changes: Any) -> QuotaRequest:
        ask = Ask(
            cluster="default",
            team=team,
            queue="team-vision",
            flavor="a100",
            resource="nvidia.com/gpu",
            amount=8,
            kind=LoanKind.TRANSFER,
            lender="team-nlp",
            start=None,
            duration=timedelta(days=3),
            until=None,
            reason="paper deadline",
            requester=changes.pop("requester", "U1"),
        )
        values: dict[str, Any] = {
            "id": 0,
            "ask": ask,
            "state": RequestState.WAITING,
            "created_at": NOW,
            "lapses_at": NOW + timedelta(days=7),
            "origin": origin,
            "steps": (ApprovalStep("leads:nlp"), ApprovalStep("group:platform", 2)),
        }
        return QuotaRequest(**values | changes)

    @staticmethod
    def loan(number: int, **changes: Any) -> Loan:
        values: dict[str, Any] = {
            "id": number,
            "cluster": "default",
            "kind": LoanKind.TRANSFER,
            "lender": "team-nlp",
            "borrower": "team-vision",
            "flavor": "a100",
            "resource": "nvidia.com/gpu",
            "amount": 8,
            "start": NOW,
            "end": NOW + timedelta(days=3),
        }
        return Loan(**values | changes)

    @staticmethod
    def key(queue: str = "team-vision", cluster: str = "default") -> FieldKey:
        return FieldKey(cluster, queue, "a100", "nvidia.com/gpu", FieldName.NOMINAL)

    @classmethod
    def record(cls, **changes: Any) -> FieldRecord:
        values: dict[str, Any] = {"key": cls.key(), "uid": "u-1", "seq": 3, "base": 8, "legs": {"L1": 2}, "wrote": 10}
        return FieldRecord(**values | changes)

    @classmethod
    def intent(cls, name: str = "i-1", cluster: str = "default", **changes: Any) -> Intent:
        values: dict[str, Any] = {
            "id": name,
            "cluster": cluster,
            "queue": "team-vision",
            "uid": "u-1",
            "resource_version": "4711",
            "generation": 4,
            "epoch": 1,
            "fields": (IntendedField(cls.key(), seq=4, base=8, legs={"L1": 2}, wrote=10, lending_base=4),),
            "created_at": NOW,
        }
        return Intent(**values | changes)

    @staticmethod
    def item(key: str = "k1", received_at: datetime = NOW, payload: dict[str, Any] | None = None) -> InboxItem:
        return InboxItem(key, Arrival.COMMAND, "request", payload or {"text": "request 8 a100"}, received_at)

    @staticmethod
    def draft(key: str = "card:142:C1", **changes: Any) -> NoticeDraft:
        values: dict[str, Any] = {"key": key, "kind": "request_card", "to": "C1", "facts": {"request": 142}}
        return NoticeDraft(**values | changes)


@pytest.fixture(scope="session")
def make() -> type[Make]:
    return Make


@pytest.fixture(scope="session")
def together() -> Callable[..., list[Any]]:
    """`together(f, g, ...)` runs each in a thread of its own, begun at one barrier; results or exceptions in order."""

    def run(*functions: Callable[[], Any]) -> list[Any]:
        barrier = threading.Barrier(len(functions))

        def meet(function: Callable[[], Any]) -> Any:
            barrier.wait(timeout=30)
            try:
                return function()
            except Exception as error:
                return error

        with ThreadPoolExecutor(len(functions)) as threads:
            return list(threads.map(meet, functions))

    return run
