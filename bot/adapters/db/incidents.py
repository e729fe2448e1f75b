"""Watched work and what is told of it. Implements `bot.ports.incidents`."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, and_, delete, func, select, update

from bot.adapters.db.incident_tables import INCIDENT, REMEMBERED, STORM
from bot.adapters.db.sql import Repository
from bot.core.incidents.facts import Kind, Remembered, What
from bot.core.incidents.stories import Audience, Incident
from bot.core.incidents.storms import Storm

_AT_A_TIME = 500
"""Uids in one query: SQLite takes 32,766 parameters, and both plan short lists better."""
_POD_TROUBLES = (What.UNSCHEDULABLE.value, What.NO_ROOM.value)
_SAME = ("id", "key", "cluster", "open", "told_at", "storm", "version")
_PLAIN = ("namespace", "kind", "name", "why", "message", "times", "stage_why", "mention", "late", "lines")


class SqlMemory(Repository):
    """One transaction's view of what is remembered."""

    def get(self, cluster: str, kind: Kind, uids: Collection[str]) -> Mapping[str, Remembered]:
        found: dict[str, Remembered] = {}
        wanted = list(dict.fromkeys(uids))
        for start in range(0, len(wanted), _AT_A_TIME):
            some = wanted[start : start + _AT_A_TIME]
            where = (REMEMBERED.c.cluster == cluster, REMEMBERED.c.kind == kind.value, REMEMBERED.c.uid.in_(some))
            found |= {row["uid"]: _to_remembered(row) for row in self._all(select(REMEMBERED).where(*where))}
        return found

    def put(self, remembered: Remembered) -> None:
        columns = {
            "story": remembered.story,
            "state": remembered.state.value if remembered.state else None,
            "due": remembered.due,
            "devices": remembered.devices,
            "rest": remembered.to_json(),
        }
        key = {"cluster": remembered.cluster, "kind": remembered.kind.value, "uid": remembered.uid}
        new = self._insert(REMEMBERED).values(columns | key)
        self._connection.execute(new.on_conflict_do_update(index_elements=list(key), set_=columns))

    def forget(self, cluster: str, kind: Kind, uid: str) -> None:
        self._connection.execute(delete(REMEMBERED).where(_row_of(cluster, kind, uid)))

    def uids(self, cluster: str, kind: Kind) -> frozenset[str]:
        where = (REMEMBERED.c.cluster == cluster, REMEMBERED.c.kind == kind.value)
        return frozenset(row["uid"] for row in self._all(select(REMEMBERED.c.uid).where(*where)))

    def due(self, now: datetime, limit: int) -> Sequence[Remembered]:
        order = (REMEMBERED.c.due, REMEMBERED.c.uid)
        query = select(REMEMBERED).where(REMEMBERED.c.due <= now).order_by(*order).limit(limit)
        return [_to_remembered(row) for row in self._all(query)]

    def troubled(self, story: str) -> tuple[int, int]:
        told = (REMEMBERED.c.due.is_(None), REMEMBERED.c.state.in_(_POD_TROUBLES))
        sums = select(func.count().label("pods"), func.coalesce(func.sum(REMEMBERED.c.devices), 0).label("devices"))
        where = (REMEMBERED.c.story == story, REMEMBERED.c.kind == Kind.POD.value, *told)
        row = self._first(sums.where(*where))
        return (int(row["pods"]), int(row["devices"])) if row else (0, 0)

    def refusals(self, story: str) -> Sequence[Remembered]:
        where = (REMEMBERED.c.story == story, REMEMBERED.c.kind == Kind.EVENT.value)
        return [_to_remembered(row) for row in self._all(select(REMEMBERED).where(*where).order_by("uid"))]


