"""Show people their Home tab: when they open it, after their own press, and when what it says has changed.

Called by chat (`open_home`, `refresh_home`), by the pool after an arrival (`follow_press`) and by the leader's loop
(`publish_homes`). Showing a tab replaces it, so doing it twice harms nobody; nothing is lost if it fails, since the
loop compares what Slack has with what it should have. What Slack refuses for good is written down and not sent again
until the tab is opened.

Two that show the same tab at once: each names what it knows Slack to have, and Slack refuses the second. That one reads
again and shows what is true then, whatever Slack has.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from bot.core.errors import Refused, Rejected, Unavailable
from bot.core.home_tab import BETWEEN, WATCHED_FOR, HomeTab, digest, is_watched, worth_showing
from bot.core.inbox import Arrival, InboxItem
from bot.core.messages import Home
from bot.flows.home_facts import home_of
from bot.flows.live_team_use import Looks
from bot.flows.world import World

log = structlog.get_logger(__name__)

MOST_WATCHED = 50
"""Tabs that are kept true, the latest opened first; together they stay at half of what Slack takes (100 a minute)."""
AT_REST = timedelta(seconds=5)
"""Between two passes: many changes in a row are one."""
_CONFLICT = "hash_conflict"


@dataclass(slots=True)
class HomeMemory:
    """What the leader remembers between two passes. Losing it costs one early update."""

    updated: dict[str, datetime] = field(default_factory=dict)
    """When a person was last shown something that they did not ask for."""
    not_before: datetime | None = None
    """Slack has had enough, or is silent, until then."""
    last: datetime | None = None


def open_home(world: World, user: str, arrival: str) -> None:
    """Somebody opened it. The opening is stored with the arrival; what follows is made up for if it fails."""
    now = world.clock()
    with world.store.begin() as uow:
        uow.home_tabs.opened(user, now)
        uow.inbox.done(arrival)
        uow.commit()
    _show_now(world, user, worth_showing)


def refresh_home(world: World, user: str) -> None:
    """They pressed Refresh."""
    _show_now(world, user, lambda _tab, _home, _now: True)


def follow_press(world: World, item: InboxItem) -> None:
    """What somebody just did shows in their tab, if they may be looking at it. Called once it is handled."""
    if item.arrival is Arrival.EVENT:
        return
    user = str(item.payload["user"])
    try:
        with world.store.read() as uow:
            tab = uow.home_tabs.get(user)
        if tab is not None and is_watched(tab, world.clock()):
            _show_now(world, user, _changed)
    except Unavailable as error:
        log.warning("a Home tab is left to the loop", why=str(error))


def publish_homes(world: World, memory: HomeMemory) -> timedelta | None:
    """One pass over tabs that somebody may be looking at; how soon another one is worth while.

    Raises Unavailable (database).
    """
    now = world.clock()
    if wait := _rest(memory, now):
        return wait
    memory.last = now
    with world.store.read() as uow:
        tabs = uow.home_tabs.watched(now - WATCHED_FOR, MOST_WATCHED)
    memory.updated = {one.user: at for one in tabs if (at := memory.updated.get(one.user)) and now - at < BETWEEN}
    looks = Looks(world)
    opening = [AT_REST - (now - one.opened_at) for one in tabs if _is_opening(one, now)]
    for tab in tabs:
        if tab.user in memory.updated or _is_opening(tab, now):
            continue
        try:
            if _show(looks, tab.user, _changed):
                memory.updated[tab.user] = now
        except Refused:
            break  # Slack does not say who people are
        except Unavailable as error:
            if error.what == "database":
                raise
            memory.not_before = now + (error.retry_after or BETWEEN)
            log.warning("Home tabs wait for Slack", why=error.why)
            break
    return min([*(BETWEEN - (now - at) for at in memory.updated.values()), *opening], default=None)


def _is_opening(tab: HomeTab, now: datetime) -> bool:
    """Whoever took its opening is about to show it: a pass that shows it too only sends it twice."""
    return (tab.shown_at is None or tab.shown_at < tab.opened_at) and timedelta(0) <= now - tab.opened_at < AT_REST


def _rest(memory: HomeMemory, now: datetime) -> timedelta | None:
    """How long to do nothing; None if there is no reason to."""
    until = [memory.not_before] if memory.not_before else []
    until += [memory.last + AT_REST] if memory.last else []
    wait = max(until, default=now) - now
    return wait if wait > timedelta(0) else None


Worth = Callable[[HomeTab, Home, datetime], bool]


def _changed(tab: HomeTab, shown: Home, _now: datetime) -> bool:
    return tab.shown != digest(shown)


def _show_now(world: World, user: str, worth: Worth) -> None:
    """Nobody is told if it fails: there is no place to say it, and the loop tries again."""
    try:
        _show(Looks(world), user, worth)
    except (Refused, Unavailable) as error:
        if isinstance(error, Unavailable) and error.what == "database":
            raise
        log.warning("a Home tab could not be shown; it is tried again", why=str(error))


def _show(looks: Looks, user: str, worth: Worth) -> bool:
    """Whether Slack was sent anything."""
    world = looks.world
    with world.store.read() as uow:
        tab = uow.home_tabs.get(user)
    now = world.clock()
    shown = home_of(looks, user)
    if tab is None or not worth(tab, shown, now):
        return False
    try:
        shown, known = _published(world, tab, shown)
        tab = replace(tab, shown=digest(shown), shown_at=now, hash=known, failure=None)
    except Rejected as error:
        log.warning("Slack refused a Home tab for good", code=error.code, detail=error.detail)
        tab = replace(tab, failure=error.code)
    with world.store.begin() as uow:
        uow.home_tabs.shown(tab)
        uow.commit()
    return True


def _published(world: World, tab: HomeTab, shown: Home) -> tuple[Home, str]:
    """What was shown in the end, and Slack's name for it."""
    try:
        return shown, world.chat.publish_home(tab.user, shown, tab.hash)
    except Rejected as error:
        if error.code != _CONFLICT:
            raise
    newer = home_of(Looks(world), tab.user)
    return newer, world.chat.publish_home(tab.user, newer, None)
