"""One call that serves everybody who asked before it began. Used by adapters/kube/cluster for its fresh reads.

200 people who ask at once cost two LISTs, not 200, and nobody gets what was read before he asked.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

Value = TypeVar("Value")

PATIENCE = 1.0
"""Seconds to wait for the call that is under way. After that the next one begins beside it: one lost connection must
not hold up everybody."""


class Shared(Generic[Value]):
    """`work` in turns: who comes while it runs waits for the next turn, together with all others who came."""

    def __init__(self, work: Callable[[], Value], patience: float = PATIENCE) -> None:
        self._work = work
        self._patience = patience
        self._turn = threading.Lock()
        self._lock = threading.Lock()
        self._next: Future[Value] | None = None

    def get(self) -> Value:
        """What `work` answers when it is called after this moment. Raises what it raises."""
        with self._lock:
            leads = self._next is None
            mine = self._next = self._next or Future()
        if leads:
            self._lead(mine)
        return mine.result()

    def _lead(self, mine: Future[Value]) -> None:
        has_turn = self._turn.acquire(timeout=self._patience)
        try:
            with self._lock:
                self._next = None  # whoever comes from now on needs a later call
            try:
                mine.set_result(self._work())
            except BaseException as error:  # whatever it is, others wait for it
                mine.set_exception(error)
        finally:
            if has_turn:
                self._turn.release()
