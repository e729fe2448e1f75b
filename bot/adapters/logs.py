"""Logs as JSON lines or for a console, the vendors' own among them. Configured once by cli/serve."""

import logging
import sys
from typing import Literal

import structlog

_VENDORS = {
    **dict.fromkeys(
        ("slack_bolt", "slack_sdk", "kubernetes", "urllib3", "sqlalchemy", "uvicorn", "alembic"), logging.WARNING
    ),
    "apscheduler": logging.ERROR,  # warns whenever a job is still at its last run: every second while a database hangs
}
"""From which level on each of them is heard."""


def configure_logs(level: str, style: Literal["json", "console"]) -> None:
    """Everything goes to standard error, so that commands can print to standard output.

    Vendors speak from WARNING on at the earliest: at DEBUG some of them print whole requests, tokens among them.
    """
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: structlog.types.Processor = (
        structlog.processors.JSONRenderer() if style == "json" else structlog.dev.ConsoleRenderer()
    )
    tail: list[structlog.types.Processor] = [structlog.processors.format_exc_info] if style == "json" else []
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *tail, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for vendor, least in _VENDORS.items():
        logging.getLogger(vendor).setLevel(max(least, root.level))
