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
