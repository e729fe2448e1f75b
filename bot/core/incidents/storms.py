"""When many incidents of one kind for one place become one message. Pure; asked by flows/observe_work."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.incidents.facts import What
from bot.core.incidents.stories import Incident

UPDATED_EVERY = timedelta(seconds=45)
"""A storm's message changes no more often."""


@dataclass(frozen=True, slots=True)
class Storm:
    """Incidents of one kind, told to one place in one message."""

    id: int
    to: str
    what: What
    began: datetime
    last: datetime
    """When the latest of them joined."""


def goes_on(storm: Storm | None, now: datetime, within: timedelta) -> bool:
    """Whether one more incident belongs to a storm that is there."""
    return storm is not None and now - storm.last <= within


def breaks_out(recent: Sequence[Incident], more_than: int) -> bool:
    """Whether so many began lately that they are told as one. `recent` has the newest too."""
    return len(recent) > more_than
