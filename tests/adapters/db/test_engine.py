"""Connections: which URLs are taken, how SQLite is set up, and what a failing database looks like to the rest."""

import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from sqlalchemy.exc import ResourceClosedError

from bot.adapters.db import engine as engines
from bot.adapters.db import unit_of_work
from bot.adapters.db.unit_of_work import SqlStore
from bot.core.errors import Refused, Stale, Unavailable
from bot.core.requests import Approval

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("text", "driver"),
    [
        ("sqlite:///bot.db", "sqlite"),
        ("sqlite:////var/lib/bot.db", "sqlite"),
        ("sqlite://", "sqlite"),
        ("postgresql+psycopg://user@host/name", "postgresql+psycopg"),
        ("postgresql://user@host/name", "postgresql+psycopg"),
        ("postgres://user:pw@host:5432/name?sslmode=require", "postgresql+psycopg"),
    ],
)
def test_urls_that_are_taken(text, driver) -> None:
    assert engines.parse_url(text).drivername == driver


@pytest.mark.parametrize(
    "text",
    [
        "",
        "bot.db",
        "/var/lib/bot.db",
        "mysql://user:s3cret@host/name",
        "postgresql+asyncpg://user:s3cret@host/name",
        "postgresql://user:s3cret@host:port/name",
        "sqlite:///bot.db?mode=ro",
        "sqlite:///file:bot.db",
    ],
)
def test_urls_that_are_refused_say_what_to_write_and_keep_the_password(text) -> None:
    with pytest.raises(Refused) as refusal:
        engines.parse_url(text)
    assert "sqlite:///" in refusal.value.sentence
    assert "s3cret" not in refusal.value.sentence


@pytest.mark.one_database("about SQLite's pragmas")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_sqlite_is_set_up_on_every_connection(engine) -> None:
    with engine.connect() as one, engine.connect() as other:
        for connection in (one, other):
            pragmas = [
                connection.connection.cursor().execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            ]
            assert pragmas == ["wal", 1, 1, 5000]


@pytest.mark.one_database("PostgreSQL's server is not the process that is killed")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_what_was_committed_survives_the_kill_of_the_process(database_url, shared_store, make) -> None:
    program = textwrap.dedent(f"""
        import os, signal
        from datetime import UTC, datetime
        from bot.adapters.db import engine
        from bot.adapters.db.unit_of_work import SqlStore
        from bot.core.inbox import Arrival, InboxItem
        store = SqlStore(engine.create({database_url!r}))
        def item(key):
            return InboxItem(key, Arrival.COMMAND, "", {{}}, datetime.now(UTC))
        with store.begin() as work:
            work.inbox.put([item("committed")])
            work.commit()
        with store.begin() as work:
            work.inbox.put([item("not committed")])
            os.kill(os.getpid(), signal.SIGKILL)
    """)
    killed = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    with shared_store.begin() as work:
        assert not work.inbox.put([make.item("committed")])
        assert work.inbox.put([make.item("not committed")])


def test_a_read_does_not_write(store, make) -> None:
    with pytest.raises(Unavailable), store.read() as work:
        work.inbox.put([make.item()])
    with store.begin() as work:
        assert work.inbox.put([make.item()]) == {make.item().key}


def test_a_read_sees_one_moment(shared_store, make) -> None:
    with shared_store.read() as reading:
        assert reading.requests.find() == []
        with shared_store.begin() as work:
            work.requests.add(make.request())
            work.loans.add(make.loan(1))
            work.commit()
        assert reading.requests.find() == []
        assert reading.loans.find() == []
    with shared_store.read() as reading:
        assert len(reading.loans.find()) == 1


def test_after_the_commit_nothing_can_be_done(store, make) -> None:
    with store.begin() as work:
        work.commit()
        with pytest.raises(ResourceClosedError):
            work.requests.add(make.request())


def test_a_failure_carries_no_values(store, make) -> None:
    """Payloads have response URLs in them, which are secrets, and tracebacks go to the log."""
    with pytest.raises(Stale) as failure, store.begin() as work:
        work.requests.approve(Approval(99, 0, "U-SECRET", make.now))
    assert "U-SECRET" not in f"{failure.value}{failure.value.__cause__}"


def test_a_server_that_is_not_there_is_unavailable(tmp_path) -> None:
    store = SqlStore(engines.create(f"postgresql://bot:s3cret@/name?host={tmp_path}"))
    with pytest.raises(Unavailable) as failure, store.read() as work:
        work.requests.get(1)
    assert failure.value.what == "database"
    assert "s3cret" not in str(failure.value)
    assert len(failure.value.why) <= 300


