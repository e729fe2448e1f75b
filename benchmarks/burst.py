"""Many HTTP requests at once, each timed from the connect to the last byte of its answer. Used by benchmarks/ack."""

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

GIVE_UP = 30.0
"""Seconds. Slack gives up after 3; waiting longer tells late from never."""


@dataclass(frozen=True, slots=True)
class Reply:
    """`status` is None when no answer came. `seconds` from the connect on."""

    status: int | None
    seconds: float


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest rank: at least this share of the values is not above it."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def burst(port: int, requests: Sequence[bytes]) -> list[Reply]:
    """Send all of them at once, a connection each, to a port on loopback."""

    async def all_of_them() -> list[Reply]:
        return await asyncio.gather(*(_one(port, request) for request in requests))

    return asyncio.run(all_of_them())


async def _one(port: int, request: bytes) -> Reply:
    began = time.perf_counter()
    try:
        async with asyncio.timeout(GIVE_UP):
            answer = await _exchange(port, request)
    except (OSError, TimeoutError):
        answer = b""
    words = answer.split(b" ", 2)
    return Reply(int(words[1]) if len(words) == 3 else None, time.perf_counter() - began)


async def _exchange(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        return await reader.read()
    finally:
        writer.close()
