"""The tables of bot.ports.unanswered, beside those of tables.py."""

from datetime import datetime

from sqlalchemy import BigInteger as Big
from sqlalchemy import Index, UniqueConstraint, text
from sqlmodel import Field

from bot.adapters.db.columns import BigId, Instant, KeyText, PlainText
from bot.adapters.db.tables import Base

ASK_BACK_OPEN = text("state = 'open'")


class AskBackRow(Base, table=True):
    """`core.ask_backs.AskBack`. One of a loan is open at most."""

    __tablename__ = "ask_back"
    __table_args__ = (
        Index("ux_ask_back_open", "loan", unique=True, sqlite_where=ASK_BACK_OPEN, postgresql_where=ASK_BACK_OPEN),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=BigId)
    loan: int = Field(foreign_key="loan.id", sa_type=Big, index=True)
    who: str = Field(sa_type=KeyText)
    at: datetime = Field(sa_type=Instant)
    words: str = Field(sa_type=PlainText)
    state: str = Field(sa_type=KeyText)
    settled_by: str | None = Field(sa_type=KeyText)
    settled_at: datetime | None = Field(sa_type=Instant)
    given: int | None = Field(sa_type=Big)
    version: int = Field(sa_type=Big)


class EscalationRow(Base, table=True):
    """`core.escalations.Escalation`. Unique: it happens once, whoever notices that it is due."""

    __tablename__ = "escalation"
    __table_args__ = (UniqueConstraint("request", "terms", "step", "asked", "to"), {"sqlite_autoincrement": True})

    id: int | None = Field(default=None, primary_key=True, sa_type=BigId)
    request: int = Field(foreign_key="quota_request.id", sa_type=Big)
    terms: int = Field(sa_type=Big)
    step: int = Field(sa_type=Big)
    asked: str = Field(sa_type=KeyText)
    to: str = Field(sa_type=KeyText)
    at: datetime = Field(sa_type=Instant)
    why: str = Field(sa_type=PlainText)


ASK_BACK = Base.metadata.tables["ask_back"]
ESCALATION = Base.metadata.tables["escalation"]
