"""One staged world a module: the cases of a module get along with each other, and say what they leave behind."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from bot.adapters.logs import configure_logs
from bot.core.pace import Pace
from bot.demo.run_stage import Stage
from tests.support.play import Play


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    """The whole bot in Socket Mode, without Slack's pace, which these cases are not about."""
    configure_logs("ERROR", "console")
    with Stage(pace=Pace(timedelta(0), timedelta(0))) as stage:
        stage.slack.pacer.on = False
        yield Play(stage)


@pytest.fixture(autouse=True)
def _an_hour_later(request: pytest.FixtureRequest) -> None:
    """Nobody runs into the limit of requests per hour because of the tests before."""
    if "play" in request.fixturenames:
        request.getfixturevalue("play").stage.clock.move(timedelta(hours=1))
