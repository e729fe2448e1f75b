"""Work that is evicted at a loan's end, one row per loan."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

OPEN = sa.text("state <> 'closed'")


def _key() -> sa.types.TypeEngine:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "eviction",
        sa.Column("loan", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("cluster", _key(), nullable=False),
        sa.Column("queue", _key(), nullable=False),
        sa.Column("flavor", _key(), nullable=False),
        sa.Column("resource", _key(), nullable=False),
        sa.Column("most", sa.BigInteger(), nullable=False),
        sa.Column("grace", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", _key(), nullable=False),
        sa.Column("due", sa.DateTime(timezone=True), nullable=True),
        sa.Column("works", sa.Text(), nullable=False),
        sa.Column("extensions", sa.Text(), nullable=False),
        sa.Column("held", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
    )
    op.create_index("ix_eviction_open", "eviction", ["loan"], sqlite_where=OPEN, postgresql_where=OPEN)


def downgrade() -> None:
    op.drop_index("ix_eviction_open", table_name="eviction")
    op.drop_table("eviction")
