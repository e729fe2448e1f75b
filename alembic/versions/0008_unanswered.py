"""Who was asked and has not answered: loans that were asked back, and steps that others may give too."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

OPEN = sa.text("state = 'open'")


def _id() -> sa.Column[int]:
    return sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True)


def _key(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "ask_back",
        _id(),
        sa.Column("loan", sa.BigInteger(), sa.ForeignKey("loan.id", name="fk_ask_back_loan"), nullable=False),
        _key("who"),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        _key("state"),
        _key("settled_by", nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("given", sa.BigInteger(), nullable=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_ask_back_loan", "ask_back", ["loan"])
    op.create_index("ux_ask_back_open", "ask_back", ["loan"], unique=True, sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_table(
        "escalation",
        _id(),
        sa.Column(
            "request", sa.BigInteger(), sa.ForeignKey("quota_request.id", name="fk_escalation_request"), nullable=False
        ),
        sa.Column("terms", sa.BigInteger(), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        _key("asked"),
        _key("to"),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.UniqueConstraint(
            "request", "terms", "step", "asked", "to", name="uq_escalation_request_terms_step_asked_to"
        ),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("escalation")
    op.drop_table("ask_back")
