"""Slack or the API server away for a while, and back by itself. Called by `controls`, shown by `strip`."""

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial

SECONDS = 20.0


class Outages:
    """`parts`: name -> (what takes it down, what brings it back). `close` brings everything back."""

    def __init__(self, parts: Mapping[str, tuple[Callable[[], None], Callable[[], None]]]) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._down: dict[str, tuple[threading.Timer, float]] = {}

    def begin(self, name: str, seconds: float = SECONDS) -> None:
        """Nothing happens to what is down already. Raises LookupError for an unknown name."""
        if name not in self._parts:
            raise LookupError(f"nothing called {name} can fail here")
        with self._lock:
            if name in self._down:
                return
            timer = threading.Timer(seconds, partial(self.end, name))
            timer.name = f"page-outage-{name}"
            self._down[name] = timer, time.monotonic() + seconds
            self._parts[name][0]()
            timer.start()

    def end(self, name: str) -> None:
        """Bring it back now; harmless when it is there."""
        with self._lock:
            timer, _ = self._down.pop(name, (None, 0.0))
            if timer is not None:
                timer.cancel()
                self._parts[name][1]()

    def left(self) -> dict[str, int]:
        """Whole seconds that each outage still lasts."""
        with self._lock:
            return {name: max(0, round(until - time.monotonic())) for name, (_, until) in self._down.items()}

    def close(self) -> None:
        with self._lock:
            timers = [timer for timer, _ in self._down.values()]
        for name in list(self._parts):
            self.end(name)
        for timer in timers:
            timer.join()
