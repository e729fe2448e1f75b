"""How much of each loan is used, and what was asked of those that lie idle."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_number = sa.BigInteger()
_assigned = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_instant = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "loan_use",
        sa.Column("loan", _number, primary_key=True, autoincrement=False),
        sa.Column("seen_at", _instant, nullable=False),
        sa.Column("amount", _number, nullable=False),
        sa.Column("used", _number, nullable=False),
        sa.Column("observed", _number, nullable=False),
        sa.Column("used_time", _number, nullable=False),
        sa.Column("unused", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["loan"], ["loan.id"], name="fk_loan_use_loan"),
    )
    op.create_table(
        "idle_offer",
        sa.Column("id", _assigned, primary_key=True),
        sa.Column("loan", _number, nullable=False),
        sa.Column("nth", _number, nullable=False),
        sa.Column("amount", _number, nullable=False),
        sa.Column("of", _number, nullable=False),
        sa.Column("unused_for", _number, nullable=False),
        sa.Column("at", _instant, nullable=False),
        sa.Column("state", _key, nullable=False),
        sa.Column("settled_by", _key, nullable=True),
        sa.Column("settled_at", _instant, nullable=True),
        sa.Column("left", _number, nullable=True),
        sa.Column("version", _number, nullable=False),
        sa.ForeignKeyConstraint(["loan"], ["loan.id"], name="fk_idle_offer_loan"),
        sa.UniqueConstraint("loan", "nth", name="uq_idle_offer_loan_nth"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("idle_offer")
    op.drop_table("loan_use")
