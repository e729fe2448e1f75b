"""Group commit for arrivals: many listeners wait for one transaction. Chat's listeners call `put` before they
acknowledge; app/run starts and stops the writer.

While one batch is being committed the next one gathers, and it waits a little for those that are on their way: 200
arrivals at once cost a few commits, not 200 (nor 100 of two each), and one that comes alone waits for nobody.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

from bot.core.errors import Unavailable
from bot.core.inbox import InboxItem
from bot.ports.store import Store

PATIENCE = 2.0
"""Seconds that a listener waits. Slack gives it 3 in all, and shows its own error then instead of our words."""
LINGER = 0.02
"""Seconds that a batch waits for more. A commit costs about as much as receiving one arrival."""
_LARGEST_BATCH = 500

_Waiting = tuple[InboxItem, Future[bool]]


class InboxWriter:
    """Stores arrivals for any number of threads, through one thread of its own."""

    def __init__(self, store: Store, on_the_way: Callable[[], int]) -> None:
        """`on_the_way`: how many arrivals are being received now, with those that wait in `put`."""
        self._store = store
        self._on_the_way = on_the_way
        self._changed = threading.Condition()
        self._waiting: list[_Waiting] = []
        self._open = False
        self._thread = threading.Thread(target=self._run, name="inbox-writer", daemon=True)

    def start(self) -> None:
        """Begin to accept. Once only."""
        self._open = True
        self._thread.start()

    def put(self, item: InboxItem) -> bool:
        """Return when the item is durable; whether it was new (False: a redelivery).

        Raises Unavailable when it could not be stored in time to say so, or when nobody can tell whether it was: then
        the arrival must not be acknowledged, and if Slack sends it again its key makes that harmless.
        """
        stored: Future[bool] = Future()
        with self._changed:
            if not self._open:
                raise Unavailable("database", "the inbox is closed: the bot is starting or stopping")
            self._waiting.append((item, stored))
            self._changed.notify()
        try:
            return stored.result(PATIENCE)
        except TimeoutError:
            if stored.cancel():
                raise Unavailable("database", f"no answer within {PATIENCE} s") from None
            return stored.result()  # it is being stored at this moment

    def stop(self) -> None:
        """Accept no more, store what waits, return when that is done. Harmless when it is stopped already."""
        with self._changed:
            self._open = False
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while batch := self._next_batch():
            self._store_batch(batch)

    def _next_batch(self) -> Sequence[_Waiting]:
        """What waits, once all who are on the way do, or LINGER after the first; empty when stopped with all stored."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._open)
            self._changed.wait_for(lambda: len(self._waiting) >= self._on_the_way() or not self._open, LINGER)
            batch, self._waiting = self._waiting[:_LARGEST_BATCH], self._waiting[_LARGEST_BATCH:]
            return batch

    def _store_batch(self, batch: Sequence[_Waiting]) -> None:
        """As long as the database keeps us waiting for a transaction, a listener may still give up."""
        try:
            with self._store.begin() as work:
                batch = _still_awaited(batch)
                new = set(work.inbox.put([item for item, _ in batch]))
                work.commit()
        except Unavailable as error:
            for _, stored in _still_awaited(
                batch
            ):  # an exception each: every thread adds its own traceback to what it raises
                stored.set_exception(Unavailable(error.what, error.why, error.retry_after))
        except Exception as error:  # whatever it is, somebody waits for it
            self._blame(_still_awaited(batch), error)
        else:
            for item, stored in batch:
                stored.set_result(item.key in new)
                new.discard(item.key)  # the same arrival twice in one batch is new once

    def _blame(self, batch: Sequence[_Waiting], error: Exception) -> None:
        """One item that cannot be stored must not fail the others that it was stored with."""
        if len(batch) == 1:
            batch[0][1].set_exception(error)
            return
        for waiting in batch:
            self._store_batch([waiting])


def _still_awaited(batch: Sequence[_Waiting]) -> Sequence[_Waiting]:
    """Without those whose listener has given up. Of the others none can give up from here on."""
    return [one for one in batch if one[1].running() or one[1].set_running_or_notify_cancel()]
