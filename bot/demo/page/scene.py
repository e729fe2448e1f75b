"""What the page is given: the simulators, the people one can be, and a few questions only the bot's side can answer.

Made by demo/run_page, and by tests without a bot.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from bot.demo.kube.sim import KubeSim
from bot.demo.slack import SlackSim


@dataclass(frozen=True, slots=True)
class Role:
    """Somebody one can be. `start` is the channel shown first, `hint` what to do there, `examples` what to type."""

    user: str
    title: str
    start: str
    hint: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand, for completion."""

    name: str
    syntax: str
    summary: str
    examples: tuple[str, ...]


class Press(NamedTuple):
    """A button of the newest message with these words."""

    words: str
    action: str


class Control(NamedTuple):
    """A control of the strip, with what it is given."""

    name: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """Of the tour: whose eyes, where (a channel's id, `dm` or `home`), and what is told.

    When one goes on, the line is typed, or the button pressed and the form that it opens filled in and sent, or the
    control used. `until`, words of a message or of the Home tab, and `quota` by queue show that it came true.
    """

    user: str
    place: str
    words: str
    line: str = ""
    press: Press | None = None
    fill: Mapping[str, str] = field(default_factory=dict)
    control: Control | None = None
    until: str = ""
    quota: Mapping[str, int] = field(default_factory=dict)
    look: bool = False
    """It tells about the cohort."""


class Moved(NamedTuple):
    """Devices that loans put into and took out of a queue's nominal quota. `base`: without them, if that is known."""

    received: int = 0
    lent: int = 0
    base: int | None = None


class Ending(NamedTuple):
    """The loan that ends next."""

    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Scene:
    """`move` puts everybody's clock forward. `local_queues`: ClusterQueue -> (namespace, LocalQueue) for jobs.

    `moved` and `next_end` are read on every look at the page; they may raise nothing.
    """

    slack: SlackSim
    kube: KubeSim
    now: Callable[[], datetime]
    move: Callable[[timedelta], None]
    roles: Sequence[Role]
    flavor: str
    local_queues: Mapping[str, tuple[str, str]]
    commands: Sequence[Command] = ()
    moved: Callable[[], Mapping[str, Moved]] = field(default=dict)
    next_end: Callable[[], Ending | None] = field(default=lambda: None)
    tour: Sequence[Step] = ()
