"""The bot's few named threads: loops that run when woken or when it is time, and the pool that handles arrivals.

Built, started and stopped by app/run. What they run comes in as functions; nothing here knows Slack, Kueue or the
database.
"""

import queue
import threading
import time
from collections.abc import Callable
from datetime import timedelta

import structlog

from bot.core.inbox import InboxItem

GIVE_WAY = timedelta(seconds=0.5)
"""The longest that an arrival waits for others to be acknowledged first. Far below what makes a person wonder."""

log = structlog.get_logger(__name__)


class Loop:
    """One thread that runs `step` again and again: at once when woken, else every `every`.

    A step may answer how soon it wants to run again, if sooner. What it raises is logged and the loop goes on.
    """

    def __init__(self, name: str, step: Callable[[], timedelta | None], every: timedelta) -> None:
        self._step = step
        self._every = every
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin with a first step at once."""
        self._woken.set()
        self._thread.start()

    def wake(self) -> None:
        """Run soon. Several calls before the step begins are one."""
        self._woken.set()

    @property
    def alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Let the current step finish, then end."""
        self._stopping.set()
        self._woken.set()

    def join(self, timeout: timedelta) -> bool:
        """Whether the thread has ended."""
        if self._thread.ident is not None:
            self._thread.join(timeout.total_seconds())
        return not self._thread.is_alive()

    def _run(self) -> None:
        wait: timedelta | None = timedelta(0)
        while True:
            self._woken.wait((self._every if wait is None else min(wait, self._every)).total_seconds())
            if self._stopping.is_set():
                return
            self._woken.clear()
            try:
                wait = self._step()
            except Exception:
                log.exception("a step failed", loop=self._thread.name)
                wait = None


class Urgent:
    """How many threads are at something that somebody waits for: `with urgent:` around it.

    All threads share one interpreter, so what nobody waits for yet lets these go first.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count = 0

    @property
    def count(self) -> int:
        return self._count

    def __enter__(self) -> None:
        with self._changed:
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._count -= 1
            if not self._count:
                self._changed.notify_all()

    def give_way(self, at_most: timedelta) -> None:
        """Return when nothing is urgent, or after `at_most`: a steady stream must not stop everything else."""
        with self._changed:
            self._changed.wait_for(lambda: not self._count, at_most.total_seconds())


class Pool:
    """A fixed number of threads that take stored arrivals from one queue, each after letting go first what is urgent.

    The queue is only a short cut: what is in it is stored, so losing it loses nothing. After `stop`, what has not begun
    is left to the next start.
    """

    def __init__(self, name: str, size: int, handle: Callable[[InboxItem], None], urgent: Urgent) -> None:
        self._handle = handle
        self._urgent = urgent
        self._items: queue.SimpleQueue[InboxItem | None] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, name=f"{name}-{number}", daemon=True) for number in range(1, size + 1)
        ]

    def start(self) -> None:
        """Begin to take arrivals."""
        for thread in self._threads:
            thread.start()

    def offer(self, item: InboxItem) -> None:
        """Hand one over; never blocks."""
        self._items.put(item)

    @property
    def has_waiting(self) -> bool:
        """Whether all threads are busy and more waits."""
        return not self._items.empty()

    def stop(self) -> None:
        """Finish what has begun, begin nothing more."""
        self._stopping.set()
        for _ in self._threads:
            self._items.put(None)

    def join(self, timeout: timedelta) -> bool:
        """Whether all threads have ended."""
        ends = time.monotonic() + timeout.total_seconds()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, ends - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self) -> None:
        while True:
            item = self._items.get()
            self._urgent.give_way(GIVE_WAY)
            if item is None or self._stopping.is_set():
                return
            try:
                self._handle(item)
            except Exception:
                log.exception("an arrival could not be handled; it will be tried again", key=item.key)
