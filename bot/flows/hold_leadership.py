"""Become or stay the one replica that converges, delivers and keeps the timetable. Called by app.py's timetable.

The epoch must be above every fence on the queues: a database that was restored from an older copy would otherwise
count again from below. They are read by the one who has won, before it works under the epoch: who stands by asks the
API server nothing. It need not answer; fences that are read later lift the epoch then.
"""

from datetime import timedelta

from bot.core.convergence.rebuild import highest_epoch
from bot.core.errors import Rejected, Unavailable
from bot.flows.world import World


def hold_leadership(world: World, holder: str, lease: timedelta, epoch: int | None) -> int | None:
    """The epoch if this replica leads now, None if another does. `epoch` is what it held before.

    Raises Unavailable (database). May wait for the API server when the lease is new.
    """
    held = _acquire(world, holder, lease)
    if held is None or epoch is not None:
        return held
    fences = _highest_fence(world)
    with world.store.begin() as uow:
        held = uow.leadership.acquire(holder, lease, fences)
        if held is not None:
            held = uow.leadership.raise_epoch(holder, held, fences)
        uow.commit()
    return held


def _acquire(world: World, holder: str, lease: timedelta) -> int | None:
    with world.store.begin() as uow:
        held = uow.leadership.acquire(holder, lease)
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
