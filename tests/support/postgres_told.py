"""Says at the end of a run on which PostgreSQL its tests ran. A pytest plugin, loaded by tests/conftest.

The servers are started by the workers of a run, which tell the main process when they end.
"""

from typing import Any

import pytest

RAN: set[str] = set()
"""The servers that were started in this process, or in its workers: each version with the folder of its programs."""
_KEY = "postgresql"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker's part."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[_KEY] = sorted(RAN)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker that crashed has told nothing."""
    RAN.update(getattr(node, "workeroutput", {}).get(_KEY, ()))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Nothing if no test asked for one."""
    for server in sorted(RAN):
        terminalreporter.write_line(f"PostgreSQL: {server}", bold=True)
