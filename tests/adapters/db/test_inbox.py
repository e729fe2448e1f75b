"""Arrivals: stored once, handled by one worker at a time, taken again when their worker died."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import event, update

from bot.adapters.db.tables import INBOX
from bot.core.errors import Stale

RETRY_AFTER = timedelta(minutes=2)


def put(store, *items):
    with store.begin() as work:
        new = work.inbox.put(items)
        work.commit()
    return new


def take(store, worker="w1", limit=10):
    with store.begin() as work:
        taken = work.inbox.take(worker, limit, RETRY_AFTER)
        work.commit()
    return taken


def make_claims_older(engine, by):
    """As if the claims had been made that much earlier by the database's clock."""
    with engine.begin() as connection:
        for row in connection.execute(INBOX.select()).mappings().all():
            if row["claimed_at"] is not None:
                changed = update(INBOX).where(INBOX.c.key == row["key"]).values(claimed_at=row["claimed_at"] - by)
                connection.execute(changed)


def test_a_redelivery_is_in_none_and_changes_nothing(store, make) -> None:
    assert put(store, make.item("k1"), make.item("k2")) == {"k1", "k2"}
    assert put(store, make.item("k2", payload={"text": "other"}), make.item("k3")) == {"k3"}
    assert [(item.key, item.payload["text"]) for item in take(store)] == [
        (key, "request 8 a100") for key in ("k1", "k2", "k3")
    ]


def test_a_key_that_comes_twice_in_one_statement_is_one_row(store, make) -> None:
    assert put(store, make.item("k1"), make.item("k1")) == {"k1"}
    assert len(take(store)) == 1


def test_nothing_to_put_is_nothing_new(store) -> None:
    assert put(store) == frozenset()


def test_many_are_put_at_once(store, make) -> None:
    """More than one statement can have parameters for."""
    items = [make.item(f"k{number:05}") for number in range(3000)]
    assert put(store, *items) == {item.key for item in items}
    assert len(take(store, limit=4000)) == 3000


def test_a_redelivery_at_the_same_moment_is_new_for_one(shared_store, make, together) -> None:
    results = together(*(lambda: put(shared_store, make.item("k1"), make.item("k2")) for _ in range(4)))
    assert sorted(key for new in results for key in new) == ["k1", "k2"]


def test_take_gives_the_oldest_first_and_counts_the_attempt(store, make) -> None:
    put(store, make.item("a", make.later(seconds=2)), make.item("c", make.now), make.item("b", make.later(seconds=1)))
    first = take(store, limit=2)
    assert [(item.key, item.attempts) for item in first] == [("c", 1), ("b", 1)]
    assert [item.key for item in take(store, "w2")] == ["a"]
    assert take(store, "w3") == []


def test_two_takes_under_way_at_once_are_disjoint(shared_store, make, together) -> None:
    """On PostgreSQL neither waits for the other; on SQLite the second begins when the first is committed."""
    keys = {f"k{number}" for number in range(40)}
    put(shared_store, *(make.item(key) for key in keys))
    results = together(*(lambda n=n: take(shared_store, f"w{n}", 10) for n in range(4)))
    taken = [item.key for items in results for item in items]
    assert len(taken) == len(set(taken))
    assert set(taken) <= keys
    assert sum(len(items) for items in results) + len(take(shared_store, "w9", 100)) == 40


@pytest.mark.one_database("SQLite has one writer at a time")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_take_steps_over_what_another_has_not_committed(shared_store, make) -> None:
    put(shared_store, *(make.item(f"k{number}") for number in range(4)))
    with shared_store.begin() as one, shared_store.begin() as other:
        first = one.inbox.take("w1", 2, RETRY_AFTER)
        second = other.inbox.take("w2", 2, RETRY_AFTER)
    assert [item.key for item in (*first, *second)] == ["k0", "k1", "k2", "k3"]


def test_one_that_was_just_stored_is_claimed_once(store, make) -> None:
    put(store, make.item("k1"))
    with store.begin() as work:
        assert work.inbox.claim("k1", "w1")
        assert not work.inbox.claim("k1", "w2")
        assert not work.inbox.claim("k2", "w1")
        work.commit()
    assert take(store, "w2") == []


