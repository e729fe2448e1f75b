"""Become or stay the one replica that converges, delivers and keeps the timetable. Called by app/leader.

The epoch must be above every fence on the queues: a database that was restored from an older copy would otherwise
count again from below. The API server need not answer for that; fences that are read later lift the epoch then.
"""

from datetime import timedelta

from bot.core.convergence.rebuild import highest_epoch
from bot.core.errors import Rejected, Unavailable
from bot.flows.world import World


def hold_leadership(world: World, holder: str, lease: timedelta, epoch: int | None) -> int | None:
    """The epoch if this replica leads now, None if another does. `epoch` is what it held before. Raises Unavailable."""
    at_least = 0 if epoch is not None else _highest_fence(world)
    with world.store.begin() as uow:
        held = uow.leadership.acquire(holder, lease, at_least)
        uow.commit()
    return held


def _highest_fence(world: World) -> int:
    highest = 0
    for cluster in world.clusters.values():
        try:
            highest = max(highest, highest_epoch(cluster.read()))
        except (Unavailable, Rejected):
            continue
    return highest
