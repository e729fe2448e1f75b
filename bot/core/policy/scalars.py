"""What a single value in policies/*.yaml may be: ids, names, durations, time zones. Used by the models beside it.

Every check raises ValueError with a sentence; the loader adds file and line.
"""

import re
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt

from bot.core.durations import parse_duration
from bot.core.wording.faults import Misread

_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)
_KUBERNETES_NAME = r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?"


class Strict(BaseModel):
    """Base of all policy models: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _match(value: str, pattern: str, what: str) -> str:
    if not re.fullmatch(pattern, value, re.ASCII):
        raise ValueError(f'"{value}" is no {what}')
    return value


def _matching(pattern: str, what: str) -> AfterValidator:
    return AfterValidator(partial(_match, pattern=pattern, what=what))


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        near = get_close_matches(value, available_timezones(), n=1)
        hint = f"; did you mean {near[0]}?" if near else ", like Europe/Zurich"
        raise ValueError(f'"{value}" is no time zone{hint}') from error
    return value


def _duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    length = parse_duration(str(value))
    if isinstance(length, Misread):
        raise ValueError(length.sentence)  # noqa: TRY004 - what a check of pydantic's raises
    return length


def _clock(value: Any) -> time:
    if isinstance(value, time):
        return value
    found = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f'"{value}" is no time of day. Write it like 08:00')
    return time(int(found[1]), int(found[2]))


def _day(value: Any) -> date:
    if isinstance(value, date):
        return value
    try:
        return datetime.strptime(str(value), "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise ValueError(f'"{value}" is no day. Write it like 2026-12-24') from None


def _listed(value: Any) -> Any:
    """One name stands for a list of one."""
    return (value,) if isinstance(value, str) else value


def unique(values: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a list that names something twice."""
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise ValueError(f'"{twice[0]}" is there twice')
    return values


def _not_empty(values: Any) -> Any:
    if not values:
        raise ValueError("at least one is needed here")
    return values


NOT_EMPTY = AfterValidator(_not_empty)
"""Of a list or mapping. (A min_length would also be reported when the items are what is wrong.)"""


LISTED = (BeforeValidator(_listed), AfterValidator(unique))
"""Of a list of names, which may be written as a single name."""


Name = Annotated[str, _matching(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,58}[A-Za-z0-9])?", "name (letters, digits, . _ -)")]
KubernetesName = Annotated[str, _matching(_KUBERNETES_NAME, "name that Kubernetes allows")]
ResourceName = Annotated[
    str, _matching(rf"({_KUBERNETES_NAME}/)?[A-Za-z0-9]([A-Za-z0-9._-]{{0,61}}[A-Za-z0-9])?", "resource name")
]
Channel = Annotated[str, _matching(r"[CG][A-Z0-9]{2,20}", "Slack channel id (C…)")]
PersonOrGroup = Annotated[str, _matching(r"[UWS][A-Z0-9]{2,20}", "Slack user id (U… or W…) or user group id (S…)")]
PersonId = Annotated[str, _matching(r"[UW][A-Z0-9]{2,20}", "Slack user id (U… or W…)")]
TimeZone = Annotated[str, AfterValidator(_zone)]
Duration = Annotated[timedelta, BeforeValidator(_duration)]
TimeOfDay = Annotated[time, BeforeValidator(_clock)]
Day = Annotated[date, BeforeValidator(_day)]
Words = Annotated[str, Field(min_length=1, max_length=300)]
Count = Annotated[StrictInt, Field(ge=1, le=1_000_000)]
CountOrNone = Annotated[StrictInt, Field(ge=0, le=1_000_000)]
Switch = StrictBool
People = Annotated[tuple[PersonOrGroup, ...], *LISTED]
Names = Annotated[tuple[Name, ...], *LISTED, NOT_EMPTY]
KubernetesNames = Annotated[tuple[KubernetesName, ...], *LISTED]
