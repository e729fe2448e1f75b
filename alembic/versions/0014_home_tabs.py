"""Home tabs that people opened, with what Slack has of each."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0009"
branch_labels = None
depends_on = None


def _key(name: str, *, nullable: bool = False, primary_key: bool = False) -> sa.Column[str]:
    kind = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    return sa.Column(name, kind, nullable=nullable, primary_key=primary_key)


def upgrade() -> None:
    op.create_table(
        "home_tab",
        _key("user", primary_key=True),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        _key("shown", nullable=True),
        sa.Column("shown_at", sa.DateTime(timezone=True), nullable=True),
        _key("hash", nullable=True),
        _key("failure", nullable=True),
    )
    op.create_index("ix_home_tab_opened_at", "home_tab", ["opened_at"])


def downgrade() -> None:
    op.drop_table("home_tab")
