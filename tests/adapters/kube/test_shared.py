"""Fresh reads are shared: nobody gets what was begun before he asked, and a hung read holds nobody up for long."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from bot.adapters.kube.shared import Shared

PATIENCE = 0.05


class Work:
    """Numbered calls; each waits for its gate."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.gates = [threading.Event() for _ in range(4)]
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        number = self.calls
        self.begun.release()
        assert self.gates[number - 1].wait(5)
        return number


def _ask(pool: ThreadPoolExecutor, shared: Shared[int], count: int) -> list[Future[int]]:
    """Asked and waiting, each on a thread of its own."""
    arrived = threading.Barrier(count + 1)

    def ask() -> int:
        arrived.wait(5)
        return shared.get()

    asked = [pool.submit(ask) for _ in range(count)]
    arrived.wait(5)
    return asked


def test_all_who_ask_during_a_call_share_the_next_one() -> None:
    work = Work()
    shared: Shared[int] = Shared(work, patience=5)
    with ThreadPoolExecutor(40) as pool:
        first = _ask(pool, shared, 1)
        assert work.begun.acquire(timeout=5)
        later = _ask(pool, shared, 30)
        _until(lambda: _waiting(shared) == 29)  # and one leads: who comes later needs a later call
        for gate in work.gates:
            gate.set()
        assert first[0].result(5) == 1
        assert {one.result(5) for one in later} <= {2, 3, 4}
    assert work.calls <= 4


def test_nobody_gets_what_was_begun_before_he_asked() -> None:
    work = Work()
    shared: Shared[int] = Shared(work, patience=5)
    with ThreadPoolExecutor(4) as pool:
        _ask(pool, shared, 1)
        assert work.begun.acquire(timeout=5)
        second = _ask(pool, shared, 1)
        for gate in work.gates:
            gate.set()
        assert second[0].result(5) == 2


def test_a_call_that_hangs_does_not_hold_up_the_next() -> None:
    work = Work()
    shared: Shared[int] = Shared(work, patience=PATIENCE)
    with ThreadPoolExecutor(4) as pool:
        hung = _ask(pool, shared, 1)
        assert work.begun.acquire(timeout=5)
        work.gates[1].set()
        assert _ask(pool, shared, 1)[0].result(5) == 2
        assert not hung[0].done()
        work.gates[0].set()
        assert hung[0].result(5) == 1


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(1)])
def test_a_failure_reaches_who_waited_and_nobody_after_them(error: BaseException) -> None:
    answers: list[BaseException | int] = [error, 2]

    def work() -> int:
        answer = answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    shared = Shared(work)
    with pytest.raises(type(error)):
        shared.get()
    assert shared.get() == 2


def _waiting(shared: Shared[int]) -> int:
    """For the next call, without the one who makes it."""
    upcoming = shared._next
    return 0 if upcoming is None else len(upcoming._condition._waiters)  # type: ignore[attr-defined]


def _until(happens: Callable[[], bool]) -> None:
    waiting = threading.Event()
    while not happens():
        waiting.wait(0.001)
