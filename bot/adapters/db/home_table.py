"""The table of bot.ports.home_tabs, beside those of tables.py."""

from datetime import datetime

from sqlmodel import Field

from bot.adapters.db.columns import Instant, KeyText
from bot.adapters.db.tables import Base


class HomeTabRow(Base, table=True):
    """`core.home_tab.HomeTab`."""

    __tablename__ = "home_tab"

    user: str = Field(primary_key=True, sa_type=KeyText)
    opened_at: datetime = Field(sa_type=Instant, index=True)
    shown: str | None = Field(sa_type=KeyText)
    shown_at: datetime | None = Field(sa_type=Instant)
    hash: str | None = Field(sa_type=KeyText)
    failure: str | None = Field(sa_type=KeyText)


HOME_TAB = Base.metadata.tables["home_tab"]
