"""How far each watch of a cluster has come."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0015"
branch_labels = None
depends_on = None


def _key(name: str, *, primary_key: bool = False) -> sa.Column[str]:
    kind = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    return sa.Column(name, kind, nullable=False, primary_key=primary_key)


def upgrade() -> None:
    op.create_table(
        "watch_position",
        *(_key(name, primary_key=True) for name in ("cluster", "kind")),
        _key("version"),
        sa.Column("heard_at", sa.DateTime(timezone=True), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("watch_position")
