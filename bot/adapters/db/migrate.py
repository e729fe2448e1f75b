"""Bringing the schema up to date, and refusing to run on another one. Called by `db upgrade` and before `run` starts.

The scripts' folder comes as an argument: whoever calls knows where the installed package keeps `alembic/`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, text

from bot.adapters.db import engine as engines
from bot.adapters.db import lock
from bot.adapters.db.failures import translated
from bot.core.errors import Refused

HEAD = "0020"
"""The revision that tables.py describes. Revisions are numbered, so that older and newer can be told apart."""

_ONE_AT_A_TIME = 4_714_551_002  # any number: the key of PostgreSQL's advisory lock
_LONGEST_MIGRATION = "10min"


def upgrade(database_url: str, scripts: Path) -> None:
    """Bring the database up to date, alone: under the process lock on SQLite, one replica after another on PostgreSQL.

    Raises Refused (another process has the lock, the URL is wrong) or Unavailable.
    """
    with lock.hold(database_url):
        engine = engines.create(database_url)
        try:
            migrate(engine, scripts)
        finally:
            engine.dispose()


def migrate(engine: Engine, scripts: Path) -> None:
    """As `upgrade`, with an engine (of a database in memory, say) and without the process lock."""
    with transaction(engine, scripts) as config:
        command.upgrade(config, "head")


@contextmanager
def transaction(engine: Engine, scripts: Path) -> Iterator[Config]:
    """A configuration for alembic's commands; what they do is one transaction."""
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    with translated(engine.url), engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            for name in ("lock_timeout", "statement_timeout"):
                connection.execute(text(f"SET LOCAL {name} = '{_LONGEST_MIGRATION}'"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ONE_AT_A_TIME})
        config.attributes["connection"] = connection
        yield config


def checked(database_url: str) -> Engine:
    """An engine for a database with the right schema. Raises as `check_schema`, with no connection left open."""
    engine = engines.create(database_url)
    try:
        check_schema(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def check_schema(engine: Engine) -> None:
    """Raise Refused, with what to do, unless the schema is the one this program was written for. Or Unavailable."""
    revision = _revision(engine)
    if revision == HEAD:
        return
    if revision is None:
        raise Refused("The database has no tables yet. Run `gpu-quota-bot db upgrade` first.")
    if revision < HEAD:
        raise Refused(
            f"The database has schema {revision} and this version needs {HEAD}. Make a backup, then run "
            "`gpu-quota-bot db upgrade`."
        )
    raise Refused(
        f"The database has schema {revision} and this version knows {HEAD} at most: a newer version has been here. "
        "Run that version, or restore the backup from before the upgrade."
    )


def _revision(engine: Engine) -> str | None:
    with translated(engine.url), engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()
