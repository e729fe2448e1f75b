"""The table of what is evicted at a loan's end. Seen by its repository and, through it, by alembic."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger as Big
from sqlalchemy import Index, text
from sqlmodel import Field

from bot.adapters.db.columns import CanonicalJson, Duration, Instant, KeyText, PlainText
from bot.adapters.db.tables import Base

EVICTION_OPEN = text("state <> 'closed'")


class EvictionRow(Base, table=True):
    """`core.evictions.Eviction`. `loan` is the loan's number."""

    __tablename__ = "eviction"
    __table_args__ = (Index("ix_eviction_open", "loan", sqlite_where=EVICTION_OPEN, postgresql_where=EVICTION_OPEN),)

    loan: int = Field(primary_key=True, sa_type=Big, sa_column_kwargs={"autoincrement": False})
    cluster: str = Field(sa_type=KeyText)
    queue: str = Field(sa_type=KeyText)
    flavor: str = Field(sa_type=KeyText)
    resource: str = Field(sa_type=KeyText)
    most: int = Field(sa_type=Big)
    grace: timedelta = Field(sa_type=Duration)
    ended_at: datetime = Field(sa_type=Instant)
    state: str = Field(sa_type=KeyText)
    due: datetime | None = Field(sa_type=Instant)
    works: list[Any] = Field(sa_type=CanonicalJson)
    extensions: list[str] = Field(sa_type=CanonicalJson)
    held: str = Field(sa_type=PlainText)
    version: int = Field(sa_type=Big)


EVICTION = Base.metadata.tables[str(EvictionRow.__tablename__)]
