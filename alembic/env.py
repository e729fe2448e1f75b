"""Runs the migrations: on the connection that `bot.adapters.db.migrate` hands over, or else on DATABASE_URL."""

import os

from alembic import context
from sqlalchemy import Connection

from bot.adapters.db import engine as engines
from bot.adapters.db import (
    eviction_table,
    home_table,
    idle_tables,
    incident_tables,
    lost_name_table,
    position_table,
    proposal_table,
    tables,
    unanswered_tables,
)

TABLES = (
    tables,
    eviction_table,
    home_table,
    idle_tables,
    incident_tables,
    lost_name_table,
    position_table,
    proposal_table,
    unanswered_tables,
)
"""All modules with tables: they are known once they are imported."""


def run(connection: Connection) -> None:
    """All steps in the transaction of `connection`, which the caller ends."""
    context.configure(
        connection=connection,
        target_metadata=tables.Base.metadata,
        render_as_batch=True,  # SQLite cannot alter most things in place
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run(given)
else:
    engine = engines.create(os.environ["DATABASE_URL"])
    with engine.begin() as own:
        run(own)
    engine.dispose()
