"""A stop of quota changes by an admin: nothing new is raised while it lasts, returns and ends go on.

Set by flows/pause_quota; a fact of every plan of convergence, and said wherever people look.
"""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Pause:
    """Who stopped it, and since when."""

    who: str
    """User id."""
    name: str
    """Who that is, as Slack had it then."""
    since: datetime
    reason: str = ""
    """In their words."""
