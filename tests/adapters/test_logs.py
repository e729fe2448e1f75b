"""What the libraries beneath the bot may say in its log."""

import logging
from collections.abc import Iterator

import pytest

from bot.adapters.logs import configure_logs
from tests.support.logs import logs_as_before


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    with logs_as_before():
        yield


@pytest.mark.parametrize(
    ("level", "vendor", "said", "heard"),
    [
        pytest.param("DEBUG", "slack_sdk.web", logging.DEBUG, False, id="whole requests, tokens among them"),
        pytest.param("DEBUG", "slack_sdk.web", logging.WARNING, True, id="a vendor's warning"),
        pytest.param("ERROR", "slack_sdk.web", logging.WARNING, False, id="a vendor is not louder than the bot"),
        pytest.param("INFO", "apscheduler.scheduler", logging.WARNING, False, id="a job still at its last run"),
        pytest.param("INFO", "apscheduler.executors", logging.ERROR, True, id="a job that raised"),
    ],
)
def test_vendors_are_heard_where_it_helps(
    level: str, vendor: str, said: int, heard: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(level, "json")
    logging.getLogger(vendor).log(said, "as it happens")
    assert ("as it happens" in capsys.readouterr().err) is heard
