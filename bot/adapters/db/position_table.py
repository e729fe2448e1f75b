"""The table of bot.ports.watching, beside those of tables.py."""

from datetime import datetime

from sqlmodel import Field

from bot.adapters.db.columns import Instant, KeyText
from bot.adapters.db.tables import Base


class WatchPositionRow(Base, table=True):
    """`ports.watching.Position`."""

    __tablename__ = "watch_position"

    cluster: str = Field(primary_key=True, sa_type=KeyText)
    kind: str = Field(primary_key=True, sa_type=KeyText)
    version: str = Field(sa_type=KeyText)
    heard_at: datetime = Field(sa_type=Instant)


WATCH_POSITION = Base.metadata.tables["watch_position"]
