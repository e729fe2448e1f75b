"""Migrations: they make what tables.py says, on both databases, alone, and all or nothing."""

import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from bot.adapters.db import engine as engines
from bot.adapters.db import lock, migrate
from bot.adapters.db.tables import Base
from bot.adapters.db.unit_of_work import SqlStore
from bot.core.errors import Refused, Unavailable
from bot.core.requests import Approval

ROOT = Path(__file__).parents[3]


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request, tmp_path):
    return request.getfixturevalue("postgres_url") if request.param == "postgresql" else f"sqlite:///{tmp_path}/bot.db"


@pytest.fixture
def database_url(empty_url, scripts):
    """A migrated database that no other test sees, since these change the schema."""
    migrate.upgrade(empty_url, scripts)
    return empty_url


def drift(engine):
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "target_metadata": Base.metadata}
        )
        return compare_metadata(context, Base.metadata)


def test_the_migrations_make_the_tables(engine) -> None:
    assert drift(engine) == []
    assert set(inspect(engine).get_table_names()) == {*Base.metadata.tables, "alembic_version"}


def test_a_drift_would_be_seen(engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE loan ADD COLUMN colour TEXT"))
        connection.execute(text("DROP INDEX ix_loan_state"))
    assert len(drift(engine)) == 2


def test_down_to_nothing_and_up_again(engine, scripts, make) -> None:
    with migrate.transaction(engine, scripts) as config:
        command.downgrade(config, "base")
    assert inspect(engine).get_table_names() == ["alembic_version"]
    migrate.migrate(engine, scripts)
    assert drift(engine) == []
    migrate.check_schema(engine)


@pytest.mark.one_database("SQLite has no functions of its own")
@pytest.mark.parametrize("empty_url", ["postgresql"], indirect=True)
def test_down_leaves_no_function_behind(engine, scripts) -> None:
    functions = "SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
    with engine.connect() as connection:
        assert connection.execute(text(functions)).scalar_one() == 1
    with migrate.transaction(engine, scripts) as config:
        command.downgrade(config, "base")
    with engine.connect() as connection:
        assert connection.execute(text(functions)).scalar_one() == 0


def test_the_program_knows_the_newest_revision(scripts) -> None:
    config = Config()
    config.set_main_option("script_location", str(scripts))
    directory = ScriptDirectory.from_config(config)
    assert directory.get_heads() == [migrate.HEAD]
    revisions = [script.revision for script in directory.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)


def test_requests_and_approvals_of_before_the_offers_are_kept(engine, scripts, make) -> None:
    """Down drops what the older schema has no place for; up again, all else is as it was."""
    store = SqlStore(engine)
    with store.begin() as work:
        request = work.requests.add(make.request())
        first = Approval(request.id, 0, "U5", make.now)
        work.requests.approve(first)
        work.requests.update(replace(request, terms=1))
        work.requests.approve(replace(first, terms=1, at=make.later(hours=1)))
        work.commit()
    with migrate.transaction(engine, scripts) as config:
        command.downgrade(config, "0001")
    migrate.migrate(engine, scripts)
    assert drift(engine) == []
    with store.read() as work:
        assert work.requests.get(request.id) == replace(request, version=2)
        assert [(one.at, one.terms) for one in work.requests.approvals(request.id)] == [(make.later(hours=1), 0)]


def test_upgrading_again_changes_nothing(engine, database_url, scripts, make) -> None:
    migrate.upgrade(database_url, scripts)
    migrate.check_schema(engine)


def test_a_current_schema_is_accepted(engine) -> None:
    assert migrate.check_schema(engine) is None


@pytest.mark.parametrize(("found", "words"), [("0000", "gpu-quota-bot db upgrade"), ("9999", "a newer version")])
def test_another_schema_is_refused_with_what_to_do(engine, found, words) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :found"), {"found": found})
    with pytest.raises(Refused) as refusal:
        migrate.check_schema(engine)
    assert words in refusal.value.sentence
    assert found in refusal.value.sentence
    assert migrate.HEAD in refusal.value.sentence


def test_an_empty_database_is_refused_with_what_to_do(empty_url) -> None:
    engine = engines.create(empty_url)
    with pytest.raises(Refused, match="gpu-quota-bot db upgrade"):
        migrate.check_schema(engine)
    engine.dispose()


def test_a_server_that_is_not_there_is_unavailable_not_old(tmp_path) -> None:
    engine = engines.create(f"postgresql://user@/name?host={tmp_path}")
    with pytest.raises(Unavailable):
        migrate.check_schema(engine)


@pytest.mark.one_database("the lock file is SQLite's own")
@pytest.mark.parametrize("empty_url", ["sqlite"], indirect=True)
def test_a_running_bot_on_sqlite_is_not_migrated(database_url, scripts) -> None:
    with lock.hold(database_url), pytest.raises(Refused, match="in use"):
        migrate.upgrade(database_url, scripts)


@pytest.mark.one_database("there are replicas on PostgreSQL only")
def test_replicas_that_migrate_at_once_wait_for_each_other(postgres_url, scripts, together) -> None:
    results = together(*(lambda: migrate.upgrade(postgres_url, scripts) for _ in range(3)))
    assert results == [None, None, None]
    engine = engines.create(postgres_url)
    assert drift(engine) == []
    engine.dispose()


@pytest.fixture
def broken(scripts, tmp_path):
    """The migrations, and one more that fails half way. In a folder with a difficult name."""
    folder = shutil.copytree(scripts, tmp_path / "scripts 100%(here)s", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "9999_broken.py").write_text(
        textwrap.dedent(f"""
            import sqlalchemy as sa
            from alembic import op

            revision = "9999"
            down_revision = "{migrate.HEAD}"


            def upgrade():
                op.create_table("half", sa.Column("id", sa.Integer(), primary_key=True))
                op.execute("INSERT INTO leader (id, epoch) VALUES (1, 0)")
        """)
    )
    return folder


def test_a_migration_that_fails_half_way_leaves_nothing_behind(engine, broken) -> None:
    with pytest.raises(Exception, match=r"(?i)unique"):
        migrate.migrate(engine, broken)
    migrate.check_schema(engine)
    assert drift(engine) == []


def test_the_ini_file_works_from_any_folder(tmp_path, scripts, empty_url) -> None:
    """For those who write migrations with alembic's own command."""
    environment = {**os.environ, "DATABASE_URL": empty_url, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-m", "alembic", "-c", scripts / "alembic.ini", "upgrade", "head"],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        timeout=60,
    )
    engine = engines.create(empty_url)
    migrate.check_schema(engine)
    engine.dispose()
