"""The table of proposals; see tables.py for what all of them have in common."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, text
from sqlmodel import Field

from bot.adapters.db.columns import BigId, CanonicalJson, Instant, KeyText
from bot.adapters.db.tables import Base

PROPOSAL_OPEN = text("ended IS NULL")


class ProposalRow(Base, table=True):
    """`core.convergence.proposals.Proposal`, kept after its end. One of a queue is open at most. `number`: the order
    in which they were made."""

    __tablename__ = "proposal"
    __table_args__ = (
        Index(
            "ux_proposal_open",
            "cluster",
            "queue",
            unique=True,
            sqlite_where=PROPOSAL_OPEN,
            postgresql_where=PROPOSAL_OPEN,
        ),
        Index("ix_proposal_ended_at", "cluster", "ended_at"),
        {"sqlite_autoincrement": True},
    )

    number: int | None = Field(default=None, primary_key=True, sa_type=BigId)
    id: str = Field(sa_type=KeyText, unique=True)
    cluster: str = Field(sa_type=KeyText)
    queue: str = Field(sa_type=KeyText)
    uid: str = Field(sa_type=KeyText)
    fields: list[Any] = Field(sa_type=CanonicalJson)
    created_at: datetime = Field(sa_type=Instant)
    ended: str | None = Field(sa_type=KeyText)
    ended_at: datetime | None = Field(sa_type=Instant)


PROPOSAL = Base.metadata.tables["proposal"]
