"""One person's Home tab as it was last shown, and when it is looked at again. Pure; asked by flows/publish_home.

It is shown when it is opened and after the person's own press, at once. What others change reaches it as long as it was
opened lately, at most once a minute: Slack does not say when somebody leaves the tab, and nobody reads one for hours.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.messages import Home

WATCHED_FOR = timedelta(hours=1)
"""So long after it was opened it is kept true."""
BETWEEN = timedelta(minutes=1)
"""Between two updates of one tab that its person did not ask for."""


@dataclass(frozen=True, slots=True)
class HomeTab:
    """What is known of a tab that was opened once."""

    user: str
    opened_at: datetime
    shown: str | None = None
    """`digest` of what Slack has; None while nothing was taken."""
    shown_at: datetime | None = None
    hash: str | None = None
    """Slack's name for what it has: a publication that names another one is refused."""
    failure: str | None = None
    """Slack's code if it refused what was last sent: it is not sent again until the tab is opened."""


def digest(home: Home) -> str:
    """The same for what reads the same, whenever it was read."""
    return hashlib.sha256(json.dumps(home.blocks, sort_keys=True).encode()).hexdigest()


def is_watched(tab: HomeTab, now: datetime) -> bool:
    """Whether somebody may be looking at it."""
    return now - tab.opened_at < WATCHED_FOR


def worth_showing(tab: HomeTab, home: Home, now: datetime) -> bool:
    """At its opening: unless the very same was shown a moment ago. People go to and fro between tabs."""
    return tab.shown != digest(home) or tab.shown_at is None or now - tab.shown_at >= BETWEEN
