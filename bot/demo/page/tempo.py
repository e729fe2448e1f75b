"""How fast everybody's clock goes: it is moved once a second, so that what is under way now stays in time. Set by
`controls`, shown by `strip`.
"""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Literal

Speed = Literal[1, 60, 3600]
"""Seconds of the demo in one second: as it is, a minute, an hour."""
_STEP = 1.0


class Tempo:
    """`move` puts the clock forward. Nothing runs until it is to go faster; `close` ends that."""

    def __init__(self, move: Callable[[timedelta], None]) -> None:
        self.speed: Speed = 1
        self._move = move
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._runner: threading.Thread | None = None

    def go(self, speed: Speed) -> None:
        """From now on."""
        with self._lock:
            self.speed = speed
            if self._runner is None and speed > 1 and not self._closing.is_set():
                self._runner = threading.Thread(target=self._run, name="page-tempo")
                self._runner.start()

    def step(self) -> None:
        """A second is over."""
        if self.speed > 1:
            self._move(timedelta(seconds=_STEP * (self.speed - 1)))

    def close(self) -> None:
        self._closing.set()
        if self._runner is not None:
            self._runner.join()

    def _run(self) -> None:
        while not self._closing.wait(_STEP):
            self.step()
