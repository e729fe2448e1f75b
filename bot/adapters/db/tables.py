"""The tables, one class each; seen by the repositories and by alembic. Unique keys make a repeated step harmless.

Every row that is compared-and-set has a `version`. States are stored as the words of the core's enums.
"""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger as Big
from sqlalchemy import CheckConstraint, Index, MetaData, Table, UniqueConstraint, text
from sqlmodel import Field, SQLModel

from bot.adapters.db.columns import BigId, CanonicalJson, Duration, Instant, KeyText, PlainText

INTENT_OPEN = text("closed_at IS NULL")
INBOX_UNSETTLED = text("state IN ('waiting', 'claimed')")
NOTICE_UNSETTLED = text("state IN ('owed', 'claimed')")
OFFER_OPEN = text("state = 'open'")
"""What the small indices are about, in a table that only grows. A query uses such an index only if it has the same
words in it: bound values would do on PostgreSQL, not on SQLite."""
NONE_YET = {"server_default": text("0")}
"""For a count that came after the first rows. (SQLite cannot take the default of a column away again.)"""


class Base(SQLModel):
    """Gives every constraint a name, so that a later migration can find it on both databases."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class RequestRow(Base, table=True):
    """`core.requests.QuotaRequest`. `origin` is unique: a redelivered submission makes no second request."""

    __tablename__ = "quota_request"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: int | None = Field(default=None, primary_key=True, sa_type=BigId)
    cluster: str = Field(sa_type=KeyText)
    team: str = Field(sa_type=KeyText)
    queue: str = Field(sa_type=KeyText)
    flavor: str = Field(sa_type=KeyText)
    resource: str = Field(sa_type=KeyText)
    amount: int = Field(sa_type=Big)
    kind: str = Field(sa_type=KeyText)
    lender: str | None = Field(sa_type=KeyText)
    start: datetime | None = Field(sa_type=Instant)
    duration: timedelta | None = Field(sa_type=Duration)
    until: datetime | None = Field(sa_type=Instant)
    reason: str = Field(sa_type=PlainText)
    requester: str = Field(sa_type=KeyText)
    state: str = Field(sa_type=KeyText, index=True)
    created_at: datetime = Field(sa_type=Instant, index=True)
    lapses_at: datetime = Field(sa_type=Instant)
    origin: str = Field(sa_type=KeyText, unique=True)
    revision: int = Field(sa_type=Big)
    rule: str | None = Field(sa_type=PlainText)
    steps: list[Any] = Field(sa_type=CanonicalJson)
    picture: str | None = Field(sa_type=PlainText)
    decided_by: str | None = Field(sa_type=KeyText)
    decided_at: datetime | None = Field(sa_type=Instant)
    words: str | None = Field(sa_type=PlainText)
    extends: int | None = Field(sa_type=Big, index=True)
    repeats: dict[str, Any] | None = Field(sa_type=CanonicalJson)
    series: int | None = Field(sa_type=Big, index=True)
    terms: int = Field(sa_type=Big, sa_column_kwargs=NONE_YET)
    judged_at: datetime | None = Field(sa_type=Instant)
    version: int = Field(sa_type=Big)


class ApprovalRow(Base, table=True):
    """`core.requests.Approval`. One per request, terms and person; `id` keeps the order in which they were given."""

    __tablename__ = "approval"
    __table_args__ = (UniqueConstraint("request", "who", "terms"), {"sqlite_autoincrement": True})

    id: int | None = Field(default=None, primary_key=True, sa_type=BigId)
    request: int = Field(foreign_key="quota_request.id", sa_type=Big)
    step: int = Field(sa_type=Big)
    who: str = Field(sa_type=KeyText)
    at: datetime = Field(sa_type=Instant)
    self_approved: bool
    terms: int = Field(sa_type=Big, sa_column_kwargs=NONE_YET)


class OfferRow(Base, table=True):
    """`core.offers.Offer`. One of a request is open at most."""

    __tablename__ = "offer"
    __table_args__ = (
        Index("ux_offer_open", "request", unique=True, sqlite_where=OFFER_OPEN, postgresql_where=OFFER_OPEN),
        {"sqlite_autoincrement": True},
    )

    id: int | None = Field(default=None, primary_key=True, sa_type=BigId)
    request: int = Field(foreign_key="quota_request.id", sa_type=Big, index=True)
    terms: dict[str, Any] = Field(sa_type=CanonicalJson)
    instead: dict[str, Any] = Field(sa_type=CanonicalJson)
    who: str = Field(sa_type=KeyText)
    at: datetime = Field(sa_type=Instant)
    words: str = Field(sa_type=PlainText)
    picture: str | None = Field(sa_type=PlainText)
    notes: list[str] = Field(sa_type=CanonicalJson)
    state: str = Field(sa_type=KeyText)
    settled_by: str | None = Field(sa_type=KeyText)
    settled_at: datetime | None = Field(sa_type=Instant)
    version: int = Field(sa_type=Big)


class LoanRow(Base, table=True):
    """`core.loans.Loan`. `id` is its request's number, without a foreign key: loans can be rebuilt from the queues."""

    __tablename__ = "loan"

    id: int = Field(primary_key=True, sa_type=Big, sa_column_kwargs={"autoincrement": False})
    cluster: str = Field(sa_type=KeyText)
    kind: str = Field(sa_type=KeyText)
    lender: str | None = Field(sa_type=KeyText, index=True)
    borrower: str = Field(sa_type=KeyText, index=True)
    flavor: str = Field(sa_type=KeyText)
    resource: str = Field(sa_type=KeyText)
    amount: int = Field(sa_type=Big)
    start: datetime = Field(sa_type=Instant)
    end: datetime = Field(sa_type=Instant)
    state: str = Field(sa_type=KeyText, index=True)
    suspended: str | None = Field(sa_type=PlainText)
    end_reason: str | None = Field(sa_type=KeyText)
    ended_at: datetime | None = Field(sa_type=Instant)
    in_force_at: datetime | None = Field(sa_type=Instant)
    version: int = Field(sa_type=Big)