@pytest.mark.one_database("a file has no connection to lose")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_lost_connection_is_unavailable_and_the_next_transaction_works(shared_store, engine, make) -> None:
    with shared_store.read():
        pass
    others = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND datname = current_database()"
    )

    def lose_the_connection():
        with shared_store.begin() as work:
            work.requests.add(make.request())
            with engine.connect() as connection:
                assert connection.exec_driver_sql(others).scalar_one() >= 1
            work.requests.add(make.request("Ev2"))

    with pytest.raises(Unavailable):
        lose_the_connection()
    with shared_store.begin() as work:
        assert work.requests.find() == []


@pytest.mark.one_database("about PostgreSQL's time limits")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
@pytest.mark.parametrize(
    ("limit", "statement"),
    [("statement_timeout", "SELECT pg_sleep(60)"), ("lock_timeout", "SELECT 1 FROM leader FOR UPDATE")],
)
def test_a_wait_that_is_too_long_is_unavailable(shared_store, engine, limit, statement) -> None:
    def wait():
        with shared_store.begin() as work:
            work.leadership._connection.exec_driver_sql(f"SET LOCAL {limit} = '10ms'")
            work.leadership._connection.exec_driver_sql(statement)

    with engine.connect() as holder:
        holder.exec_driver_sql("SELECT 1 FROM leader FOR UPDATE")
        with pytest.raises(Unavailable, match="timeout"):
            wait()


@pytest.mark.one_database("about PostgreSQL's time limits")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_no_wait_is_without_an_end(engine) -> None:
    with engine.connect() as connection:
        for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
            assert connection.exec_driver_sql(f"SHOW {name}").scalar_one() != "0"


@pytest.mark.one_database("SQLite has one writer at a time")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_deadlock_is_stale_for_one_of_the_two(shared_store, make, together) -> None:
    """It lost a race: reading and deciding again is right, trying the same later is not."""
    with shared_store.begin() as work:
        loans = [work.loans.add(make.loan(number)) for number in (1, 2)]
        work.commit()
    both_have_one = threading.Barrier(2)

    def update(first, second):
        def run():
            with shared_store.begin() as work:
                work.loans.update(first)
                both_have_one.wait(timeout=30)
                work.loans.update(second)
                work.commit()
                return "done"

        return run

    results = together(update(*loans), update(*reversed(loans)))
    assert sorted(str(type(result).__name__) for result in results) == ["Stale", "str"]


@pytest.mark.one_database("about SQLite's file")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_file_that_another_program_holds_is_unavailable(database_url, monkeypatch) -> None:
    monkeypatch.setattr(engines, "LONGEST_WAIT", 0)
    engine = engines.create(database_url)
    holder = sqlite3.connect(engine.url.database, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked"), SqlStore(engine).begin():
        pass
    holder.close()
    with SqlStore(engine).begin() as work:
        assert work.requests.find() == []
    engine.dispose()


@pytest.mark.one_database("about SQLite's file")
@pytest.mark.parametrize("content", [b"this is not a database, but it is long enough to be read as one" * 20, None])
def test_a_file_that_is_no_database_is_unavailable(tmp_path, content) -> None:
    path = tmp_path / "folder" / "bot.db"
    if content is not None:
        path.parent.mkdir()
        path.write_bytes(content)
    engine = engines.create(f"sqlite:///{path}")
    with pytest.raises(Unavailable), SqlStore(engine).read() as work:
        work.requests.get(1)
    engine.dispose()


@pytest.mark.one_database("about SQLite's one writer at a time")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_transaction_inside_another_fails_instead_of_hanging(shared_store, monkeypatch) -> None:
    monkeypatch.setattr(unit_of_work, "LONGEST_WAIT", 0.01)
    with shared_store.begin() as outer:
        with pytest.raises(Unavailable, match="another transaction"), shared_store.begin():
            pass
        assert outer.requests.find() == []


def test_who_is_alone_sees_what_the_one_before_did(shared_store, make, together) -> None:
    """A limit on a team's requests holds although no row is compared: count, then add, one after the other."""

    def add_the_only_one(number):
        def run():
            with shared_store.begin() as work:
                work.alone("team:vision")
                if work.requests.find(teams=["vision"]):
                    return False
                work.requests.add(make.request(f"Ev{number}"))
                work.commit()
                return True

        return run

    assert sorted(together(*(add_the_only_one(number) for number in range(4)))) == [False, False, False, True]


@pytest.mark.one_database("SQLite has one writer at a time")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_who_is_alone_with_another_thing_waits_for_nobody(shared_store) -> None:
    with shared_store.begin() as one, shared_store.begin() as other:
        one.alone("team:vision")
        other.alone("team:nlp")
        assert other.requests.find() == []


def test_writers_take_turns(shared_store, make, together) -> None:
    """Read, then write, in one transaction, from many threads: none is refused, none is lost."""

    def add(number):
        def run():
            with shared_store.begin() as work:
                work.requests.find()
                added = work.requests.add(make.request(f"Ev{number}"))
                work.commit()
                return added.id

        return run

    numbers = together(*(add(number) for number in range(12)))
    assert sorted(numbers) == list(range(1, 13))
