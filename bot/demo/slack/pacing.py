"""Slack's rate limits, measured on the workspace's clock. Called by `web_api` before a method runs, lock held."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.demo.slack.errors import RateLimitedError


@dataclass(frozen=True, slots=True)
class Pace:
    """`burst` calls at once, then `per_minute`; `by` names the argument each value of which has its own allowance."""

    per_minute: float
    burst: int
    by: str | None = None


def tier(per_minute: int) -> Pace:
    return Pace(per_minute, per_minute)


POSTING = Pace(60, 4, by="channel")
TIER_2, TIER_3, TIER_4 = tier(20), tier(50), tier(100)


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled: datetime


class Pacer:
    """Token buckets. With `on` false nothing is ever refused."""

    def __init__(self, now: Callable[[], datetime], *, on: bool = True) -> None:
        self.on = on
        self._now = now
        self._buckets: dict[tuple[str, str], _Bucket] = {}

    def take(self, method: str, key: str, pace: Pace) -> None:
        """Count one call. Error: `RateLimitedError` with the whole seconds until the next one is allowed."""
        if not self.on:
            return
        now = self._now()
        bucket = self._buckets.setdefault((method, key), _Bucket(pace.burst, now))
        per_second = pace.per_minute / 60
        waited = max(0.0, (now - bucket.filled).total_seconds())
        bucket.tokens = min(pace.burst, bucket.tokens + waited * per_second)
        bucket.filled = now
        if bucket.tokens < 1:
            raise RateLimitedError(max(1, math.ceil((1 - bucket.tokens) / per_second)))
        bucket.tokens -= 1
