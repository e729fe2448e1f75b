"""The only asker of the time. Built by app.py and handed to whoever needs it."""

from datetime import UTC, datetime


def system_clock() -> datetime:
    """Now, aware, UTC."""
    return datetime.now(UTC)
