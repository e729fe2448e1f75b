"""Numbers with their units as messages write them: "8 a100", "1 GPU", "8 GPUs", "576 GPU-h".

Used by every view. What is counted comes from the configuration (GPUs, slices), so no vendor's name is built in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.views.parts import Line, Part, Theirs


@dataclass(frozen=True, slots=True)
class Unit:
    """What one device of a resource is called."""

    one: str = "GPU"
    many: str = "GPUs"


GPU = Unit()


def number(value: int | None) -> str:
    """With thousands separators; None is a limit that is not set."""
    return "not set" if value is None else f"{value:,}"


def devices(value: int, unit: Unit = GPU) -> str:
    """A count of devices: "1 GPU", "0 GPUs", "1,204 GPUs"."""
    return f"{value:,} {unit.one if value == 1 else unit.many}"


def of_flavor(value: int, flavor: str) -> Line:
    """An amount of one flavor: "8 a100"."""
    return (f"{value:,} ", Theirs(flavor))


def device_hours(value: int, length: timedelta, unit: Unit = GPU) -> str:
    """What a loan is worth: "576 GPU-h", with one decimal unless it is whole."""
    hours = value * (length / timedelta(hours=1))
    shown = f"{hours:,.0f}" if hours == int(hours) else f"{hours:,.1f}"
    return f"{shown} {unit.one}-h"


def counted(value: int, one: str, many: str | None = None) -> str:
    """Any count with its noun: "1 approval", "2 approvals"."""
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def joined(items: Sequence[Line], last: str = " and ", between: str = ", ") -> Line:
    """Several short lines as one: "a, b and c"."""
    parts: list[Part] = []
    for index, item in enumerate(items):
        if index:
            parts.append(last if index == len(items) - 1 else between)
        parts.extend(item)
    return tuple(parts)


def up_to(items: Sequence[Line], most: int = 10, between: str = ", ") -> Line:
    """At most so many of them, and how many more there are: "a, b and 3 more"."""
    left = len(items) - most
    if left <= 0:
        return joined(items, between, between)
    return joined([*items[:most], (f"{left:,} more",)], between=between)
