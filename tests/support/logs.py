"""Logging as it was, after a test whose code configures it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog


@contextmanager
def logs_as_before() -> Iterator[None]:
    """Handlers, the level of every logger that is there, and structlog are put back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    loggers = {name: one for name, one in root.manager.loggerDict.items() if isinstance(one, logging.Logger)}
    levels = {name: one.level for name, one in loggers.items()}
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        for name, one in root.manager.loggerDict.items():
            if isinstance(one, logging.Logger):
                one.setLevel(levels.get(name, logging.NOTSET))
        structlog.reset_defaults()
