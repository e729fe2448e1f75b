"""Whether quota changes are paused, and by whom: a row, or none."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "pause",
        sa.Column("id", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("who", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.CheckConstraint("id = 1", name="one_row"),
    )


def downgrade() -> None:
    op.drop_table("pause")
