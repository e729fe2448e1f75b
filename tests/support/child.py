"""`gpu-quota-bot run` as a process of its own that a test can kill, with one difference: its clock.

Forked from a server that has imported everything, since a test that kills and starts again has little time.
CLOCK_FILE holds the seconds that this process's clock is ahead of real time; the test moves it.
"""

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from bot.app.run import Bot
from bot.cli import serve


def now() -> datetime:
    """Real time plus what the file says now."""
    ahead = Path(os.environ["CLOCK_FILE"]).read_text(encoding="ascii")
    return datetime.now(UTC) + timedelta(seconds=float(ahead))


def run(environment: Mapping[str, str], log: str) -> None:
    """Never returns. `environment` is all that the process gets; what it prints goes to `log`."""
    os.environ.clear()
    os.environ.update(environment)
    sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    setattr(serve, "Bot", partial(Bot, clock=now))  # noqa: B010 - the one difference
    sys.exit(serve.serve())
