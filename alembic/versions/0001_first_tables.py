"""The first tables: requests, loans, convergence, inbox, outbox, audit, leader."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_number = sa.BigInteger()
_assigned = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_text = sa.Text()
_key = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_instant = sa.DateTime(timezone=True)


def upgrade() -> None:
    _requests()
    _loans_and_convergence()
    _inbox_and_outbox()
    _audit_and_leader()
    _refuse_to_change_the_audit()


def downgrade() -> None:
    for table in (
        "approval",
        "quota_request",
        "loan",
        "field_record",
        "intent",
        "inbox",
        "notice",
        "audit",
        "leader",
    ):
        op.drop_table(table)
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION audit_is_append_only")


def _needed(name: str, kind: sa.types.TypeEngine[object]) -> sa.Column[object]:
    return sa.Column(name, kind, nullable=False)


def _optional(name: str, kind: sa.types.TypeEngine[object]) -> sa.Column[object]:
    return sa.Column(name, kind, nullable=True)


def _requests() -> None:
    op.create_table(
        "quota_request",
        sa.Column("id", _assigned, primary_key=True),
        _needed("cluster", _key),
        _needed("team", _key),
        _needed("queue", _key),
        _needed("flavor", _key),
        _needed("resource", _key),
        _needed("amount", _number),
        _needed("kind", _key),
        _optional("lender", _key),
        _optional("start", _instant),
        _optional("duration", _number),
        _optional("until", _instant),
        _needed("reason", _text),
        _needed("requester", _key),
        _needed("state", _key),
        _needed("created_at", _instant),
        _needed("lapses_at", _instant),
        _needed("origin", _key),
        _needed("revision", _number),
        _optional("rule", _text),
        _needed("steps", _text),
        _optional("picture", _text),
        _optional("decided_by", _key),
        _optional("decided_at", _instant),
        _optional("words", _text),
        _needed("version", _number),
        sa.UniqueConstraint("origin", name="uq_quota_request_origin"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_quota_request_state", "quota_request", ["state"])
    op.create_index("ix_quota_request_created_at", "quota_request", ["created_at"])
    op.create_table(
        "approval",
        sa.Column("id", _assigned, primary_key=True),
        _needed("request", _number),
        _needed("step", _number),
        _needed("who", _key),
        _needed("at", _instant),
        _needed("self_approved", sa.Boolean()),
        sa.ForeignKeyConstraint(["request"], ["quota_request.id"], name="fk_approval_request"),
        sa.UniqueConstraint("request", "who", name="uq_approval_request_who"),
        sqlite_autoincrement=True,
    )


def _loans_and_convergence() -> None:
    op.create_table(
        "loan",
        sa.Column("id", _number, primary_key=True, autoincrement=False),
        _needed("cluster", _key),
        _needed("kind", _key),
        _optional("lender", _key),
        _needed("borrower", _key),
        _needed("flavor", _key),
        _needed("resource", _key),
        _needed("amount", _number),
        _needed("start", _instant),
        _needed("end", _instant),
        _needed("state", _key),
        _optional("suspended", _text),
        _optional("end_reason", _key),
        _optional("ended_at", _instant),
        _optional("in_force_at", _instant),
        _needed("version", _number),
    )
    for column in ("lender", "borrower", "state"):
        op.create_index(f"ix_loan_{column}", "loan", [column])
    op.create_table(
        "field_record",
        *(sa.Column(name, _key, primary_key=True) for name in ("cluster", "queue", "flavor", "resource", "name")),
        _optional("uid", _key),
        _needed("seq", _number),
        _optional("base", _number),
        _needed("legs", _text),
        _optional("wrote", _number),
        _optional("question_uid", _key),
        _optional("question_live", _number),
        _optional("question_since", _instant),
        _optional("question_manager", _text),
        _optional("lending_base", _number),
        _optional("lending_wrote", _number),
        _needed("gone", sa.Boolean()),
        _needed("version", _number),
    )
    op.create_table(
        "intent",
        sa.Column("id", _key, primary_key=True),
        _needed("cluster", _key),
        _needed("queue", _key),
        _needed("uid", _key),
        _needed("resource_version", _key),
        _needed("generation", _number),
        _needed("epoch", _number),
        _needed("fields", _text),
        _needed("created_at", _instant),
        _optional("closed_at", _instant),
        _optional("outcome", _text),
    )
    _partial_index("ix_intent_open", "intent", ["cluster"], "closed_at IS NULL")


def _inbox_and_outbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("key", _key, primary_key=True),
        _needed("arrival", _key),
        _needed("name", _text),
        _needed("payload", _text),
        _needed("received_at", _instant),
        _needed("attempts", _number),
        _needed("state", _key),
        _optional("claimed_by", _key),
        _optional("claimed_at", _instant),
        _optional("failure", _text),
    )
    _partial_index("ix_inbox_unsettled", "inbox", ["received_at"], "state IN ('waiting', 'claimed')")
    op.create_table(
        "notice",
        sa.Column("id", _key, primary_key=True),
        _needed("key", _key),
        _needed("kind", _key),
        _needed("recipient", _key),
        _needed("facts", _text),
        _needed("priority", _number),
        _optional("thread_of", _key),
        _needed("created_at", _instant),
        _needed("owed_at", _instant),
        _needed("state", _key),
        _needed("wanted", _number),
        _needed("shown", _number),
        _optional("channel", _key),
        _optional("ts", _key),
        _optional("claimed_epoch", _number),
        _optional("claimed_at", _instant),
        _optional("not_before", _instant),
        _needed("attempts", _number),
        _needed("doubtful", sa.Boolean()),
        _optional("failure", _text),
        sa.UniqueConstraint("key", name="uq_notice_key"),
    )
    _partial_index("ix_notice_unsettled", "notice", ["priority", "owed_at"], "state IN ('owed', 'claimed')")


def _audit_and_leader() -> None:
    op.create_table(
        "audit",
        sa.Column("id", _assigned, primary_key=True),
        _needed("at", _instant),
        _needed("who", _key),
        _needed("what", _key),
        _needed("subject", _key),
        _needed("outcome", _text),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_subject", "audit", ["subject"])
    op.create_table(
        "leader",
        sa.Column("id", _number, primary_key=True, autoincrement=False),
        _optional("holder", _key),
        _needed("epoch", _number),
        _optional("renewed_at", _instant),
        _optional("expires_at", _instant),
        _optional("gap_from", _instant),
        _optional("gap_to", _instant),
        sa.CheckConstraint("id = 1", name="one_row"),
    )
    op.execute("INSERT INTO leader (id, epoch) VALUES (1, 0)")


def _refuse_to_change_the_audit() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for change in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_no_{change.lower()} BEFORE {change} ON audit "
                "BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END"
            )
        return
    op.execute(
        "CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit is append-only'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only()"
    )


def _partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
