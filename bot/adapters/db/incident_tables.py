"""The tables of bot.ports.incidents, beside those of tables.py."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger as Big
from sqlalchemy import Boolean, Index
from sqlmodel import Field

from bot.adapters.db.columns import BigId, CanonicalJson, Instant, KeyText, PlainText
from bot.adapters.db.tables import Base


class RememberedRow(Base, table=True):
    """`core.incidents.facts.Remembered`. `rest` is its `to_json`."""

    __tablename__ = "remembered"
    __table_args__ = (Index("ix_remembered_story", "story", "kind"),)

    cluster: str = Field(primary_key=True, sa_type=KeyText)
    kind: str = Field(primary_key=True, sa_type=KeyText)
    uid: str = Field(primary_key=True, sa_type=KeyText)
    story: str = Field(sa_type=KeyText)
    state: str | None = Field(sa_type=KeyText)
    due: datetime | None = Field(sa_type=Instant, index=True)
    devices: int = Field(sa_type=Big)
    rest: str = Field(sa_type=PlainText)


class IncidentRow(Base, table=True):
    """`core.incidents.stories.Incident`. `rest`: what nobody searches by."""

    __tablename__ = "incident"
    __table_args__ = (
        Index("ix_incident_key", "key", "id"),
        Index("ix_incident_to", "to", "what", "told_at"),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=BigId)
    key: str = Field(sa_type=KeyText)
    cluster: str = Field(sa_type=KeyText)
    what: str = Field(sa_type=KeyText)
    open: bool = Field(sa_type=Boolean)
    to: str = Field(sa_type=KeyText)
    told_at: datetime = Field(sa_type=Instant)
    storm: int | None = Field(sa_type=Big, index=True)
    rest: dict[str, Any] = Field(sa_type=CanonicalJson)
    version: int = Field(sa_type=Big)


class StormRow(Base, table=True):
    """`core.incidents.storms.Storm`."""

    __tablename__ = "storm"
    __table_args__ = (Index("ix_storm_to", "to", "what", "id"), {"sqlite_autoincrement": True})

    id: int | None = Field(default=None, primary_key=True, sa_type=BigId)
    to: str = Field(sa_type=KeyText)
    what: str = Field(sa_type=KeyText)
    began: datetime = Field(sa_type=Instant)
    last: datetime = Field(sa_type=Instant)


REMEMBERED = Base.metadata.tables["remembered"]
INCIDENT = Base.metadata.tables["incident"]
STORM = Base.metadata.tables["storm"]
