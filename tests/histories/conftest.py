"""Histories make thousands of warnings that nobody reads: the bot's log is silent while they run."""

import logging
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def _silent_log() -> Iterator[None]:
    """Also for loggers that an earlier test of this process has bound to the standard library's."""
    before, level = structlog.get_config(), logging.root.manager.disable
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(level)
    structlog.configure(**before)
