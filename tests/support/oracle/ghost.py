"""What each number would be without the bot, kept from the numbers alone.

`base` moves when somebody else writes a number that has nothing of the bot's in it, and when a person answers; never
because the bot says so. What the bot stores is a claim, and each claim must be a step that the design allows.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.oracle.log import Event


@dataclass(slots=True)
class Ghost:
    """One field. `legs` are what the bot's last write put into the number, by loan."""

    base: int | None
    wrote: int | None
    uid: str
    live: int | None
    live_uid: str
    legs: dict[str, int] = field(default_factory=dict)
    former: list[int | None] = field(default_factory=list)
    """Bases since the bot last stored something of it: it may not have seen that they moved."""
    outside: list[int] = field(default_factory=list)
    """Numbers that others wrote since the bot's last write or the last answer."""
    closing: set[int | None] = field(default_factory=set)
    """Numbers that the bot set out to write, with nothing of its own in them: found there, they count as its own."""
    touched: bool = False
    """Others wrote the queue, if only its annotation, since the bot's last write of it."""
    absent: bool = False
    """It was seen missing since the bot last stored something of it."""
    guess: bool = False
    """The bot is in doubt what it holds; only an answer ends that."""
    asked: tuple[str, int | None] | None = None
    record: Event | None = None
    """The bot's last claim."""

    @property
    def in_question(self) -> bool:
        """Somebody else's number stands where something of the bot's is."""
        return bool(self.legs) and (self.live, self.live_uid) != (self.wrote, self.uid)

    @property
    def held(self) -> dict[str, int]:
        """The legs that are in the live number, as far as others left them there."""
        if self.live is None:
            return {}
        if not self.in_question or self.wrote is None:
            return self.legs
        return embodied(self.legs, self.live - reference(self.base, self.wrote, self.legs))

    @property
    def unclear(self) -> bool:
        """Nobody can say whose all of the number is."""
        return self.in_question or self.guess

    @property
    def at_most(self) -> Mapping[str, int]:
        """The legs that may be in the number without another write of the bot."""
        return self.held

    def follow(self, number: int, uid: str) -> None:
        """Nothing of the bot's is in it: the base is what stands there."""
        self.former.append(self.base)
        self.base = number
        self.wrote, self.uid, self.legs = number, uid, {}

    def others_wrote(self, number: int, uid: str) -> None:
        """Anybody but the bot."""
        self.touched = True
        if (number, uid) != (self.live, self.live_uid):
            self.outside.append(number)
            if not self.legs:
                self.follow(number, uid)
        self.live, self.live_uid = number, uid

    def catch_up(self) -> None:
        """After legs went away: what others wrote meanwhile is the base."""
        if not self.legs and self.live is not None:
            self.follow(self.live, self.live_uid)


@dataclass(frozen=True, slots=True)
class Note:
    """What the bot's annotation says of one field."""

    base: int | None
    legs: Mapping[str, int]


def notes(text: str | None, uid: str) -> dict[tuple[str, str, str], Note]:
    """The annotation of a queue by (flavor, resource, name); empty if it is of another object or cannot be read."""
    if text is None:
        return {}
    try:
        whole = json.loads(text)
        if whole["uid"] != uid:
            return {}
        return {tuple(key.split("|")): _note(value) for key, value in whole["f"].items()}
    except (ValueError, KeyError, TypeError):
        return {}


def _note(value: Mapping[str, Any]) -> Note:
    base = None if value["base"] is None else int(value["base"])
    return Note(base, {leg: facts["d"] for leg, facts in value["legs"].items()})


def answered(
    kind: str, base: int | None, wrote: int | None, legs: Mapping[str, int], y: int
) -> tuple[int | None, dict[str, int]]:
    """Base and legs after an answer, by the design's table."""
    held = {leg: size for leg, size in legs.items() if size}
    if kind == "base":
        return y, {}
    if kind == "restore":
        return base, held if wrote is None else embodied(held, y - reference(base, wrote, held))
    too_much = sum(held.values()) - y
    held = _cut(held, too_much, 1) if too_much > 0 else held
    return y - sum(held.values()), held


def reference(base: int | None, wrote: int, legs: Mapping[str, int]) -> int:
    """The number that an outsider's is measured against.

    After "put it back" and before that is written, the last number has an outsider's surplus in it, which is no leg
    come back. The lower of the two never takes a given leg for still lent that may be back.
    """
    return wrote if base is None else min(wrote, base + sum(legs.values()))


def embodied(legs: Mapping[str, int], excess: int) -> dict[str, int]:
    """What is more than was written comes out of the given legs, what is less out of the received ones."""
    return _cut(legs, abs(excess), -1 if excess > 0 else 1)


def _cut(legs: Mapping[str, int], amount: int, sign: int) -> dict[str, int]:
    left = dict(legs)
    for leg in sorted(left, key=lambda one: -int(one[1:])):
        if left[leg] * sign > 0:
            taken = min(amount, abs(left[leg]))
            left[leg] -= taken * sign
            amount -= taken
    return {leg: size for leg, size in left.items() if size}
