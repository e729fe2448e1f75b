"""Loops run when woken or when it is time, and survive what their step raises; the pool leaves the rest stored."""

import queue
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from bot import workers
from bot.core.inbox import Arrival, InboxItem
from bot.workers import Loop, Pool, Urgent

NEVER = timedelta(hours=1)
SOON = timedelta(seconds=0.001)
LIMIT = timedelta(seconds=5)


Start = Callable[[Callable[[], timedelta | None], timedelta], Loop]


class Steps:
    """Counts what a loop does; each step answers, or raises, what is next in `answers`."""

    def __init__(self, *answers: timedelta | Exception | None) -> None:
        self._answers = list(answers)
        self._done = threading.Semaphore(0)
        self.count = 0

    def __call__(self) -> timedelta | None:
        self.count += 1
        answer = self._answers.pop(0) if self._answers else None
        self._done.release()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def wait(self, times: int = 1) -> None:
        """Until so many further steps have begun."""
        for _ in range(times):
            assert self._done.acquire(timeout=LIMIT.total_seconds())


@pytest.fixture
def start() -> Iterator[Start]:
    loops: list[Loop] = []

    def begin(step: Callable[[], timedelta | None], every: timedelta) -> Loop:
        loop = Loop("test-loop", step, every)
        loops.append(loop)
        loop.start()
        return loop

    yield begin
    for loop in loops:
        loop.stop()
        assert loop.join(LIMIT)


def test_the_first_step_comes_at_once(start: Start) -> None:
    steps = Steps()
    start(steps, NEVER)
    steps.wait()


def test_a_loop_runs_again_when_it_is_time(start: Start) -> None:
    steps = Steps()
    start(steps, SOON)
    steps.wait(5)


def test_a_loop_runs_when_it_is_woken(start: Start) -> None:
    steps = Steps()
    loop = start(steps, NEVER)
    for _ in range(3):
        steps.wait()
        loop.wake()
    steps.wait()


def test_a_step_says_how_soon_it_wants_to_run_again(start: Start) -> None:
    steps = Steps(SOON, SOON, timedelta(0))
    start(steps, NEVER)
    steps.wait(4)


def test_after_that_the_usual_time_is_back(start: Start) -> None:
    steps = Steps(SOON, None)
    start(steps, timedelta(seconds=0.05))
    steps.wait(4)


def test_what_a_step_raises_ends_nothing(start: Start) -> None:
    steps = Steps(ValueError("broken"), OSError("gone"))
    loop = start(steps, SOON)
    steps.wait(3)
    assert loop.alive


def test_a_wake_during_a_step_is_not_lost(start: Start) -> None:
    inside, leave = threading.Event(), threading.Event()
    steps = Steps()

    def step() -> timedelta | None:
        answer = steps()
        inside.set()
        assert leave.wait(5)
        return answer

    loop = start(step, NEVER)
    assert inside.wait(5)
    for _ in range(3):
        loop.wake()
    leave.set()
    steps.wait(2)
    assert steps.count == 2, "several calls before the step begins are one"


def test_stop_lets_the_step_finish_and_begins_no_other() -> None:
    inside, leave = threading.Event(), threading.Event()
    ended: list[str] = []

    def step() -> timedelta | None:
        inside.set()
        assert leave.wait(5)
        ended.append("finished")
        return timedelta(0)

    loop = Loop("test-loop", step, SOON)
    loop.start()
    assert inside.wait(5)
    loop.stop()
    assert not loop.join(timedelta(0))
    leave.set()
    assert loop.join(LIMIT)
    assert (ended, loop.alive) == (["finished"], False)


def test_a_loop_that_was_never_started_can_be_stopped() -> None:
    loop = Loop("test-loop", Steps(), NEVER)
    loop.stop()
    assert loop.join(timedelta(0))


def _item(number: int) -> InboxItem:
    return InboxItem(f"command:{number}", Arrival.COMMAND, "status", {}, datetime(2026, 12, 2, tzinfo=UTC))


def test_every_item_is_handled_once_by_some_thread() -> None:
    handled: queue.SimpleQueue[str] = queue.SimpleQueue()
    pool = Pool("test-worker", 4, lambda item: handled.put(item.key), Urgent())
    pool.start()
    for number in range(100):
        pool.offer(_item(number))
    got = [handled.get(timeout=5) for _ in range(100)]
    assert sorted(got) == sorted(_item(number).key for number in range(100))
    pool.stop()
    assert pool.join(LIMIT)


def test_items_that_were_offered_before_the_start_wait() -> None:
    handled: queue.SimpleQueue[str] = queue.SimpleQueue()
    pool = Pool("test-worker", 1, lambda item: handled.put(item.key), Urgent())
    pool.offer(_item(1))
    pool.start()
    assert handled.get(timeout=5) == "command:1"
    pool.stop()
    assert pool.join(LIMIT)


def test_an_item_that_cannot_be_handled_does_not_take_its_thread_along() -> None:
    handled: queue.SimpleQueue[str] = queue.SimpleQueue()

    def handle(item: InboxItem) -> None:
        if item.key == "command:1":
            raise ValueError("broken")
        handled.put(item.key)

    pool = Pool("test-worker", 1, handle, Urgent())
    pool.start()
    for number in (1, 2):
        pool.offer(_item(number))
    assert handled.get(timeout=5) == "command:2"
    pool.stop()
    assert pool.join(LIMIT)


def test_stop_finishes_what_has_begun_and_leaves_the_rest_stored() -> None:
    inside, leave = threading.Event(), threading.Event()
    handled: list[str] = []

    def handle(item: InboxItem) -> None:
        inside.set()
        assert leave.wait(5)
        handled.append(item.key)

    pool = Pool("test-worker", 1, handle, Urgent())
    pool.start()
    for number in range(5):
        pool.offer(_item(number))
    assert inside.wait(5)
    pool.stop()
    assert not pool.join(timedelta(0))
    leave.set()
    assert pool.join(LIMIT)
    assert handled == ["command:0"]


def test_a_pool_that_was_never_started_can_be_stopped() -> None:
    pool = Pool("test-worker", 2, lambda item: None, Urgent())
    pool.stop()
    assert pool.join(timedelta(0))


def test_an_item_begins_only_when_nothing_urgent_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GIVE_WAY", timedelta(days=1))
    urgent, handled = Urgent(), queue.SimpleQueue[int]()
    pool = Pool("test-worker", 1, lambda item: handled.put(urgent.count), urgent)
    with urgent:
        with urgent:
            pool.start()
            pool.offer(_item(1))
        assert handled.empty()
    assert handled.get(timeout=5) == 0
    pool.stop()
    assert pool.join(LIMIT)


def test_a_stream_of_urgent_things_does_not_keep_an_item_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GIVE_WAY", timedelta(milliseconds=1))
    urgent, handled = Urgent(), queue.SimpleQueue[int]()
    pool = Pool("test-worker", 1, lambda item: handled.put(urgent.count), urgent)
    with urgent:
        pool.start()
        pool.offer(_item(1))
        assert handled.get(timeout=5) == 1
    pool.stop()
    assert pool.join(LIMIT)
