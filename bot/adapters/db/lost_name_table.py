"""The table of bot.ports.lost_names, beside those of tables.py."""

from datetime import datetime

from sqlalchemy import Index, text
from sqlmodel import Field

from bot.adapters.db.columns import BigId, Instant, KeyText
from bot.adapters.db.tables import Base

MISSING = text("ended_at IS NULL")


class LostNameRow(Base, table=True):
    """`core.lost_names.LostName`. A name is missing once at a time."""

    __tablename__ = "lost_name"
    __table_args__ = (
        Index("ux_lost_name_missing", "name", unique=True, sqlite_where=MISSING, postgresql_where=MISSING),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=BigId)
    name: str = Field(sa_type=KeyText)
    since: datetime = Field(sa_type=Instant)
    ended_at: datetime | None = Field(sa_type=Instant)


LOST_NAME = Base.metadata.tables["lost_name"]
