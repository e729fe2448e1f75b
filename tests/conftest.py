"""What every test stands on: Hypothesis profiles, no network beyond loopback, and skips that cannot be overlooked.

With CI=true a skip is a failure. Shared fixtures live in tests/support; name new fixture modules in `pytest_plugins`.
"""

import gc
import os
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import network

pytest_plugins = [
    "tests.support.postgres_told",
    "tests.support.postgres",
    "tests.support.databases",
    "tests.support.slack_watch",
    "tests.support.summaries",
    "tests.cluster.lines_summary",
]

settings.register_profile("quick", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "case(id): holds this case of the case list (tests.support.marks.case)")
    config.add_cleanup(network.forbid_beyond_loopback())


def pytest_collection_finish() -> None:
    """What is there before the first test stays: the collector need not look through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _fail_if_skipped_in_ci(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_if_skipped_in_ci(report)
    return report


def _fail_if_skipped_in_ci(report: pytest.TestReport | pytest.CollectReport) -> None:
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and with CI=true nothing may be: {_reason(report)}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skips: list[Any] = terminalreporter.stats.get("skipped", [])
    if not skips:
        return
    terminalreporter.section(f"NOT RUN: {len(skips)} skipped", yellow=True, bold=True)
    for report in skips:
        terminalreporter.line(f"{report.nodeid}: {_reason(report)}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return str(report.longrepr)
