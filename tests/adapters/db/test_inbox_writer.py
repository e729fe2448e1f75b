"""Group commit: durable when `put` returns, one transaction for all that wait, and each waiter gets its own answer."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

import pytest

from bot.adapters.db import inbox_writer
from bot.adapters.db.inbox_writer import InboxWriter
from bot.core.errors import Unavailable


class Watched:
    """A store that counts its transactions, can be held up, and can fail on commit."""

    def __init__(self, store):
        self._store = store
        self.begun = 0
        self.entered = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()
        self.failures = []

    @contextmanager
    def begin(self):
        self.begun += 1
        self.entered.set()
        assert self.go_on.wait(timeout=30)
        with self._store.begin() as work:
            if self.failures:
                work.commit = partial(self._fail, self.failures.pop(0))
            yield work

    @staticmethod
    def _fail(error):
        raise error


@pytest.fixture
def watched(store):
    return Watched(store)


@pytest.fixture
def writer(watched):
    made = InboxWriter(watched, lambda: 0)
    made.start()
    yield made
    watched.go_on.set()
    made.stop()


@pytest.fixture
def put_together(writer, watched):
    """`put_together(items)`: all of them wait while one transaction is held up; futures of their answers."""
    with ThreadPoolExecutor(210) as threads:

        def run(first, items):
            watched.go_on.clear()
            futures = [threads.submit(writer.put, first)]
            assert watched.entered.wait(timeout=30)
            for number, item in enumerate(items, start=1):
                futures.append(threads.submit(writer.put, item))
                with writer._changed:
                    assert writer._changed.wait_for(lambda number=number: len(writer._waiting) == number, timeout=30)
            watched.go_on.set()
            return futures

        yield run


def keys_of(store):
    with store.begin() as work:
        return {item.key for item in work.inbox.take("w", 1000, timedelta(minutes=1))}


def test_what_was_put_is_durable_when_put_returns(writer, store, make) -> None:
    assert writer.put(make.item("k1")) is True
    assert keys_of(store) == {"k1"}


def test_a_redelivery_is_not_new(writer, make) -> None:
    assert [writer.put(make.item(key)) for key in ("k1", "k1", "k2", "k1")] == [True, False, True, False]


def test_two_hundred_threads_share_two_commits(put_together, watched, store, make) -> None:
    answers = put_together(make.item("k0"), [make.item(f"k{number}") for number in range(1, 200)])
    assert all(answer.result(timeout=30) for answer in answers)
    assert watched.begun == 2
    assert keys_of(store) == {f"k{number}" for number in range(200)}


def test_two_hundred_threads_at_once_are_all_answered(writer, store, make) -> None:
    with ThreadPoolExecutor(200) as threads:
        barrier = threading.Barrier(200)

        def arrive(number):
            barrier.wait(timeout=30)
            return writer.put(make.item(f"k{number}"))

        assert all(threads.map(arrive, range(200)))
    assert len(keys_of(store)) == 200


def test_the_same_arrival_twice_in_one_batch_is_new_once(put_together, make) -> None:
    answers = put_together(make.item("k0"), [make.item(key) for key in ("a", "b", "a", "a", "k0")])
    assert [answer.result(timeout=30) for answer in answers] == [True, True, True, False, False, False]


def test_a_failed_commit_fails_every_waiter_and_the_next_one_works(put_together, writer, watched, store, make) -> None:
    watched.failures = [Unavailable("database", "disk full"), Unavailable("database", "still full")]
    answers = put_together(make.item("k0"), [make.item(f"k{number}") for number in range(1, 6)])
    errors = [answer.exception(timeout=30) for answer in answers]
    assert [(type(error), error.why) for error in errors] == [
        (Unavailable, "disk full"),
        *[(Unavailable, "still full")] * 5,
    ]
    assert len({id(error) for error in errors}) == 6
    assert keys_of(store) == set()
    assert writer.put(make.item("k1")) is True


def test_one_item_that_cannot_be_stored_fails_alone(put_together, store, make) -> None:
    bad = make.item("bad", payload={"when": make.now})
    answers = put_together(make.item("k0"), [make.item("k1"), bad, make.item("k2")])
    errors = [type(answer.exception(timeout=30)) for answer in answers]
    assert errors[:2] == [type(None)] * 2
    assert errors[2] is not Unavailable
    assert errors[2] is not type(None)
    assert errors[3] is type(None)
    assert keys_of(store) == {"k0", "k1", "k2"}


def test_stopping_stores_what_waits(put_together, writer, store, make) -> None:
    answers = put_together(make.item("k0"), [make.item(f"k{number}") for number in range(1, 20)])
    writer.stop()
    assert len(keys_of(store)) == 20
    assert all(answer.result(timeout=30) for answer in answers)


def test_a_stopped_one_accepts_nothing(writer, make) -> None:
    writer.stop()
    writer.stop()
    with pytest.raises(Unavailable):
        writer.put(make.item("k1"))


def test_nor_does_one_that_was_not_started(store, make) -> None:
    writer = InboxWriter(store, lambda: 0)
    with pytest.raises(Unavailable):
        writer.put(make.item("k1"))
    writer.stop()


def test_its_thread_has_a_name_and_ends(store) -> None:
    writer = InboxWriter(store, lambda: 0)
    writer.start()
    assert "inbox-writer" in {thread.name for thread in threading.enumerate()}
    writer.stop()
    assert not writer._thread.is_alive()


@pytest.fixture
def open_writer(watched):
    """`open_writer(on_the_way)`: one that works, and knows how many are on their way."""
    made = []

    def start(on_the_way):
        made.append(InboxWriter(watched, on_the_way))
        made[-1].start()
        return made[-1]

    yield start
    for one in made:
        one.stop()


def test_those_on_their_way_share_a_transaction(open_writer, watched, make, monkeypatch) -> None:
    monkeypatch.setattr(inbox_writer, "LINGER", 60)
    writer = open_writer(lambda: 5)
    with ThreadPoolExecutor(5) as threads:
        assert all(threads.map(writer.put, [make.item(f"k{number}") for number in range(5)]))
    assert watched.begun == 1


def test_one_that_comes_alone_waits_for_nobody(open_writer, make, monkeypatch) -> None:
    monkeypatch.setattr(inbox_writer, "LINGER", 60)
    assert open_writer(lambda: 1).put(make.item("k1"))


def test_those_that_never_come_are_not_waited_for(open_writer, make) -> None:
    """A press that Bolt refused was on its way too."""
    assert open_writer(lambda: 9).put(make.item("k1"))


def test_a_stop_does_not_linger(open_writer, watched, make, monkeypatch) -> None:
    monkeypatch.setattr(inbox_writer, "LINGER", 60)
    writer = open_writer(lambda: 2)
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(writer.put, make.item("k1"))
        with writer._changed:
            assert writer._changed.wait_for(lambda: writer._waiting, timeout=30)
        writer.stop()
        assert answer.result(timeout=30) is True