class SqlIncidents(Repository):
    """One transaction's view of the stories."""

    def add(self, draft: Incident) -> Incident:
        return _to_incident(self._add(INCIDENT, _of_incident(draft) | {"version": 1}, f"incident of {draft.key}"))

    def get(self, incident_id: int) -> Incident | None:
        row = self._first(select(INCIDENT).where(INCIDENT.c.id == incident_id))
        return None if row is None else _to_incident(row)

    def latest(self, key: str) -> Incident | None:
        row = self._first(select(INCIDENT).where(INCIDENT.c.key == key).order_by(INCIDENT.c.id.desc()).limit(1))
        return None if row is None else _to_incident(row)

    def open_keys(self, cluster: str) -> frozenset[str]:
        where = (INCIDENT.c.cluster == cluster, INCIDENT.c.open)
        return frozenset(row["key"] for row in self._all(select(INCIDENT.c.key).where(*where)))

    def recent(self, to: str, what: str, since: datetime) -> Sequence[Incident]:
        where = (INCIDENT.c.to == to, INCIDENT.c.what == what, INCIDENT.c.told_at >= since)
        return [_to_incident(row) for row in self._all(select(INCIDENT).where(*where).order_by("id"))]

    def of_storm(self, storm: int) -> Sequence[Incident]:
        return [
            _to_incident(row) for row in self._all(select(INCIDENT).where(INCIDENT.c.storm == storm).order_by("id"))
        ]

    def update(self, incident: Incident) -> Incident:
        key = INCIDENT.c.id == incident.id
        return _to_incident(
            self._swap(INCIDENT, key, incident.version, _of_incident(incident), f"incident {incident.id}")
        )


class SqlStorms(Repository):
    """One transaction's view of the storms."""

    def add(self, draft: Storm) -> Storm:
        columns = {"to": draft.to, "what": draft.what.value, "began": draft.began, "last": draft.last}
        return _to_storm(self._add(STORM, columns, "storm"))

    def get(self, storm_id: int) -> Storm | None:
        row = self._first(select(STORM).where(STORM.c.id == storm_id))
        return None if row is None else _to_storm(row)

    def latest(self, to: str, what: str) -> Storm | None:
        where = (STORM.c.to == to, STORM.c.what == what)
        row = self._first(select(STORM).where(*where).order_by(STORM.c.id.desc()).limit(1))
        return None if row is None else _to_storm(row)

    def touch(self, storm_id: int, at: datetime) -> None:
        self._connection.execute(update(STORM).where(STORM.c.id == storm_id).values(last=at))


def _row_of(cluster: str, kind: Kind, uid: str) -> ColumnElement[bool]:
    return and_(REMEMBERED.c.cluster == cluster, REMEMBERED.c.kind == kind.value, REMEMBERED.c.uid == uid)


def _to_remembered(row: RowMapping) -> Remembered:
    state = What(row["state"]) if row["state"] else None
    columns = {name: row[name] for name in ("cluster", "uid", "story", "due", "devices")}
    return Remembered(**columns, kind=Kind(row["kind"]), state=state).with_json(row["rest"])


def _of_incident(one: Incident) -> dict[str, Any]:
    who = one.audience
    rest = {name: getattr(one, name) for name in _PLAIN} | {
        "at": one.at.timestamp(),
        "began": one.began.timestamp(),
        "stage": one.stage.value if one.stage else None,
        "stage_at": one.stage_at.timestamp() if one.stage_at else None,
        "facts": dict(one.facts),
        "audience": [who.person, who.team, who.found_by],
    }
    same = {name: getattr(one, name) for name in _SAME if name not in ("id", "version")}
    return {**same, "what": one.what.value, "to": who.to, "rest": rest}


def _to_incident(row: RowMapping) -> Incident:
    rest = row["rest"]
    return Incident(
        **{name: row[name] for name in _SAME},
        **{name: rest[name] for name in (*_PLAIN, "facts")},
        what=What(row["what"]),
        at=_instant(rest["at"]),
        began=_instant(rest["began"]),
        stage=What(rest["stage"]) if rest["stage"] else None,
        stage_at=None if rest["stage_at"] is None else _instant(rest["stage_at"]),
        audience=Audience(row["to"], *rest["audience"]),
    )


def _instant(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _to_storm(row: RowMapping) -> Storm:
    return Storm(row["id"], row["to"], What(row["what"]), row["began"], row["last"])
