"""Ids and timestamps of the workspace: deterministic ids, and `ts` that are unique and never go back.

Everything here is called with the workspace's lock held.
"""

import string
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

_DIGITS = string.digits + string.ascii_uppercase
_MICROSECOND = timedelta(microseconds=1)


class Ids:
    """Counted ids in Slack's look: a prefix letter and ten characters, e.g. `C0000000001`."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()

    def next(self, prefix: str) -> str:
        self._used[prefix] += 1
        number, tail = self._used[prefix], ""
        while number:
            number, digit = divmod(number, 36)
            tail = _DIGITS[digit] + tail
        return prefix + tail.rjust(10, "0")


class Stamps:
    """Message timestamps `seconds.microseconds`, from the injected clock, strictly increasing."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._last: datetime | None = None

    def next(self) -> str:
        moment = self._now()
        if self._last is not None and moment <= self._last:
            moment = self._last + _MICROSECOND
        self._last = moment
        return to_ts(moment)


def to_ts(moment: datetime) -> str:
    """The `ts` of an instant; `moment` is aware."""
    return f"{int(moment.timestamp())}.{moment.microsecond:06d}"
