"""Watched work and its stories, in memory. Used by tests/support/fakes/store."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.core.errors import Stale
from bot.core.incidents.facts import Kind, Remembered, What
from bot.core.incidents.stories import Incident
from bot.core.incidents.storms import Storm

__all__ = ["FakeIncidents", "FakeMemory", "FakeStorms", "Incident", "Remembered", "Storm"]


class FakeMemory:
    """Implements ports.incidents.Memory."""

    def __init__(self, tables: Any) -> None:
        self._tables = tables

    def get(self, cluster: str, kind: Kind, uids: Collection[str]) -> Mapping[str, Remembered]:
        keys = ((cluster, kind.value, uid) for uid in uids)
        return {key[2]: self._tables.remembered[key] for key in keys if key in self._tables.remembered}

    def put(self, remembered: Remembered) -> None:
        key = (remembered.cluster, remembered.kind.value, remembered.uid)
        self._tables.remembered[key] = remembered.with_json(remembered.to_json())

    def forget(self, cluster: str, kind: Kind, uid: str) -> None:
        self._tables.remembered.pop((cluster, kind.value, uid), None)

    def uids(self, cluster: str, kind: Kind) -> frozenset[str]:
        return frozenset(key[2] for key in self._tables.remembered if key[:2] == (cluster, kind.value))

    def due(self, now: datetime, limit: int) -> Sequence[Remembered]:
        found = [one for one in self._tables.remembered.values() if one.due is not None and one.due <= now]
        return sorted(found, key=lambda one: (one.due, one.uid))[:limit]

    def troubled(self, story: str) -> tuple[int, int]:
        found = [
            one
            for one in self._tables.remembered.values()
            if one.story == story
            and one.kind is Kind.POD
            and one.due is None
            and one.state in (What.UNSCHEDULABLE, What.NO_ROOM)
        ]
        return len(found), sum(one.devices for one in found)

    def refusals(self, story: str) -> Sequence[Remembered]:
        found = [one for one in self._tables.remembered.values() if one.story == story and one.kind is Kind.EVENT]
        return sorted(found, key=lambda one: one.uid)


class FakeIncidents:
    """Implements ports.incidents.Incidents."""

    def __init__(self, tables: Any) -> None:
        self._tables = tables

    def add(self, draft: Incident) -> Incident:
        stored = replace(draft, id=1 + max(self._tables.incidents, default=0), version=1)
        self._tables.incidents[stored.id] = stored
        return stored

    def get(self, incident_id: int) -> Incident | None:
        found: Incident | None = self._tables.incidents.get(incident_id)
        return found

    def latest(self, key: str) -> Incident | None:
        return next((one for one in reversed(self._all()) if one.key == key), None)

    def open_keys(self, cluster: str) -> frozenset[str]:
        return frozenset(one.key for one in self._all() if one.cluster == cluster and one.open)

    def recent(self, to: str, what: str, since: datetime) -> Sequence[Incident]:
        return [one for one in self._all() if one.audience.to == to and one.what.value == what and one.told_at >= since]

    def of_storm(self, storm: int) -> Sequence[Incident]:
        return [one for one in self._all() if one.storm == storm]

    def update(self, incident: Incident) -> Incident:
        known = self._tables.incidents.get(incident.id)
        if known is None or known.version != incident.version:
            raise Stale(f"incident {incident.id}")
        stored = replace(incident, version=incident.version + 1)
        self._tables.incidents[incident.id] = stored
        return stored

    def _all(self) -> list[Incident]:
        return [one for _, one in sorted(self._tables.incidents.items())]


class FakeStorms:
    """Implements ports.incidents.Storms."""

    def __init__(self, tables: Any) -> None:
        self._tables = tables

    def add(self, draft: Storm) -> Storm:
        stored = replace(draft, id=1 + max(self._tables.storms, default=0))
        self._tables.storms[stored.id] = stored
        return stored

    def get(self, storm_id: int) -> Storm | None:
        found: Storm | None = self._tables.storms.get(storm_id)
        return found

    def latest(self, to: str, what: str) -> Storm | None:
        found = [one for _, one in sorted(self._tables.storms.items()) if one.to == to and one.what.value == what]
        return found[-1] if found else None

    def touch(self, storm_id: int, at: datetime) -> None:
        self._tables.storms[storm_id] = replace(self._tables.storms[storm_id], last=at)
