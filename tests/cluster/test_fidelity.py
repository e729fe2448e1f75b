"""docs/fidelity.md lists the tests there are, and each on the places where it runs."""

import subprocess
import sys

import pytest

from tests.cluster import fidelity
from tests.cluster.differences import DIFFERENCES, difference
from tests.cluster.places import REAL
from tests.cluster.programs import LINES, ROOT
from tests.support.outer import outer_environment


@pytest.mark.skipif(set(REAL) != set(LINES), reason="not every line of Kueue is built: the list cannot be compared")
def test_the_list_is_of_the_tests_there_are() -> None:
    """In numbers too: FIDELITY=docs/fidelity.md pytest tests/cluster writes it anew."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", "-p", "no:cacheprovider", "tests/cluster"]
    told = subprocess.run(
        command, cwd=ROOT, env=outer_environment(), capture_output=True, text=True, check=True, timeout=300
    )
    ids = [line for line in told.stdout.splitlines() if "::" in line]
    differing = [one for one in ids if _differs(one)]
    assert len(differing) == sum(len(row.lines) for row in DIFFERENCES)
    expected = fidelity.table([one for one in ids if one not in differing], differing)
    assert fidelity.kept((ROOT / "docs/fidelity.md").read_text()) == expected


def _differs(nodeid: str) -> bool:
    test, _, asked = nodeid.partition("::")[2].partition("[")
    line = next((place for place in LINES if asked.startswith(place)), "")
    case = asked.removeprefix(f"{line}-").removesuffix("]")
    return bool(line) and difference(line, test, case) is not None
