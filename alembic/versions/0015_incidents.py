"""What is remembered of watched work, and what people are told of it."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def _key(name: str, *, nullable: bool = False, primary_key: bool = False) -> sa.Column[str]:
    kind = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    return sa.Column(name, kind, nullable=nullable, primary_key=primary_key)


def _id() -> sa.Column[int]:
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("id", kind, primary_key=True, nullable=False)


def upgrade() -> None:
    op.create_table(
        "remembered",
        *(_key(name, primary_key=True) for name in ("cluster", "kind", "uid")),
        _key("story"),
        _key("state", nullable=True),
        sa.Column("due", sa.DateTime(timezone=True), nullable=True),
        sa.Column("devices", sa.BigInteger(), nullable=False),
        sa.Column("rest", sa.Text(), nullable=False),
    )
    op.create_index("ix_remembered_due", "remembered", ["due"])
    op.create_index("ix_remembered_story", "remembered", ["story", "kind"])
    op.create_table(
        "incident",
        _id(),
        *(_key(name) for name in ("key", "cluster", "what")),
        sa.Column("open", sa.Boolean(), nullable=False),
        _key("to"),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("storm", sa.BigInteger(), nullable=True),
        sa.Column("rest", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_incident_key", "incident", ["key", "id"])
    op.create_index("ix_incident_to", "incident", ["to", "what", "told_at"])
    op.create_index("ix_incident_storm", "incident", ["storm"])
    op.create_table(
        "storm",
        _id(),
        *(_key(name) for name in ("to", "what")),
        sa.Column("began", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last", sa.DateTime(timezone=True), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_storm_to", "storm", ["to", "what", "id"])


def downgrade() -> None:
    op.drop_table("storm")
    op.drop_table("incident")
    op.drop_table("remembered")
