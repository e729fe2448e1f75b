"""How long to wait after the next of several failures. Used wherever something is tried again by itself."""

from datetime import timedelta

_DOUBLED = 10
"""Times at most: more would make a number that no length of time can hold, before it is cut."""


def longer_each_time(first: timedelta, before: int, longest: timedelta) -> timedelta:
    """Twice as long as the last time. `before`: failures before this one."""
    return min(first * (1 << min(before, _DOUBLED)), longest)
