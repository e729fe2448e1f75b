"""Everything that touches the database runs on SQLite and on PostgreSQL, or says at the place why not: a pytest plugin.

`database` is for tests that play on a stage (bot.demo.run_stage and all that is made of it): each stage stands on a
new, migrated database of the kind. A folder or module asks for it once, with `usefixtures`, and its tests run twice.
Tests with a store of their own have fixtures with the same two parameters.

A test that connects to one kind, and has no twin for the other, fails. One that must be so says why:
`@pytest.mark.one_database("...")`.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from weakref import WeakKeyDictionary

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool

from bot.adapters.db import migrate
from bot.demo.run_stage import Stage
from bot.resources import alembic_dir
from tests.support.postgres import PostgresServer

KINDS = ("sqlite", "postgresql")
WHY = "one_database"
_RUNS_ON = pytest.StashKey[frozenset[str]]()
_CONNECTED: set[str] = set()
"""Kinds of database that somebody connected to since the test, or what it stands on, began to be made."""


@dataclass(frozen=True, slots=True)
class Database:
    """The kind that the stages of some tests stand on. What is built on them ends before it does."""

    kind: str
    ends_after: Callable[[Callable[[], object]], None]


@pytest.fixture(scope="module", params=KINDS)
def database(request: pytest.FixtureRequest) -> Iterator[Database]:
    """Stages stand on this kind of database."""
    with ExitStack() as stack:
        if request.param == "postgresql":
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            server: PostgresServer = request.getfixturevalue("postgres")
            new = partial(_new, server, stack)
            urls: WeakKeyDictionary[Stage, str] = WeakKeyDictionary()
            patch.setattr(Stage, "database_url", lambda stage: urls.get(stage) or urls.setdefault(stage, new()))
        yield Database(request.param, request.addfinalizer)


def _new(server: PostgresServer, stack: ExitStack) -> str:
    return stack.enter_context(server.database(migrated(server)))


def migrated(server: PostgresServer) -> str:
    """The name of a template with today's tables."""
    return server.template("migrated", lambda url: migrate.upgrade(url, alembic_dir()))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """A module's stage does not name `database`, and yet must not outlive it."""
    if fixturedef.scope == "module" and fixturedef.argname != "database" and "database" in request.fixturenames:
        under = request.getfixturevalue("database")
        if isinstance(under, Database):
            under.ends_after(partial(fixturedef.finish, request=request))
    return (yield)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{WHY}(reason): runs on one kind of database, for this reason")
    event.listen(Pool, "connect", _connected)
    config.add_cleanup(lambda: event.remove(Pool, "connect", _connected))


def _connected(connection: object, _record: object) -> None:
    _CONNECTED.add("sqlite" if type(connection).__module__.startswith("sqlite3") else "postgresql")


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem() -> Generator[None, object, object]:
    """All cases of a test come together here, also those that this run leaves out."""
    made = yield
    cases = [one for one in made if isinstance(one, pytest.Function)] if isinstance(made, list) else []
    kinds = frozenset(kind for one in cases for kind in KINDS if kind in _parameters(one))
    for one in cases:
        one.stash[_RUNS_ON] = kinds
    return made


def _parameters(item: pytest.Function) -> list[object]:
    return list(item.callspec.params.values()) if hasattr(item, "callspec") else []


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    _CONNECTED.clear()


@pytest.fixture(autouse=True)
def _both_databases(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    mark = request.node.get_closest_marker(WHY)
    runs_on = request.node.stash.get(_RUNS_ON, frozenset())
    if mark is not None:
        assert [len(word) > 10 for word in mark.args] == [True], f"{WHY} takes the reason, in words"
        assert len(runs_on) < len(KINDS), f"it runs on both: {WHY} says otherwise"
    elif len(_CONNECTED) == 1:
        assert runs_on == set(KINDS), (
            f"this connected to {_CONNECTED}, and has no case on the other kind of database: take the fixture"
            f" `database` (or parameters {KINDS}), or say why in @pytest.mark.{WHY}"
        )
