"""One person's Home tab as it was last shown, and when it is looked at again. Pure; asked by flows/publish_home
and home_facts.

It is shown when it is opened and after the person's own press, at once. What others change reaches it as long as it was
opened lately, at most once a minute: Slack does not say when somebody leaves the tab, and nobody reads one for hours.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.membership import Groups, Unknown, is_group, people_of
from bot.core.messages import Home
from bot.core.people import Person
from bot.core.policy import Policy

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


def asked_as(policy: Policy, person: Person, groups: Groups) -> frozenset[str]:
    """The names in approval steps that mean this person. As long as a user group was not looked up it may mean them."""
    names = [f"group:{name}" for name in policy.approvals.groups] + [f"leads:{name}" for name in policy.teams.teams]
    return frozenset(name for name in names if any(_may_mean(one, person, groups) for one in people_of(policy, name)))


def _may_mean(one: str, person: Person, groups: Groups) -> bool:
    if not is_group(one):
        return one == person.id
    members = groups.get(one)
    return members is None or isinstance(members, Unknown) or person.id in members
