"""Series: what repeats, on the request that asks for it, and the series on the request of each of its times."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("quota_request", sa.Column("repeats", sa.Text(), nullable=True))
    op.add_column("quota_request", sa.Column("series", sa.BigInteger(), nullable=True))
    op.create_index("ix_quota_request_series", "quota_request", ["series"])


def downgrade() -> None:
    """The times of a series stay, each as a request that was approved."""
    op.drop_index("ix_quota_request_series", "quota_request")
    op.drop_column("quota_request", "series")
    op.drop_column("quota_request", "repeats")
