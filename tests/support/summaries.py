"""Prints what tests found worth reading at the end of a run: their properties whose name begins with `summary: `.

They come from any process of a run under pytest-xdist. Loaded by tests/conftest.py.
"""

from typing import Any

_PREFIX = "summary: "


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One section for each name, one entry for each test."""
    found: dict[str, list[str]] = {}
    for report in terminalreporter.stats.get("passed", []):
        for name, value in report.user_properties:
            if str(name).startswith(_PREFIX):
                found.setdefault(str(name).removeprefix(_PREFIX), []).append(str(value))
    for name, values in found.items():
        terminalreporter.section(name)
        for value in values:
            terminalreporter.write_line(value)
