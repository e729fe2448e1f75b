"""Names that the policy has no more while requests or loans stand on them: how long what waits is held for each.

Decided here, looked at by flows/lost_names, stored behind ports/lost_names.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

HELD_FOR = timedelta(hours=24)
"""So long a name may be gone by mistake, or while a file is moved, before what waits on it lapses."""


@dataclass(frozen=True, slots=True)
class LostName:
    """One disappearance of a name, from the first look that missed it."""

    id: int
    name: str
    """As core/still_possible says it: "team vision"."""
    since: datetime
    ended_at: datetime | None = None
    """When the name was back, or nothing stood on it any more."""

    @property
    def held_until(self) -> datetime:
        """When what waits on it lapses."""
        return self.since + HELD_FOR
