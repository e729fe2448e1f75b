"""An outage of a cluster is said once when it has lasted, and once when it is over. Called by flows/converge_quota."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.core.notices import NoticeDraft
from bot.core.standing import Blocker
from bot.flows.world import World
from bot.views.kinds import NoticeKind

SAID_AFTER = timedelta(minutes=5)
_DOWN = {Blocker.API_DOWN: NoticeKind.API_DOWN, Blocker.KUEUE_DOWN: NoticeKind.KUEUE_DOWN}
_BACK = {Blocker.API_DOWN: NoticeKind.API_BACK, Blocker.KUEUE_DOWN: NoticeKind.KUEUE_BACK}


@dataclass(frozen=True, slots=True)
class Outage:
    """Since when a cluster cannot be asked (API_DOWN) or written (KUEUE_DOWN)."""

    blocker: Blocker
    since: datetime
    said: bool = False


def began(outages: dict[str, Outage], cluster: str, blocker: Blocker, now: datetime) -> Outage:
    """The outage that goes on, or a new one. Remembers whether it is to be said now."""
    known = outages.get(cluster)
    if known is None or known.blocker is not blocker:
        known = Outage(blocker, now)
    elif now - known.since >= SAID_AFTER:
        known = replace(known, said=True)
    outages[cluster] = known
    return known


def over(outages: dict[str, Outage], cluster: str) -> Outage | None:
    """The outage that has just ended, None if there was none."""
    return outages.pop(cluster, None)


def tell_down(world: World, epoch: int, cluster: str, outage: Outage) -> None:
    """To the platform channel, once it has lasted."""
    if outage.said:
        _owe(world, epoch, _DOWN[outage.blocker], cluster, outage)


def tell_back(world: World, epoch: int, cluster: str, outage: Outage) -> None:
    """To the platform channel, if its begin was said."""
    if outage.said:
        _owe(world, epoch, _BACK[outage.blocker], cluster, outage)


def _owe(world: World, epoch: int, kind: NoticeKind, cluster: str, outage: Outage) -> None:
    now = world.clock()
    facts = {"cluster": cluster, "since": outage.since.isoformat(), "until": now.isoformat()}
    key = f"{kind.value}:{cluster}:{outage.since.isoformat()}"
    with world.store.begin() as uow:
        uow.leadership.check(epoch)
        to = world.policies.policy.approvals.platform_channel
        new = uow.notices.owe_once(NoticeDraft(key, kind, to, facts), now)
        uow.commit()
    if new:
        world.wake_delivery()
