"""The only asker of the time and maker of ids. Handed by app to whoever needs it."""

import uuid
from datetime import UTC, datetime


def system_clock() -> datetime:
    """Now, aware, UTC."""
    return datetime.now(UTC)


def new_id() -> str:
    """Opaque, never the same twice, not to be guessed."""
    return uuid.uuid4().hex
