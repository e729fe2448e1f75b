"""An outage is said once when it has lasted, and once when it is over.

Called by flows/converge_quota for a cluster, by flows/deliver_notices for Slack and by app/leader for the database;
of the last two only the end can be said.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bot.core.loans import LoanEnd, LoanState
from bot.core.notices import NoticeDraft
from bot.core.standing import Blocker
from bot.flows.world import World
from bot.views.kinds import NoticeKind

SAID_AFTER = timedelta(minutes=5)
NOTICED_WITHIN = timedelta(minutes=1)
"""An outage of Slack is noticed by the first message that fails, which may be the one about what just ended."""
_COUNTED = 1000
"""Messages that wait are counted up to here."""
_DOWN = {Blocker.API_DOWN: NoticeKind.API_DOWN, Blocker.KUEUE_DOWN: NoticeKind.KUEUE_DOWN}
_BACK = {Blocker.API_DOWN: NoticeKind.API_BACK, Blocker.KUEUE_DOWN: NoticeKind.KUEUE_BACK}


@dataclass(frozen=True, slots=True)
class Outage:
    """Since when a cluster cannot be asked (API_DOWN) or written (KUEUE_DOWN)."""

    blocker: Blocker
    since: datetime
    said: bool = False


Outages = dict[tuple[str, Blocker], Outage]
"""By cluster and what does not answer. Each has a begin and an end of its own: that the API server answers again says
nothing about Kueue, and while it does not answer nobody knows whether Kueue would."""


def began(outages: Outages, cluster: str, blocker: Blocker, now: datetime) -> Outage:
    """The outage that goes on, or a new one. Remembers whether it is to be said now."""
    known = outages.get((cluster, blocker)) or Outage(blocker, now)
    if now - known.since >= SAID_AFTER:
        known = replace(known, said=True)
    outages[cluster, blocker] = known
    return known


def over(outages: Outages, cluster: str, *blockers: Blocker) -> list[Outage]:
    """The outages of these kinds that have just ended. Each is known until its end is told, see `forget`."""
    return [outages[cluster, one] for one in blockers if (cluster, one) in outages]


def forget(outages: Outages, cluster: str, outage: Outage) -> None:
    """Its end is stored: before that, a database that fails would leave it unsaid."""
    outages.pop((cluster, outage.blocker), None)


def tell_down(world: World, epoch: int, cluster: str, outage: Outage) -> None:
    """To the platform channel, once it has lasted."""
    if outage.said:
        _owe(world, epoch, _DOWN[outage.blocker], cluster, outage)


def tell_back(world: World, epoch: int, cluster: str, outage: Outage) -> None:
    """To the platform channel, if its begin was said."""
    if outage.said:
        _owe(world, epoch, _BACK[outage.blocker], cluster, outage)


def tell_slack_back(world: World, epoch: int, since: datetime) -> None:
    """Slack answers again: what happened meanwhile, if that was long enough to be missed."""
    now = world.clock()
    if now - since < SAID_AFTER:
        return
    with world.store.read() as uow:
        late = sum(1 for one in uow.notices.waiting(now, epoch, _COUNTED) if one.ref is None)
        closed = uow.loans.find(states={LoanState.CLOSED})
    begin = since - NOTICED_WITHIN
    on_time = [one for one in closed if one.end_reason is LoanEnd.ENDED and one.ended_at and begin <= one.ended_at]
    facts = {"since": since.isoformat(), "until": now.isoformat(), "messages": late, "ended_on_time": len(on_time)}
    _owe_facts(world, epoch, NoticeKind.SLACK_BACK, f"{NoticeKind.SLACK_BACK.value}:{since.isoformat()}", facts)


def tell_database_back(world: World, epoch: int, since: datetime) -> None:
    """The database answers again."""
    now = world.clock()
    if now - since < SAID_AFTER:
        return
    facts = {"since": since.isoformat(), "until": now.isoformat()}
    _owe_facts(world, epoch, NoticeKind.DATABASE_BACK, f"{NoticeKind.DATABASE_BACK.value}:{since.isoformat()}", facts)


def _owe(world: World, epoch: int, kind: NoticeKind, cluster: str, outage: Outage) -> None:
    facts = {"cluster": cluster, "since": outage.since.isoformat(), "until": world.clock().isoformat()}
    _owe_facts(world, epoch, kind, f"{kind.value}:{cluster}:{outage.since.isoformat()}", facts)


def _owe_facts(world: World, epoch: int, kind: NoticeKind, key: str, facts: dict[str, Any]) -> None:
    now = world.clock()
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        to = world.policies.policy.approvals.platform_channel
        new = uow.notices.owe_once(NoticeDraft(key, kind, to, facts), now)
        uow.commit()
    if new:
        world.wake_delivery()
