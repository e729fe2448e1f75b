"""Many things, some at a time: for statements that take so many values, and transactions that hold so many changes."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def in_batches(things: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """In order, each of `size` but the last. None of nothing."""
    for start in range(0, len(things), size):
        yield things[start : start + size]
