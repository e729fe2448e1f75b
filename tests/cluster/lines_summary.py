"""Says at the end of a run on which lines of Kueue the tests of this folder ran, which line did not run and why, and
what was expected to differ on older ones. Loaded by tests/conftest, since the main process of a run with several
workers does not look into this folder.

With FIDELITY=docs/fidelity.md the page's list of what was checked where is written from the run.
"""

import os
from pathlib import Path
from typing import Any

from tests.cluster import fidelity
from tests.cluster.differences import DIFFERENCES, differences
from tests.cluster.programs import LINES, NotBuilt, all_built, programs


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Nothing if no test of tests/cluster was run."""
    stats = terminalreporter.stats
    outcomes = {name: [one.nodeid for one in stats.get(name, ())] for name in ("passed", "failed", "error", "xfailed")}
    ran = fidelity.by_place([nodeid for nodeids in outcomes.values() for nodeid in nodeids])
    if not ran:
        return
    terminalreporter.section("Control planes", bold=True)
    for place in ("simulator", *(("given",) if os.environ.get("CLUSTER_KUBECONFIG") else LINES)):
        told = _told(place, ran[place])
        terminalreporter.write_line(f"{place}: {told}", bold=True, yellow=told.startswith("NOT RUN"))
    for row in DIFFERENCES:
        if lines := [line for line in row.lines if ran[line] and row in differences(line)]:
            case = f" [{row.case}]" if row.case else ""
            terminalreporter.write_line(f"  {' and '.join(lines)} differ in {row.test}{case}: {row.means}")
    if page := os.environ.get("FIDELITY"):
        terminalreporter.write_line(_write(Path(page), outcomes))


def _told(place: str, tests: int) -> str:
    if place not in LINES:
        return f"{tests} tests"
    try:
        built = programs(place)
    except NotBuilt as why:
        return f"NOT RUN: {why}"
    return f"{tests} tests on Kueue {built.kueue} and Kubernetes {built.kubernetes}"


def _write(page: Path, outcomes: dict[str, list[str]]) -> str:
    if fidelity.by_place(outcomes["failed"] + outcomes["error"]):
        return f"{page} is as it was: not everything passed"
    if not all_built():
        return f"{page} is as it was: not every line is built (scripts/control-plane.sh build)"
    page.write_text(fidelity.replaced(page.read_text(), fidelity.table(outcomes["passed"], outcomes["xfailed"])))
    return f"{page} has this run's list"
