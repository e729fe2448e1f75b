"""The threads that watch clusters, one per kind and cluster. Built by app/duties, started and stopped by app/run."""

import random
from collections.abc import Sequence

from bot.app.leader import Leader
from bot.flows.watch_work import LONGEST_WAIT, WorkWatch
from bot.flows.world import World
from bot.ports.watching import Source
from bot.workers import Loop


class WatchLoop(Loop):
    """A loop whose step waits for the cluster most of the time."""

    def __init__(self, world: World, leader: Leader, source: Source) -> None:
        step = leader.leading(WorkWatch(world, source, random.random).step)
        super().__init__(f"watch-{source.cluster}-{source.kind.value.lower()}s", step, LONGEST_WAIT)
        self._source = source

    def stop(self) -> None:
        """What is being handed on is finished; what has not come yet is not waited for."""
        super().stop()
        self._source.stop()


def watch_loops(world: World, leader: Leader, sources: Sequence[Source]) -> tuple[WatchLoop, ...]:
    """They are woken when this process begins to lead."""
    return tuple(WatchLoop(world, leader, source) for source in sources)
