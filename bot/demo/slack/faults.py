"""What can go wrong between the bot and Slack, on order. Tests arm faults; `web_api` and `socket_mode` suffer them.

A fault is armed for one method (`chat.postMessage`, also `response_url`, `upload`, `websocket`; `*` for any Web API
method) and the next `times` calls, or until cleared with `times=None`.
"""

import threading
from dataclasses import dataclass, field
from enum import Enum, auto


class Kind(Enum):
    CODE = auto()
    HTTP_500 = auto()
    RATE_LIMITED = auto()
    SLOW = auto()
    HELD = auto()
    DROP_BEFORE = auto()
    DROP_AFTER = auto()
    NOT_JSON = auto()
    REFUSED = auto()


@dataclass(slots=True, eq=False)
class Fault:
    """One armed fault. `seconds` is the delay of a slow answer or the Retry-After of a limited one, `code` Slack's."""

    kind: Kind
    times: int | None = 1
    seconds: float = 0
    code: str = ""
    arrived: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)


class Gate:
    """Held calls wait behind it, having been neither handled nor answered, until `release`."""

    def __init__(self, fault: Fault, faults: "Faults", method: str) -> None:
        self._fault, self._faults, self._method = fault, faults, method

    def wait_for_arrival(self, timeout: float = 5.0) -> None:
        """Until a call is held. Raises TimeoutError (real seconds)."""
        if not self._fault.arrived.wait(timeout):
            raise TimeoutError(f"no {self._method} within {timeout} s")

    def release(self) -> None:
        self._faults.disarm(self._method, self._fault)
        self._fault.released.set()


class Faults:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._armed: dict[str, list[Fault]] = {}
        self._gates: list[Fault] = []

    def refuse(self, method: str, code: str, times: int | None = 1) -> None:
        """`{"ok": false, "error": code}`, e.g. `fatal_error`, `token_revoked`, `plan_upgrade_required`."""
        self._arm(method, Fault(Kind.CODE, times, code=code))

    def http_500(self, method: str, times: int | None = 1) -> None:
        """The server fails before it does anything."""
        self._arm(method, Fault(Kind.HTTP_500, times))

    def rate_limited(self, method: str, retry_after: int = 1, times: int | None = 1) -> None:
        """429 with `Retry-After: retry_after`, whatever the real pace."""
        self._arm(method, Fault(Kind.RATE_LIMITED, times, retry_after))

    def slow(self, method: str, seconds: float, times: int | None = 1) -> None:
        """The answer comes `seconds` late; the call itself is handled at once."""
        self._arm(method, Fault(Kind.SLOW, times, seconds))

    def hold(self, method: str, times: int | None = None) -> Gate:
        """Calls wait, unhandled, until the returned gate is released."""
        fault = Fault(Kind.HELD, times)
        self._arm(method, fault)
        self._gates.append(fault)
        return Gate(fault, self, method)

    def drop_before(self, method: str, times: int | None = 1) -> None:
        """The connection breaks before the call is handled."""
        self._arm(method, Fault(Kind.DROP_BEFORE, times))

    def drop_after(self, method: str, times: int | None = 1) -> None:
        """The call is handled, the message stands, and the answer is lost."""
        self._arm(method, Fault(Kind.DROP_AFTER, times))

    def not_json(self, method: str, times: int | None = 1) -> None:
        """The call is handled, and answered 200 with a body that is no JSON."""
        self._arm(method, Fault(Kind.NOT_JSON, times))

    def refuse_websocket(self, times: int | None = 1) -> None:
        """The WebSocket handshake is answered 503."""
        self._arm("websocket", Fault(Kind.REFUSED, times))

    def clear(self, method: str | None = None) -> None:
        """Disarm everything, or everything of one method; calls held by it go on."""
        with self._lock:
            gone = [method] if method is not None else list(self._armed)
            for name in gone:
                for fault in self._armed.pop(name, ()):
                    fault.released.set()
            if method is None:
                for fault in self._gates:
                    fault.released.set()

    def take(self, method: str, *, web_api: bool = True) -> Fault | None:
        """The fault that strikes this call, counted down; what was armed first strikes first."""
        with self._lock:
            for name in (method, "*") if web_api else (method,):
                for fault in self._armed.get(name, ()):
                    self._count_down(name, fault)
                    return fault
        return None

    def disarm(self, method: str, fault: Fault) -> None:
        with self._lock:
            if fault in self._armed.get(method, ()):
                self._armed[method].remove(fault)

    def _arm(self, method: str, fault: Fault) -> None:
        with self._lock:
            self._armed.setdefault(method, []).append(fault)

    def _count_down(self, name: str, fault: Fault) -> None:
        if fault.times is None:
            return
        fault.times -= 1
        if fault.times == 0:
            self._armed[name].remove(fault)
