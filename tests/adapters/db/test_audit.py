"""The audit: entries in order, and the database itself refuses to change one."""

from dataclasses import replace

import pytest
from sqlalchemy.exc import DBAPIError

from bot.core.audit import AuditQuery
from bot.core.requests import AuditEntry


def test_entries_of_a_subject_come_in_order(store, make) -> None:
    entry = AuditEntry(make.later(hours=1), "U1", "approve", "Q-1", "ok")
    entries = [entry, replace(entry, at=make.now, who="bot"), entry]
    with store.begin() as work:
        for each in (*entries[:2], replace(entry, subject="Q-10"), entries[2]):
            work.audit.add(each)
        work.commit()
    with store.read() as work:
        assert work.audit.of("Q-1") == entries
        assert work.audit.of("Q-2") == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE audit SET who = 'U9'",
        "UPDATE audit SET who = who",
        "DELETE FROM audit",
        "DELETE FROM audit WHERE id = 1",
    ],
)
def test_the_database_refuses_to_change_or_delete_an_entry(shared_store, engine, make, change) -> None:
    entry = AuditEntry(make.now, "U1", "deny", "Q-1", "no GPUs left")
    with shared_store.begin() as work:
        work.audit.add(entry)
        work.commit()
    with pytest.raises(DBAPIError, match="the audit is append-only"), engine.begin() as connection:
        connection.exec_driver_sql(change)
    with shared_store.read() as work:
        assert work.audit.of("Q-1") == [entry]


@pytest.mark.one_database("SQLite has no TRUNCATE")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_it_cannot_be_truncated_either(engine) -> None:
    with pytest.raises(DBAPIError, match="the audit is append-only"), engine.begin() as connection:
        connection.exec_driver_sql("TRUNCATE audit")


def test_what_is_asked_for_comes_newest_first(store, make) -> None:
    field = "default/vis_ion/a100/nvidia.com/gpu/nominal"
    with store.begin() as work:
        number = work.requests.add(make.request(team="vision")).id
        other = work.requests.add(make.request("other", "nlp")).id
        for hours, (who, subject) in enumerate(
            [
                ("U1", f"Q-{number}"),
                ("U2", f"Q-{other}"),
                ("bot", field),
                ("bot", field.replace("_", "x")),
                ("U1", "all"),
            ]
        ):
            work.audit.add(AuditEntry(make.later(hours=hours), who, "approve", subject, "ok"))
        work.commit()

    def found(limit: int | None = None, **asked: object) -> list[str]:
        with store.read() as work:
            return [entry.subject for entry in work.audit.find(AuditQuery(**asked), limit)]

    assert found() == ["all", field.replace("_", "x"), field, f"Q-{other}", f"Q-{number}"]
    assert found(2) == ["all", field.replace("_", "x")]
    assert found(subject=f"Q-{other}") == [f"Q-{other}"]
    assert found(who="U1") == ["all", f"Q-{number}"]
    assert found(team="vision", fields=("default/vis_ion/",)) == [field, f"Q-{number}"]
    assert found(team="vision") == [f"Q-{number}"]
    assert found(team="nobody") == []
    assert found(since=make.later(hours=3), who="bot") == [field.replace("_", "x")]
