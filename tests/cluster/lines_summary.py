"""Says at the end of a run on which lines of Kueue the tests of this folder ran, which line did not run and why, and
what was expected to differ on older ones. Loaded by tests/conftest, since the main process of a run with several
workers does not look into this folder.
"""

import os
import re
from collections import Counter
from typing import Any

from tests.cluster.differences import DIFFERENCES
from tests.cluster.programs import LINES, NotBuilt, programs

_PLACE = re.compile(r"^tests/cluster/.*\[(simulator|given|kueue-[\d.]+)")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Nothing if no test of tests/cluster was run."""
    reports = [one for name in ("passed", "failed", "error", "xfailed") for one in terminalreporter.stats.get(name, [])]
    ran = Counter(found[1] for one in reports if (found := _PLACE.match(one.nodeid)))
    if not ran:
        return
    terminalreporter.section("Control planes")
    for place in ("simulator", *(("given",) if "CLUSTER_KUBECONFIG" in os.environ else LINES)):
        terminalreporter.write_line(f"{place}: {_told(place, ran[place])}")
    for row in DIFFERENCES:
        if any(ran[line] for line in row.lines):
            case = f" [{row.case}]" if row.case else ""
            terminalreporter.write_line(f"  {' and '.join(row.lines)} differ in {row.test}{case}: {row.seen}")


def _told(place: str, tests: int) -> str:
    if place not in LINES:
        return f"{tests} tests"
    try:
        built = programs(place)
    except NotBuilt as why:
        return f"NOT RUN: {why}"
    return f"{tests} tests on Kueue {built.kueue} and Kubernetes {built.kubernetes}"
