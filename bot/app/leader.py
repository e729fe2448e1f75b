"""Which replica leads: holds the lease, and gives the loops the epoch under which they may work. Built by app/run."""

import threading
from collections.abc import Callable
from datetime import timedelta

import structlog

from bot.core.errors import NotLeader, Unavailable
from bot.flows.hold_leadership import hold_leadership
from bot.flows.world import World

log = structlog.get_logger(__name__)

Step = Callable[[int], timedelta | None]


class Leader:
    """The lease of one process. `holder` must never be used by another process, not even its successor."""

    def __init__(self, world: World, holder: str, lease: timedelta, gained: Callable[[int], None]) -> None:
        self._world = world
        self._holder = holder
        self._lease = lease
        self._gained = gained
        self._epoch: int | None = None
        self._resigned = False
        self._lock = threading.Lock()
        """Guards the epoch, and is never held while the API server is asked."""

    @property
    def epoch(self) -> int | None:
        """The epoch this process leads under, None if it does not."""
        return self._epoch

    def renew(self) -> None:
        """Take or keep the lease. Called at a third of it; a database that does not answer ends leading here."""
        before = self._epoch
        try:
            held = None if self._resigned else hold_leadership(self._world, self._holder, self._lease, before)
        except Unavailable as error:
            held = None
            log.warning("cannot hold the lease", why=str(error))
        with self._lock:
            if held is None or self._epoch == before:
                self._epoch = held
            if self._resigned:
                self._epoch = None
            after = self._epoch
        if self._resigned and held is not None:
            self._release()
        if after is not None and after == held != before:
            log.info("leads now", epoch=after)
            self._gained(after)
        elif before is not None and after is None:
            log.warning("leads no more", epoch=before)

    def lift(self, at_least: int) -> None:
        """Go on under an epoch above a fence that was found on a queue."""
        with self._lock:
            if self._epoch is None or self._epoch > at_least:
                return
            with self._world.store.begin() as uow:
                self._epoch = uow.leadership.raise_epoch(self._holder, self._epoch, at_least)
                uow.commit()

    def resign(self) -> None:
        """Let the next one lead at once, and never lead again: a renewal under way gives back what it wins."""
        with self._lock:
            self._resigned, self._epoch = True, None
        self._release()

    def _release(self) -> None:
        try:
            with self._world.store.begin() as uow:
                uow.leadership.release(self._holder)
                uow.commit()
        except Unavailable as error:
            log.warning("the lease runs out by itself", why=str(error))

    def leading(self, step: Step) -> Callable[[], timedelta | None]:
        """`step` as a loop runs it: only while leading, and an outage or a lost lease is no failure of the step."""

        def run() -> timedelta | None:
            epoch = self._epoch
            if epoch is None:
                return None
            try:
                return step(epoch)
            except NotLeader:
                with self._lock:
                    if self._epoch == epoch:
                        self._epoch = None
            except Unavailable as error:
                log.warning("waiting for a dependency", what=error.what, why=error.why)
            return None

        return run
