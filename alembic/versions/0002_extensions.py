"""A request may be for more time with a loan: which loan it extends."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("quota_request", sa.Column("extends", sa.BigInteger(), nullable=True))
    op.create_index("ix_quota_request_extends", "quota_request", ["extends"])


def downgrade() -> None:
    op.drop_index("ix_quota_request_extends", "quota_request")
    op.drop_column("quota_request", "extends")
