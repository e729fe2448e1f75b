"""Proposals: changes of queues that are written in Git, and what came of them."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_assigned = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_instant = sa.DateTime(timezone=True)
_open = sa.text("ended IS NULL")


def upgrade() -> None:
    op.create_table(
        "proposal",
        sa.Column("number", _assigned, primary_key=True),
        sa.Column("id", _key, nullable=False),
        sa.Column("cluster", _key, nullable=False),
        sa.Column("queue", _key, nullable=False),
        sa.Column("uid", _key, nullable=False),
        sa.Column("fields", sa.Text(), nullable=False),
        sa.Column("created_at", _instant, nullable=False),
        sa.Column("ended", _key, nullable=True),
        sa.Column("ended_at", _instant, nullable=True),
        sa.UniqueConstraint("id", name="uq_proposal_id"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ux_proposal_open",
        "proposal",
        ["cluster", "queue"],
        unique=True,
        sqlite_where=_open,
        postgresql_where=_open,
    )


def downgrade() -> None:
    op.drop_table("proposal")
