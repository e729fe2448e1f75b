"""The values convergence works on: fields, records, intents, answers. Stored by the database adapter as they are.

One field is (cluster, queue, flavor, resource, name of the number). Every rule of convergence is per field; the fields
of one queue travel in one patch. A number that is None means "not set", which only a borrowingLimit can be.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from bot.core.kueue import FlavorResource


class FieldName(StrEnum):
    """The numbers that loans change. (lendingLimit follows nominal and is no field.)"""

    NOMINAL = "nominal"
    BORROWING_LIMIT = "borrowingLimit"
    HARD = "hard"
    """`spec.hard["requests.<resource>"]` of a ResourceQuota, which stands in the place of the queue."""

    __hash__ = str.__hash__
    """Enum's own is written in Python, and field keys are looked up many thousand times a plan."""


class FieldKey(NamedTuple):
    """Which number."""

    cluster: str
    queue: str
    flavor: str
    resource: str
    name: FieldName

    @property
    def flavor_resource(self) -> FlavorResource:
        """The entry of the queue that this field belongs to."""
        return FlavorResource(self.flavor, self.resource)


@dataclass(frozen=True, slots=True)
class Question:
    """An outside edit that nobody has explained yet."""

    uid: str
    """uid of the object it was seen on."""
    live: int | None
    """The number that was found (y)."""
    since: datetime
    manager: str | None = None
    """Field manager that seems to have written it; None when not known."""


@dataclass(frozen=True, slots=True)
class FieldRecord:
    """What the bot knows of one field it has ever touched. Kept for ever.

    Normally `wrote == base + sum(legs)`. `uid is None` marks a record that is a guess: it can never be taken for the
    live object's without an answer. `gone` says that the object or the entry was not there when last looked at.
    """

    key: FieldKey
    uid: str | None
    seq: int
    base: int | None
    legs: Mapping[str, int] = field(default_factory=dict)
    wrote: int | None = None
    question: Question | None = None
    lending_base: int | None = None
    lending_wrote: int | None = None
    gone: bool = False
    version: int = 0
    """For compare-and-set of the row. 0: not stored yet."""


@dataclass(frozen=True, slots=True)
class IntendedField:
    """One field's part of an intent: what the record will be if the patch lands."""

    key: FieldKey
    seq: int
    base: int | None
    legs: Mapping[str, int]
    wrote: int | None
    lending_base: int | None = None
    lending_wrote: int | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    """A patch that was committed to the database before it was sent. Open until its outcome is known."""

    id: str
    cluster: str
    queue: str
    uid: str
    resource_version: str
    generation: int
    epoch: int
    fields: tuple[IntendedField, ...]
    created_at: datetime


class AnswerKind(StrEnum):
    """The three answers to an outside edit."""

    NEW_BASE = "base"
    INCLUDED = "included"
    PUT_BACK = "restore"


@dataclass(frozen=True, slots=True)
class Answer:
    """A person's answer to a question; void once uid, number or record version differ."""

    key: FieldKey
    uid: str
    live: int | None
    record_version: int
    kind: AnswerKind
    who: str
    at: datetime
