"""The tables of how much loans are used and of what is asked when they lie idle. As tables.py, for the same readers."""

from datetime import datetime, timedelta

from sqlalchemy import BigInteger as Big
from sqlalchemy import UniqueConstraint
from sqlmodel import Field

from bot.adapters.db.columns import BigId, CanonicalJson, Duration, Instant, KeyText
from bot.adapters.db.tables import Base


class LoanUseRow(Base, table=True):
    """`core.loan_use.LoanUse`: one row a loan, which the leader writes over. `unused`: devices, microseconds."""

    __tablename__ = "loan_use"

    loan: int = Field(foreign_key="loan.id", primary_key=True, sa_type=Big, sa_column_kwargs={"autoincrement": False})
    seen_at: datetime = Field(sa_type=Instant)
    amount: int = Field(sa_type=Big)
    used: int = Field(sa_type=Big)
    observed: timedelta = Field(sa_type=Duration)
    used_time: timedelta = Field(sa_type=Duration)
    unused: list[list[int]] = Field(sa_type=CanonicalJson)


class IdleOfferRow(Base, table=True):
    """`core.idle_loans.IdleOffer`. `nth` counts those of a loan, so that two leaders cannot ask at the same time."""

    __tablename__ = "idle_offer"
    __table_args__ = (UniqueConstraint("loan", "nth"), {"sqlite_autoincrement": True})

    id: int | None = Field(default=None, primary_key=True, sa_type=BigId)
    loan: int = Field(foreign_key="loan.id", sa_type=Big)
    nth: int = Field(sa_type=Big)
    amount: int = Field(sa_type=Big)
    of: int = Field(sa_type=Big)
    unused_for: timedelta = Field(sa_type=Duration)
    at: datetime = Field(sa_type=Instant)
    state: str = Field(sa_type=KeyText)
    settled_by: str | None = Field(sa_type=KeyText)
    settled_at: datetime | None = Field(sa_type=Instant)
    left: int | None = Field(sa_type=Big)
    version: int = Field(sa_type=Big)


LOAN_USE = Base.metadata.tables[str(LoanUseRow.__tablename__)]
IDLE_OFFER = Base.metadata.tables[str(IdleOfferRow.__tablename__)]
