"""Who leads. Time passes by moving the row's instants back, since they are by the database's clock."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from bot.adapters.db.columns import database_now
from bot.adapters.db.tables import LEADER
from bot.core.errors import NotLeader, Unavailable

LEASE = timedelta(seconds=15)


@pytest.fixture
def lead(shared_store):
    """`lead(holder)`: one attempt to take or keep the row."""

    def run(holder):
        with shared_store.begin() as work:
            epoch = work.leadership.acquire(holder, LEASE)
            work.commit()
        return epoch

    return run


@pytest.fixture
def wait(engine):
    """As if so much time had passed."""

    def run(by):
        with engine.begin() as connection:
            row = connection.execute(select(LEADER)).mappings().one()
            earlier = {
                name: row[name] - by
                for name in ("renewed_at", "expires_at", "gap_from", "gap_to")
                if row[name] is not None
            }
            connection.execute(update(LEADER).values(earlier))

    return run


def gap(store):
    with store.read() as work:
        return work.leadership.gap()


def test_the_first_one_leads_and_there_was_no_gap(lead, shared_store) -> None:
    assert lead("a") == 1
    assert gap(shared_store) is None


def test_nobody_else_leads_while_the_lease_lasts(lead, wait) -> None:
    lead("a")
    wait(LEASE - timedelta(seconds=5))
    assert lead("b") is None


def test_a_renewal_keeps_the_epoch_and_prolongs_the_lease(lead, wait, shared_store) -> None:
    lead("a")
    for _ in range(3):
        wait(LEASE - timedelta(seconds=5))
        assert lead("a") == 1
    assert lead("b") is None
    assert gap(shared_store) is None


def test_an_expired_lease_is_taken_over_with_a_higher_epoch(lead, wait) -> None:
    lead("a")
    wait(LEASE)
    assert lead("b") == 2
    assert lead("a") is None


def test_a_leader_that_slept_through_its_lease_takes_it_anew(lead, wait, shared_store) -> None:
    """Nobody led meanwhile, and it must not go on as if it had."""
    lead("a")
    wait(LEASE * 10)
    assert lead("a") == 2
    start, end = gap(shared_store)
    assert end - start >= LEASE * 10


def test_of_many_who_want_it_one_gets_it(lead, together) -> None:
    results = together(*(lambda name=name: lead(name) for name in "abcd"))
    assert sorted(result is None for result in results) == [False, True, True, True]


def test_of_many_who_take_it_over_one_gets_it(lead, wait, together) -> None:
    lead("dead")
    wait(LEASE)
    results = together(*(lambda name=name: lead(name) for name in "abcd"))
    assert sorted(result or 0 for result in results) == [0, 0, 0, 2]


def test_a_released_row_is_free_at_once(lead, shared_store) -> None:
    lead("a")
    with shared_store.begin() as work:
        work.leadership.release("b")
        work.commit()
    assert lead("b") is None
    with shared_store.begin() as work:
        work.leadership.release("a")
        work.commit()
    assert lead("b") == 2


def test_the_gap_is_from_the_last_renewal_to_the_take_over(lead, wait, shared_store, engine) -> None:
    lead("a")
    with engine.connect() as connection:
        renewed = connection.execute(select(LEADER.c.renewed_at)).scalar_one()
    wait(LEASE * 4)
    lead("b")
    start, end = gap(shared_store)
    assert start == renewed - LEASE * 4
    with engine.connect() as connection:
        assert start + LEASE * 4 <= end <= database_now(connection)
    lead("b")
    assert gap(shared_store) == (start, end)


def test_only_the_current_epoch_passes_the_check(lead, wait, shared_store) -> None:
    first = lead("a")
    with shared_store.begin() as work:
        work.leadership.check(first)
    wait(LEASE)
    second = lead("b")
    with shared_store.begin() as work:
        work.leadership.check(second)
    for epoch in (first, second + 1, 0):
        with shared_store.begin() as work, pytest.raises(NotLeader):
            work.leadership.check(epoch)


def test_after_a_release_no_epoch_passes_the_check(lead, shared_store) -> None:
    epoch = lead("a")
    with shared_store.begin() as work:
        work.leadership.release("a")
        work.commit()
    with shared_store.begin() as work, pytest.raises(NotLeader):
        work.leadership.check(epoch)


def test_an_old_epoch_rolls_back_all_that_its_transaction_did(lead, wait, shared_store, make) -> None:
    old = lead("a")
    wait(LEASE)
    lead("b")

    def work_as_old_leader():
        with shared_store.begin() as work:
            work.fields.put(make.record())
            work.fields.add_intent(make.intent(epoch=old))
            work.notices.owe(make.draft(), make.now)
            work.leadership.check(old)
            work.commit()

    with pytest.raises(NotLeader):
        work_as_old_leader()
    with shared_store.read() as work:
        assert work.fields.records("default") == {}
        assert work.fields.open_intents("default") == []
        assert work.notices.get("card:142:C1") is None


def test_a_check_holds_until_the_commit(lead, wait, shared_store, make, together) -> None:
    """A take-over that comes between a check and its commit waits, and the intent is there before the new epoch is."""
    epoch = lead("a")
    wait(LEASE)
    seen = []

    def work_as_old_leader():
        with shared_store.begin() as work:
            work.leadership.check(epoch)
            work.fields.add_intent(make.intent(epoch=epoch))
            work.commit()

    def take_over():
        with shared_store.begin() as work:
            work.leadership.acquire("b", LEASE)
            seen.extend(work.fields.open_intents("default"))
            work.commit()

    [outcome, _] = together(work_as_old_leader, take_over)
    with shared_store.read() as work:
        stored = work.fields.open_intents("default")
    assert isinstance(outcome, NotLeader) == (stored == [])
    assert seen == stored


@pytest.mark.one_database("SQLite has one writer at a time")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_take_over_waits_for_who_has_checked(lead, wait, shared_store) -> None:
    epoch = lead("a")
    wait(LEASE)

    def take_over_without_patience():
        with shared_store.begin() as work:
            work.leadership._connection.exec_driver_sql("SET LOCAL lock_timeout = '10ms'")
            work.leadership.acquire("b", LEASE)

    with shared_store.begin() as work:
        work.leadership.check(epoch)
        with pytest.raises(Unavailable, match="lock timeout"):
            take_over_without_patience()
    take_over_without_patience()


@pytest.mark.one_database("SQLite has one writer at a time")
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_checks_do_not_wait_for_each_other(lead, shared_store) -> None:
    epoch = lead("a")
    with shared_store.begin() as one, shared_store.begin() as other:
        one.leadership.check(epoch)
        other.leadership.check(epoch)
        other.commit()
        one.commit()


@pytest.mark.parametrize(("at_least", "epoch"), [(0, 1), (1, 2), (9, 10)])
def test_the_leader_lifts_its_epoch_above_the_fences(lead, shared_store, at_least, epoch) -> None:
    lead("a")
    with shared_store.begin() as work:
        assert work.leadership.raise_epoch("a", 1, at_least) == epoch
        work.commit()
    with shared_store.begin() as work:
        work.leadership.check(epoch)
    assert lead("a") == epoch


@pytest.mark.parametrize(("holder", "epoch"), [("b", 1), ("a", 2), ("a", 0)])
def test_nobody_else_lifts_it(lead, shared_store, holder, epoch) -> None:
    lead("a")
    with shared_store.begin() as work, pytest.raises(NotLeader):
        work.leadership.raise_epoch(holder, epoch, 9)
    with shared_store.begin() as work:
        work.leadership.check(1)
