"""Find the proposals that ended lately without reading all there ever were."""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_proposal_ended_at", "proposal", ["cluster", "ended_at"])


def downgrade() -> None:
    op.drop_index("ix_proposal_ended_at", "proposal")
