"""Names that the policy has no more, and since when."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

MISSING = sa.text("ended_at IS NULL")


def upgrade() -> None:
    op.create_table(
        "lost_name",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("name", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ux_lost_name_missing", "lost_name", ["name"], unique=True, sqlite_where=MISSING, postgresql_where=MISSING
    )


def downgrade() -> None:
    op.drop_table("lost_name")