class FieldRow(Base, table=True):
    """`core.convergence.facts.FieldRecord`. The key is the field itself."""

    __tablename__ = "field_record"

    cluster: str = Field(primary_key=True, sa_type=KeyText)
    queue: str = Field(primary_key=True, sa_type=KeyText)
    flavor: str = Field(primary_key=True, sa_type=KeyText)
    resource: str = Field(primary_key=True, sa_type=KeyText)
    name: str = Field(primary_key=True, sa_type=KeyText)
    uid: str | None = Field(sa_type=KeyText)
    seq: int = Field(sa_type=Big)
    base: int | None = Field(sa_type=Big)
    legs: dict[str, int] = Field(sa_type=CanonicalJson)
    wrote: int | None = Field(sa_type=Big)
    question_uid: str | None = Field(sa_type=KeyText)
    question_live: int | None = Field(sa_type=Big)
    question_since: datetime | None = Field(sa_type=Instant)
    question_manager: str | None = Field(sa_type=PlainText)
    lending_base: int | None = Field(sa_type=Big)
    lending_wrote: int | None = Field(sa_type=Big)
    gone: bool
    version: int = Field(sa_type=Big)


class IntentRow(Base, table=True):
    """`core.convergence.facts.Intent`, kept after it is closed, with what came of it."""

    __tablename__ = "intent"
    __table_args__ = (Index("ix_intent_open", "cluster", sqlite_where=INTENT_OPEN, postgresql_where=INTENT_OPEN),)

    id: str = Field(primary_key=True, sa_type=KeyText)
    cluster: str = Field(sa_type=KeyText)
    queue: str = Field(sa_type=KeyText)
    uid: str = Field(sa_type=KeyText)
    resource_version: str = Field(sa_type=KeyText)
    generation: int = Field(sa_type=Big)
    epoch: int = Field(sa_type=Big)
    fields: list[Any] = Field(sa_type=CanonicalJson)
    created_at: datetime = Field(sa_type=Instant)
    closed_at: datetime | None = Field(sa_type=Instant)
    outcome: str | None = Field(sa_type=PlainText)


