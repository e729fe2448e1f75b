"""Which replica leads: holds the lease, and gives the loops the epoch under which they may work. Built by app/run."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta

import structlog

from bot.core.errors import NotLeader, Unavailable
from bot.flows.hold_leadership import hold_leadership
from bot.flows.tell_outages import tell_database_back
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
        self._no_database_since: datetime | None = None
        self._resigned = False
        self._lock = threading.Lock()

    @property
    def epoch(self) -> int | None:
        """The epoch this process leads under, None if it does not."""
        return self._epoch

    def renew(self) -> None:
        """Take or keep the lease. Called at a third of it; a database that does not answer ends leading here."""
        with self._lock:
            if self._resigned:
                return
            before, reached = self._epoch, True
            try:
                self._epoch = hold_leadership(self._world, self._holder, self._lease)
            except Unavailable as error:
                self._epoch, reached = None, False
                self._no_database_since = self._no_database_since or self._world.clock()
                log.warning("cannot hold the lease", why=str(error))
            after = self._epoch
        if before is not None and after is None:
            log.warning("leads no more", epoch=before)
        if reached:
            self._tell_database_back(after)
        if after is not None and after != before:
            log.info("leads now", epoch=after)
            self._gained(after)

    def _tell_database_back(self, epoch: int | None) -> None:
        """Before anything else is told under this epoch. Of several replicas the one that leads now says it."""
        since = self._no_database_since
        if since is not None and epoch is not None:
            try:
                tell_database_back(self._world, epoch, since)
            except Unavailable:
                return  # gone again: the outage goes on
            except NotLeader:
                pass
        self._no_database_since = None

    def lift(self, at_least: int) -> None:
        """Go on under an epoch above a fence that was found on a queue."""
        with self._lock:
            if self._epoch is None or self._epoch > at_least:
                return
            with self._world.store.begin() as uow:
                self._epoch = uow.leadership.raise_epoch(self._holder, self._epoch, at_least)
                uow.commit()

    def resign(self) -> None:
        """Let the next one lead at once, and never take the lease again."""
        with self._lock:
            self._resigned = True
            held, self._epoch = self._epoch, None
            if held is None:
                return
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
                self._lose(epoch)
            except Unavailable as error:
                log.warning("waiting for a dependency", what=error.what, why=error.why)
            return None

        return run

    def _lose(self, epoch: int) -> None:
        """The store refused a write under this epoch: somebody else leads. `renew` may have seen it first."""
        with self._lock:
            if self._epoch != epoch:
                return
            self._epoch = None
        log.warning("leads no more", epoch=epoch)
