"""The inspector's book: every Web API call and every delivery, in order. Anyone may read it at any time."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.demo.slack.delivery import Delivery


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """One request by the bot. `answer` is None when none was produced (dropped before, HTTP 500).

    `delivered` is false when the connection was cut before the bot could read the answer.
    """

    method: str
    args: Mapping[str, Any]
    status: int
    answer: Mapping[str, Any] | None
    at: datetime
    delivered: bool = True

    @property
    def ok(self) -> bool:
        return self.answer is not None and bool(self.answer.get("ok"))

    @property
    def error(self) -> str | None:
        return None if self.answer is None else self.answer.get("error")


class Journal:
    def __init__(self, changed: threading.Condition) -> None:
        self._changed = changed
        self._calls: list[ApiCall] = []
        self._deliveries: list[Delivery] = []

    def add_call(self, call: ApiCall) -> None:
        with self._changed:
            self._calls.append(call)
            self._changed.notify_all()

    def add_delivery(self, delivery: Delivery) -> None:
        with self._changed:
            self._deliveries.append(delivery)
            self._changed.notify_all()

    def calls(self, method: str | None = None) -> tuple[ApiCall, ...]:
        """The calls so far, oldest first; of one method if given."""
        with self._changed:
            return tuple(call for call in self._calls if method in (None, call.method))

    def deliveries(self) -> tuple[Delivery, ...]:
        with self._changed:
            return tuple(self._deliveries)