def test_a_worker_that_died_loses_its_claim_when_the_claim_is_old(shared_store, engine, make) -> None:
    put(shared_store, make.item("k1"))
    assert len(take(shared_store, "w1")) == 1
    make_claims_older(engine, RETRY_AFTER - timedelta(seconds=30))
    assert take(shared_store, "w2") == []
    make_claims_older(engine, timedelta(seconds=31))
    [again] = take(shared_store, "w2")
    assert (again.key, again.attempts) == ("k1", 2)
    assert take(shared_store, "w3") == []


def test_a_crash_before_the_commit_leaves_the_item_claimed_not_done(shared_store, engine, make) -> None:
    put(shared_store, make.item("k1"))
    take(shared_store, "w1")
    with shared_store.begin() as work:
        work.requests.add(make.request("k1"))
        work.inbox.done("k1")
    make_claims_older(engine, RETRY_AFTER * 2)
    assert [item.key for item in take(shared_store, "w2")] == ["k1"]
    with shared_store.read() as work:
        assert work.requests.by_origin("k1") is None


def test_what_is_done_nobody_takes_again(shared_store, engine, make) -> None:
    put(shared_store, make.item("k1"))
    take(shared_store, "w1")
    with shared_store.begin() as work:
        work.inbox.done("k1")
        work.commit()
    make_claims_older(engine, RETRY_AFTER * 2)
    assert take(shared_store, "w2") == []
    assert put(shared_store, make.item("k1")) == frozenset()


def test_of_two_workers_on_one_item_the_second_to_finish_does_nothing(shared_store, engine, make) -> None:
    """The first was slow, not dead: its claim was taken over, and its work must not be stored as well."""
    put(shared_store, make.item("k1"))
    take(shared_store, "slow")
    make_claims_older(engine, RETRY_AFTER * 2)
    take(shared_store, "fast")
    with shared_store.begin() as work:
        work.requests.add(make.request("by the fast one"))
        work.inbox.done("k1")
        work.commit()

    def finish_late():
        with shared_store.begin() as work:
            work.requests.add(make.request("by the slow one"))
            work.inbox.done("k1")
            work.commit()

    with pytest.raises(Stale):
        finish_late()
    with shared_store.read() as work:
        assert [request.origin for request in work.requests.find()] == ["by the fast one"]


def test_one_that_was_given_up_is_kept_with_the_reason(shared_store, engine, make) -> None:
    put(shared_store, make.item("k1"), make.item("k2"))
    take(shared_store, "w1")
    with shared_store.begin() as work:
        work.inbox.failed("k1", "ValueError: no such subcommand")
        work.inbox.done("k2")
        work.inbox.failed("k2", "too late")
        work.commit()
    make_claims_older(engine, RETRY_AFTER * 2)
    assert take(shared_store, "w2") == []
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT key, state, failure FROM inbox ORDER BY key").all()
    assert [tuple(row) for row in rows] == [
        ("k1", "failed", "ValueError: no such subcommand"),
        ("k2", "done", None),
    ]


@pytest.mark.one_database("reads the plans of SQLite, whose planner does not go by the number of rows")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("step", "index"),
    [
        (lambda work, now: work.inbox.take("w", 9, RETRY_AFTER), "ix_inbox_unsettled"),
        (lambda work, now: work.notices.waiting(now, 1, 9), "ix_notice_unsettled"),
        (lambda work, now: work.notices.refresh("card:142:", now), "uq|autoindex_notice"),
        (lambda work, now: work.fields.open_intents("default"), "ix_intent_open"),
    ],
)
def test_what_is_settled_is_not_read_again(shared_store, engine, make, step, index) -> None:
    """These tables only grow; the loops that look at them every second must not read all of them."""
    plans = []

    def explain(connection, cursor, statement, parameters, *_):
        if not statement.startswith(("PRAGMA", "BEGIN")):
            asked = connection.connection.cursor().execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.extend(row[3] for row in asked)

    event.listen(engine, "before_cursor_execute", explain)
    with shared_store.begin() as work:
        step(work, make.now)
    table = [plan for plan in plans if re.match(r"(SCAN|SEARCH) (inbox|notice|intent)\b", plan)]
    assert any(re.search(index, plan) for plan in table)
    assert not [plan for plan in table if plan.startswith("SCAN") and "USING INDEX" not in plan]