class InboxRow(Base, table=True):
    """`core.inbox.InboxItem`, and who is at it. `key` is made of Slack's own ids: a redelivery is no second row."""

    __tablename__ = "inbox"
    __table_args__ = (
        Index("ix_inbox_unsettled", "received_at", sqlite_where=INBOX_UNSETTLED, postgresql_where=INBOX_UNSETTLED),
    )

    key: str = Field(primary_key=True, sa_type=KeyText)
    arrival: str = Field(sa_type=KeyText)
    name: str = Field(sa_type=PlainText)
    payload: dict[str, Any] = Field(sa_type=CanonicalJson)
    received_at: datetime = Field(sa_type=Instant)
    attempts: int = Field(sa_type=Big)
    state: str = Field(sa_type=KeyText)
    claimed_by: str | None = Field(sa_type=KeyText)
    claimed_at: datetime | None = Field(sa_type=Instant)
    failure: str | None = Field(sa_type=PlainText)


class NoticeRow(Base, table=True):
    """`core.notices.Notice`. `key` is unique: owing it again changes the one message. `owed_at`: since when the reader
    has not had what is wanted."""

    __tablename__ = "notice"
    __table_args__ = (
        Index(
            "ix_notice_unsettled",
            "priority",
            "owed_at",
            sqlite_where=NOTICE_UNSETTLED,
            postgresql_where=NOTICE_UNSETTLED,
        ),
    )

    id: str = Field(primary_key=True, sa_type=KeyText)
    key: str = Field(sa_type=KeyText, unique=True)
    kind: str = Field(sa_type=KeyText)
    recipient: str = Field(sa_type=KeyText)
    facts: dict[str, Any] = Field(sa_type=CanonicalJson)
    priority: int = Field(sa_type=Big)
    thread_of: str | None = Field(sa_type=KeyText)
    created_at: datetime = Field(sa_type=Instant)
    owed_at: datetime = Field(sa_type=Instant)
    state: str = Field(sa_type=KeyText)
    wanted: int = Field(sa_type=Big)
    shown: int = Field(sa_type=Big)
    channel: str | None = Field(sa_type=KeyText)
    ts: str | None = Field(sa_type=KeyText)
    claimed_epoch: int | None = Field(sa_type=Big)
    claimed_at: datetime | None = Field(sa_type=Instant)
    not_before: datetime | None = Field(sa_type=Instant)
    attempts: int = Field(sa_type=Big)
    doubtful: bool
    failure: str | None = Field(sa_type=PlainText)


class AuditRow(Base, table=True):
    """`core.requests.AuditEntry`. The database itself refuses to change or delete one (triggers of the migration)."""

    __tablename__ = "audit"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: int | None = Field(default=None, primary_key=True, sa_type=BigId)
    at: datetime = Field(sa_type=Instant)
    who: str = Field(sa_type=KeyText)
    what: str = Field(sa_type=KeyText)
    subject: str = Field(sa_type=KeyText, index=True)
    outcome: str = Field(sa_type=PlainText)


class LeaderRow(Base, table=True):
    """Who leads: one row, put there by the migration. `gap_*`: the latest stretch in which nobody led."""

    __tablename__ = "leader"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: int = Field(primary_key=True, sa_type=Big, sa_column_kwargs={"autoincrement": False})
    holder: str | None = Field(sa_type=KeyText)
    epoch: int = Field(sa_type=Big)
    renewed_at: datetime | None = Field(sa_type=Instant)
    expires_at: datetime | None = Field(sa_type=Instant)
    gap_from: datetime | None = Field(sa_type=Instant)
    gap_to: datetime | None = Field(sa_type=Instant)


class PauseRow(Base, table=True):
    """`core.pause.Pause`: one row while quota changes are paused, none otherwise."""

    __tablename__ = "pause"
    __table_args__ = (CheckConstraint("id = 1", name="one_row"),)

    id: int = Field(primary_key=True, sa_type=Big, sa_column_kwargs={"autoincrement": False})
    who: str = Field(sa_type=KeyText)
    name: str = Field(sa_type=PlainText)
    since: datetime = Field(sa_type=Instant)
    reason: str = Field(sa_type=PlainText)


def _table(row: type[Base]) -> Table:
    return Base.metadata.tables[str(row.__tablename__)]


REQUEST = _table(RequestRow)
APPROVAL = _table(ApprovalRow)
OFFER = _table(OfferRow)
LOAN = _table(LoanRow)
FIELD = _table(FieldRow)
INTENT = _table(IntentRow)
INBOX = _table(InboxRow)
NOTICE = _table(NoticeRow)
AUDIT = _table(AuditRow)
LEADER = _table(LeaderRow)
PAUSE = _table(PauseRow)
