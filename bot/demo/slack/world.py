"""The simulated workspace as one thing: its setup, its stores, and the lock that guards them all.

`web_api` and the people's actions change it; `SlackSim.wait_for` waits on `changed`, which every change notifies.
"""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.demo.slack.entities import HOME_TEAM, Person
from bot.demo.slack.faults import Faults
from bot.demo.slack.journal import Journal
from bot.demo.slack.pacing import Pacer
from bot.demo.slack.passes import ResponseUrls, Tickets, Triggers
from bot.demo.slack.stamps import Ids, Stamps
from bot.demo.slack.surfaces import Surfaces
from bot.demo.slack.timeline import Timeline
from bot.demo.slack.uploads import Uploads
from bot.demo.slack.workspace import Workspace

DEFAULT_SCOPES = frozenset(
    {
        "channels:history",
        "channels:read",
        "chat:write",
        "commands",
        "files:write",
        "groups:history",
        "groups:read",
        "im:history",
        "im:read",
        "im:write",
        "usergroups:read",
        "users:read",
        "users:read.email",
    }
)


def real_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """`now` stamps messages and measures pace and response URLs (aware UTC); it may be frozen or sped up.

    `monotonic` (s) measures the 3 s of acknowledgements and trigger ids, `wall` (Unix s) dates request signatures,
    which the bot compares with its own machine's clock: both stay real unless a test says otherwise.
    """

    now: Callable[[], datetime] = real_now
    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The app as installed. `ack_limit` in seconds; `enterprise_id` puts the workspace into a Grid organisation.

    `run` makes the ids of triggers, events and response URLs differ from those of other runs: bots keep them to know a
    repetition.
    """

    scopes: frozenset[str] = DEFAULT_SCOPES
    command: str = "/gpu-quota"
    should_escape: bool = True
    ack_limit: float = 3.0
    pacing: bool = True
    home_tab: bool = True
    team_id: str = HOME_TEAM
    team_domain: str = "simulated"
    enterprise_id: str | None = None
    is_enterprise_install: bool = False
    app_id: str = "A0SIMULATED"
    bot_id: str = "B0SIMULATED"
    bot_user_id: str = "U0GPUQUOTA"
    bot_name: str = "gpu-quota"
    bot_token: str = "xoxb-simulated-bot-token"
    app_token: str = "xapp-1-simulated-app-token"
    signing_secret: str = "simulated-signing-secret"
    run: str = field(default_factory=lambda: secrets.token_hex(4))


class World:
    """State, wire and page meet here: every store, behind one condition variable."""

    def __init__(self, setup: Setup, clocks: Clocks) -> None:
        self.setup = setup
        self.clocks = clocks
        self.changed = threading.Condition(threading.RLock())
        self.ids = Ids()
        stamps = Stamps(clocks.now)
        bot = Person(
            id=setup.bot_user_id, name=setup.bot_name, real_name=setup.bot_name, is_bot=True, team_id=setup.team_id
        )
        self.workspace = Workspace(self.ids, bot)
        self.timeline = Timeline(self.workspace, stamps, self.ids)
        self.surfaces = Surfaces(self.ids, stamps)
        self.uploads = Uploads(self.ids)
        self.triggers = Triggers(clocks.monotonic, setup.run)
        self.response_urls = ResponseUrls(clocks.now, setup.run)
        self.tickets = Tickets()
        self.pacer = Pacer(clocks.now, on=setup.pacing)
        self.faults = Faults()
        self.journal = Journal(self.changed)
        self.site = ""
        self.socket_site = ""

    @property
    def bot(self) -> Person:
        return self.workspace.bot
