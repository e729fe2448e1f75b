"""Counter-offers: a table of them, the terms that an approval is of, and when a request's terms were judged."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_number = sa.BigInteger()
_assigned = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_text = sa.Text()
_key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_instant = sa.DateTime(timezone=True)
_open = sa.text("state = 'open'")
_recreated = {"sqlite_autoincrement": True}


def upgrade() -> None:
    op.add_column("quota_request", _count("terms"))
    op.add_column("quota_request", sa.Column("judged_at", _instant, nullable=True))
    with op.batch_alter_table("approval", table_kwargs=_recreated) as approval:
        approval.add_column(_count("terms"))
        approval.drop_constraint("uq_approval_request_who", type_="unique")
        approval.create_unique_constraint("uq_approval_request_who_terms", ["request", "who", "terms"])
    op.create_table(
        "offer",
        sa.Column("id", _assigned, primary_key=True),
        sa.Column("request", _number, nullable=False),
        sa.Column("terms", _text, nullable=False),
        sa.Column("instead", _text, nullable=False),
        sa.Column("who", _key, nullable=False),
        sa.Column("at", _instant, nullable=False),
        sa.Column("words", _text, nullable=False),
        sa.Column("picture", _text, nullable=True),
        sa.Column("notes", _text, nullable=False),
        sa.Column("state", _key, nullable=False),
        sa.Column("settled_by", _key, nullable=True),
        sa.Column("settled_at", _instant, nullable=True),
        sa.Column("version", _number, nullable=False),
        sa.ForeignKeyConstraint(["request"], ["quota_request.id"], name="fk_offer_request"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_offer_request", "offer", ["request"])
    op.create_index("ux_offer_open", "offer", ["request"], unique=True, sqlite_where=_open, postgresql_where=_open)


def downgrade() -> None:
    """Approvals of terms that were changed later go: before, a person had one approval for each request."""
    op.drop_table("offer")
    op.execute(
        "DELETE FROM approval WHERE terms <> "
        "(SELECT terms FROM quota_request WHERE quota_request.id = approval.request)"
    )
    with op.batch_alter_table("approval", table_kwargs=_recreated) as approval:
        approval.drop_constraint("uq_approval_request_who_terms", type_="unique")
        approval.create_unique_constraint("uq_approval_request_who", ["request", "who"])
        approval.drop_column("terms")
    op.drop_column("quota_request", "judged_at")
    op.drop_column("quota_request", "terms")


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, _number, nullable=False, server_default=sa.text("0"))
