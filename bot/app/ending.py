"""One part of the bot that ends, in a thread of its own: what hangs or fails there keeps no other part from ending.

Used by app/run when the bot stops.
"""

import threading
import time
from collections.abc import Callable

import structlog

log = structlog.get_logger(__name__)

AT_LEAST = 0.5
"""Seconds that a part gets even if the time of all is over: most end at once."""


class Ending:
    """Begins at once. `until` is an instant of `time.monotonic`."""

    def __init__(self, part: str, end: Callable[[], object]) -> None:
        self._part = part
        self._end = end
        self._cleanly = False
        self._thread = threading.Thread(target=self._run, name=f"end-{part}", daemon=True)
        self._thread.start()

    def cleanly(self, until: float) -> bool:
        """Whether it has ended by then, and raised nothing."""
        self._thread.join(max(AT_LEAST, until - time.monotonic()))
        if self._thread.is_alive():
            log.warning("a part does not end in time", part=self._part)
        return self._cleanly

    def _run(self) -> None:
        try:
            self._end()
        except Exception:
            log.exception("a part did not end cleanly", part=self._part)
        else:
            self._cleanly = True
