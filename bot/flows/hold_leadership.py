"""Become or stay the one replica that converges, delivers and keeps the timetable. Called by app/leader.

Asks the database and nothing else: a cluster that hangs must not keep quota's other clusters, or Slack's messages,
without a leader. That the epoch is above every fence on the queues is seen to by flows/converge_quota, at the leader's
first look at each cluster and before it writes there.
"""

from datetime import timedelta

from bot.flows.world import World


def hold_leadership(world: World, holder: str, lease: timedelta) -> int | None:
    """The epoch if this replica leads now, None if another does. Raises Unavailable."""
    with world.store.begin() as uow:
        held = uow.leadership.acquire(holder, lease)
        uow.commit()
    return held
