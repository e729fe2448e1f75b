"""The two annotations the bot keeps on a ClusterQueue.

`gpu-quota-bot.io/loans` says what is of the bot in the queue's numbers, so that a write whose answer was lost can be
recognised and a lost database rebuilt. It is written in the same patch as the numbers. `gpu-quota-bot.io/fence` exists
only to change the resourceVersion. Read by observe and rebuild, written by writes.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from bot.core.convergence.facts import FieldName
from bot.core.kueue import FlavorResource, QueueSnapshot
from bot.core.loans import LoanKind

LOANS = "gpu-quota-bot.io/loans"
FENCE = "gpu-quota-bot.io/fence"

DIGITS = 15
"""Longest whole number that is read: anybody can edit an annotation, and the database's numbers have 63 bits."""

NotedKey = tuple[FlavorResource, FieldName]


class Standing(StrEnum):
    """Whether the annotation counts."""

    NONE = "none"
    OURS = "ours"
    UNREADABLE = "unreadable"
    OTHER_INSTALL = "other install"
    """Another bot works on this queue: nothing at all is written to it."""
    OTHER_UID = "other uid"
    """It speaks of an object that is no more (re-created, restored from a backup)."""


@dataclass(frozen=True, slots=True)
class NotedLeg:
    """One leg with the facts of its loan."""

    size: int
    kind: LoanKind
    other: str | None
    """The queue at the other side; None if there is none."""
    amount: int
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class NotedField:
    """One field's record as the annotation has it."""

    seq: int
    base: int | None
    wrote: int | None
    lending_base: int | None
    legs: Mapping[str, NotedLeg]
    guess: bool = False
    """The record was a guess (its `uid` none, or another object's) when it was noted."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """The whole annotation. `seq` is the number of the write that put it there."""

    install: str
    uid: str
    seq: int
    fields: Mapping[NotedKey, NotedField]


class Fence(NamedTuple):
    """Value of the fence annotation. Compares by epoch, then counter."""

    epoch: int
    counter: int

    def __str__(self) -> str:
        return f"{self.epoch}.{self.counter}"


def read_fence(queue: QueueSnapshot) -> Fence:
    """The queue's fence; (0, 0) if it has none that can be read."""
    epoch, _, counter = queue.annotations.get(FENCE, "").partition(".")
    return Fence(int(epoch), int(counter)) if _is_short(epoch) and _is_short(counter) else Fence(0, 0)


def _is_short(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= DIGITS


def next_fence(queue: QueueSnapshot, epoch: int) -> Fence:
    """A fence the queue does not have yet."""
    now = read_fence(queue)
    return Fence(max(epoch, now.epoch), now.counter + 1)


def read(queue: QueueSnapshot, install: str) -> tuple[Standing, Annotation | None]:
    """What the queue's annotation is worth; the annotation only if it counts (or is of another uid)."""
    text = queue.annotations.get(LOANS)
    if text is None:
        return Standing.NONE, None
    try:
        noted = decode(text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return (Standing.OTHER_INSTALL if _names_another(text, install) else Standing.UNREADABLE), None
    if noted.install != install:
        return Standing.OTHER_INSTALL, None
    return (Standing.OURS if noted.uid == queue.uid else Standing.OTHER_UID), noted


def may_be_ours(standing: Standing) -> bool:
    """Whether this installation may have put the annotation there.

    One that cannot be read and names nobody counts: taken for ours by mistake it costs a fence, which changes no
    number; taken for another's by mistake it lets patches live that only a lost database knew of.
    """
    return standing not in (Standing.NONE, Standing.OTHER_INSTALL)


def _names_another(text: str, install: str) -> bool:
    """What cannot be read as a whole, such as a newer version's, may still say whose it is."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(whole, dict) and whole.get("by", install) != install


def encode(annotation: Annotation) -> str:
    """Canonical JSON: sorted keys, no spaces."""
    fields = {_key(key): _field(noted, annotation.seq) for key, noted in annotation.fields.items()}
    whole = {"v": 1, "by": annotation.install, "uid": annotation.uid, "seq": annotation.seq, "f": fields}
    return json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@lru_cache(maxsize=4096)
def decode(text: str) -> Annotation:
    """Raises one of several errors (see `read`) for what `encode` did not write: anybody can edit an annotation.

    Remembered: in a steady minute no annotation has changed since the minute before.
    """
    whole = json.loads(text)
    if whole["v"] != 1:
        raise ValueError(f"version {whole['v']}")
    seq = _whole(whole["seq"])
    fields = {_parse_key(key): _parse_field(value, seq) for key, value in whole["f"].items()}
    return Annotation(_name(whole["by"]), _name(whole["uid"]), seq, fields)


def _key(key: NotedKey) -> str:
    (flavor, resource), name = key
    return f"{flavor}|{resource}|{name}"


def _parse_key(text: str) -> NotedKey:
    flavor, resource, name = _name(text).split("|")
    return FlavorResource(flavor, resource), FieldName(name)


def _field(noted: NotedField, seq: int) -> dict[str, Any]:
    out: dict[str, Any] = {
        "base": _quantity(noted.base),
        "wrote": _quantity(noted.wrote),
        "lend": _quantity(noted.lending_base),
        "legs": {leg: _leg(facts) for leg, facts in noted.legs.items()},
    }
    if noted.seq != seq:
        out["seq"] = noted.seq
    if noted.guess:
        out["guess"] = True
    return out


def _parse_field(value: Mapping[str, Any], seq: int) -> NotedField:
    return NotedField(
        seq=_whole(value.get("seq", seq)),
        base=_parse_quantity(value["base"]),
        wrote=_parse_quantity(value["wrote"]),
        lending_base=_parse_quantity(value["lend"]),
        legs={_leg_id(leg): _parse_leg(facts) for leg, facts in value["legs"].items()},
        guess=bool(value.get("guess", False)),
    )


def _leg(leg: NotedLeg) -> dict[str, Any]:
    return {
        "d": leg.size,
        "k": str(leg.kind),
        "o": leg.other,
        "n": leg.amount,
        "s": _time(leg.start),
        "e": _time(leg.end),
    }


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _parse_leg(value: Mapping[str, Any]) -> NotedLeg:
    start, end = datetime.fromisoformat(value["s"]), datetime.fromisoformat(value["e"])
    if start.tzinfo is None or end.tzinfo is None:
        raise ValueError("a time without zone")
    other = None if value["o"] is None else _name(value["o"])
    amount = _whole(value["n"])
    if amount <= 0:
        raise ValueError(f"amount {amount}")
    times = start.astimezone(UTC), end.astimezone(UTC)
    return NotedLeg(_whole(value["d"]), LoanKind(value["k"]), other, amount, *times)


def _leg_id(text: str) -> str:
    digits = text[1:]
    if text[:1] != "L" or not _is_short(digits):
        raise ValueError(f"leg {text!r}")
    return text


def _quantity(number: int | None) -> str | None:
    return None if number is None else str(number)


def _parse_quantity(value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError("a quantity is a string")
    if not _is_short(value):
        raise ValueError("a quantity has 1 to 15 digits")
    return int(value)


def _name(value: object) -> str:
    """Half a surrogate or a NUL is JSON, and no database takes it."""
    if not isinstance(value, str):
        raise TypeError("a name is a string")
    if not value.isprintable():
        raise ValueError("a name is printable")
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("not a whole number")
    if abs(value) >= 10**DIGITS:
        raise ValueError("too large a number")
    return value
