"""Waiting for what comes by itself: nothing here sleeps for a time that is hoped to be enough."""

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 120.0
"""Seconds; a loaded machine with two cores needs up to ten. Only what never comes takes all of it."""
_PAUSE = threading.Event()


def eventually(what: str, look: Callable[[], T | None], patience: float = PATIENCE) -> T:
    """The first truthy answer of `look`. Raises AssertionError that says what did not come."""
    ends = time.monotonic() + patience
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > ends:
            raise AssertionError(f"did not come within {patience:g} s: {what}")
        _PAUSE.wait(0.05)
