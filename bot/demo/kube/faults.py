"""Faults on demand: the next so many requests that match go wrong in a chosen way.

In process the two kinds of broken connection surface as exceptions, over HTTP as what they are. Used by tests of
adapters and of convergence, and by the scripted demo.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bot.demo.kube.route import Target
from bot.demo.kube.status import ApiError, conflict, error

Answer = tuple[int, dict[str, str], Any]


class NotReached(ConnectionError):
    """The connection broke before the server handled the request: nothing happened."""


class AnswerLost(ConnectionError):
    """The server handled the request and the answer was lost. `answer` is what the client never saw (for tests
    only).
    """

    def __init__(self, answer: Answer) -> None:
        super().__init__("connection reset after the request was handled")
        self.answer = answer


class Hung(TimeoutError):
    """The client gave up waiting; the request is still under way. `land` handles it now, late, and may never be
    called. `released` is set when the faults are cleared before the time is over.
    """

    def __init__(self, seconds: float, land: Callable[[], Answer], released: threading.Event) -> None:
        super().__init__(f"no answer within {seconds:g} s")
        self.seconds = seconds
        self.land = land
        self.released = released


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with this error instead of handling the request: `code` 500, 503, 429 (with Retry-After) or 409."""

    code: int
    retry_after: int = 1


@dataclass(frozen=True, slots=True)
class ResetBefore:
    """Break the connection before handling."""


@dataclass(frozen=True, slots=True)
class ResetAfter:
    """Handle the request, then break the connection without an answer."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Say nothing for so many seconds, then handle the request."""

    seconds: float


Fault = Refuse | ResetBefore | ResetAfter | Hang


@dataclass
class _Planned:
    fault: Fault
    verb: str
    resource: str
    name: str
    left: int | None


@dataclass
class Faults:
    """The faults planned, oldest first. The first that matches a request is used, and counts down."""

    released: threading.Event = field(default_factory=threading.Event)
    """Set once what hangs now is to go on."""
    _planned: list[_Planned] = field(default_factory=list)

    def plan(self, fault: Fault, verb: str = "*", resource: str = "*", name: str = "", times: int | None = 1) -> None:
        """Let the next `times` matching requests fail (None: until `clear`). Empty `name` matches every name."""
        self._planned.append(_Planned(fault, verb, resource, name, times))

    def clear(self) -> None:
        """Plan nothing any more; requests that hang are handled now."""
        self._planned.clear()
        self.release()

    def release(self) -> None:
        """Let what hangs now go on."""
        released, self.released = self.released, threading.Event()
        released.set()

    def take(self, verb: str, resource: str, name: str) -> Fault | None:
        """The fault for this request, if one is planned."""
        for planned in self._planned:
            if planned.verb in ("*", verb) and planned.resource in ("*", resource) and planned.name in ("", name):
                if planned.left is not None:
                    planned.left -= 1
                    if planned.left == 0:
                        self._planned.remove(planned)
                return planned.fault
        return None


def refusal(fault: Refuse, where: Target) -> ApiError:
    """The error a refused request gets, as an overloaded or failing server words it."""
    if fault.code == 409:
        return conflict(where.kind.group, where.kind.plural, where.name)
    if fault.code == 429:
        details = {"retryAfterSeconds": fault.retry_after}
        refused = error(429, "TooManyRequests", "Too many requests, please try again later.", details)
        refused.headers["Retry-After"] = str(fault.retry_after)
        return refused
    if fault.code == 503:
        return error(503, "ServiceUnavailable", "the server is currently unable to handle the request", {})
    return error(fault.code, "InternalError", "Internal error occurred: etcdserver: request timed out")
