"""Every case is played on an SQLite file and on PostgreSQL."""

import pytest

from tests.support.databases import Database


@pytest.fixture(autouse=True, scope="module")
def _on_both(database: Database) -> None:
    """What a module's stage stands on."""
