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


class Pool:
    """A fixed number of threads that take stored arrivals from one queue.

    The queue is only a short cut: what is in it is stored, so losing it loses nothing. After `stop`, what has not begun
    is left to the next start.
    """

    def __init__(self, name: str, size: int, handle: Callable[[InboxItem], None]) -> None:
        self._handle = handle
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
            if item is None or self._stopping.is_set():
                return
            try:
                self._handle(item)
            except Exception:
                log.exception("an arrival could not be handled; it will be tried again", key=item.key)
