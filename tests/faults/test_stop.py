"""SIGTERM while something hangs or fails: the rest ends in time, and the next process leads at once."""

import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from bot.app import run

if TYPE_CHECKING:
    from bot.demo.run_stage import Stage

WITHIN = timedelta(seconds=3)


@pytest.mark.parametrize("trouble", ["the timetable hangs", "the socket does not close", "both"])
def test_what_hangs_or_fails_at_the_stop_holds_nothing_else_up(
    stage: "Stage", monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    begun, leave = threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        leave.wait(60)

    def fail() -> None:
        raise OSError("the connection is gone")

    bot = stage.bot
    stage.wait("it leads", lambda: bot._leader.epoch is not None)
    monkeypatch.setattr(run, "STOP_WITHIN", WITHIN)
    socket = bot._socket
    assert socket is not None
    if trouble != "the timetable hangs":
        monkeypatch.setattr(socket, "close", fail)
    if trouble != "the socket does not close":
        bot.timetable.add_job(hang)
        assert begun.wait(10)
    began = time.monotonic()
    try:
        stage.stop_bot()
        took = time.monotonic() - began
        stage.start_bot()
        stage.wait("the next one leads", lambda: stage.bot._leader.epoch is not None)
    finally:
        leave.set()
        socket._handler.close()
    assert took < WITHIN.total_seconds() + 2
