"""What the database keeps of watched work and of what people are told of it: part of bot.ports.store's unit of work."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.core.incidents.facts import Kind, Remembered
from bot.core.incidents.stories import Incident
from bot.core.incidents.storms import Storm


class Memory(Protocol):
    """What is remembered of watched objects. Written by the leader only, who checks its epoch in the transaction."""

    def get(self, cluster: str, kind: Kind, uids: Collection[str]) -> Mapping[str, Remembered]:
        """By uid; those of which nothing is remembered are not in it."""
        ...

    def put(self, remembered: Remembered) -> None:
        """In place of what was there."""
        ...

    def forget(self, cluster: str, kind: Kind, uid: str) -> None:
        """Harmless when nothing is remembered."""
        ...

    def uids(self, cluster: str, kind: Kind) -> frozenset[str]:
        """All of which something is remembered: those that are not there any more were deleted unseen."""
        ...

    def due(self, now: datetime, limit: int) -> Sequence[Remembered]:
        """What was put off until now, the oldest first."""
        ...

    def troubled(self, story: str) -> tuple[int, int]:
        """Pods of a story with a trouble that was told, and their devices."""
        ...

    def refusals(self, story: str) -> Sequence[Remembered]:
        """What Events said of it."""
        ...


class Incidents(Protocol):
    """Stories of work, never deleted."""

    def add(self, draft: Incident) -> Incident:
        """Its id is assigned (`draft.id` is ignored)."""
        ...

    def get(self, incident_id: int) -> Incident | None: ...

    def latest(self, key: str) -> Incident | None:
        """The newest of a story's key."""
        ...

    def open_keys(self, cluster: str) -> frozenset[str]:
        """Keys of those that wait for an end."""
        ...

    def recent(self, to: str, what: str, since: datetime) -> Sequence[Incident]:
        """Those told to one place that began since then and are still what they were, in order."""
        ...

    def of_storm(self, storm: int) -> Sequence[Incident]:
        """In order."""
        ...

    def update(self, incident: Incident) -> Incident:
        """Compare-and-set on `incident.version`. Raises Stale."""
        ...


class Storms(Protocol):
    """Many incidents in one message, never deleted."""

    def add(self, draft: Storm) -> Storm:
        """Its id is assigned (`draft.id` is ignored)."""
        ...

    def get(self, storm_id: int) -> Storm | None: ...

    def latest(self, to: str, what: str) -> Storm | None: ...

    def touch(self, storm_id: int, at: datetime) -> None:
        """One more happened then."""
        ...
