"""Changes that somebody else is to make: of a queue whose quota is written in Git, the bot proposes and never writes.

A proposal is one queue's numbers before and after, open until they are seen, or until it is wanted no more. Like a
patch that is under way it may come true at any time; unlike one it cannot be made dead, only taken back in words. There
is no annotation on such a queue: what the bot knows of it is in the database. Used by observe (is it merged?) and
settle_proposals (what is to be proposed now).
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.convergence.facts import FieldKey, FieldRecord, IntendedField

TAKEN_BACK_FOR = timedelta(days=7)
"""How long the number of a proposal that was taken back is known again: it may have been merged in the very moment, and
merge requests lie about."""


class ProposalEnd(StrEnum):
    """Why a proposal is open no more."""

    MERGED = "merged"
    """All its numbers are live."""
    SUPERSEDED = "superseded"
    """Another one stands in its place."""
    WITHDRAWN = "withdrawn"
    """Nothing is to be changed any more, or the bot may write the queue itself now."""


@dataclass(frozen=True, slots=True)
class ProposedField:
    """One number: what the record was when it was proposed, and what it will be once somebody has made the change."""

    before: IntendedField
    after: IntendedField

    @property
    def key(self) -> FieldKey:
        """Which number."""
        return self.after.key

    def is_about(self, record: FieldRecord) -> bool:
        """Whether the record is still as it was when this was proposed."""
        return _state(record) == _state(self.before)

    def is_in(self, record: FieldRecord) -> bool:
        """Whether the record says that it was made."""
        return _state(record) == _state(self.after)

    def comes_to(self, other: "ProposedField") -> bool:
        """Whether both lead to the same numbers, for the same loans."""
        mine, theirs = self.after, other.after
        return (_state(mine), mine.lending_wrote) == (_state(theirs), theirs.lending_wrote)


def _state(part: FieldRecord | IntendedField) -> tuple[object, ...]:
    return part.base, dict(part.legs), part.wrote


@dataclass(frozen=True, slots=True)
class Proposal:
    """The numbers of one queue that somebody is to change in Git."""

    id: str
    cluster: str
    queue: str
    uid: str
    """Of the object it was made for: one that is made again under the name is another."""
    fields: tuple[ProposedField, ...]
    created_at: datetime
    ended: ProposalEnd | None = None
    """None: open."""
    ended_at: datetime | None = None

    def of(self, key: FieldKey) -> ProposedField | None:
        """Its part about one number."""
        return next((part for part in self.fields if part.key == key), None)


@dataclass(frozen=True, slots=True)
class Proposing:
    """Which queues of a cluster are written in Git, and what is proposed."""

    queues: Set[str] = frozenset()
    open: Mapping[str, Proposal] = field(default_factory=dict)
    """By queue, which has at most one. It may be of a queue that the bot writes itself by now."""
    taken_back: Sequence[Proposal] = ()
    """Those that ended in the last `TAKEN_BACK_FOR` and were not merged, the newest first."""
