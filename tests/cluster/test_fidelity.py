"""docs/fidelity.md lists the tests there are, and each on the places where it runs."""

import subprocess
import sys

from tests.cluster import fidelity
from tests.cluster.differences import DIFFERENCES, difference
from tests.cluster.places import GIVEN
from tests.cluster.programs import LINES, ROOT, all_built
from tests.support.outer import outer_environment


def test_the_list_is_of_the_tests_there_are() -> None:
    """In numbers too, where every line is built: `make fidelity` writes it anew."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", "-p", "no:cacheprovider", "tests/cluster"]
    told = subprocess.run(
        command, cwd=ROOT, env=outer_environment(), capture_output=True, text=True, check=True, timeout=300
    )
    ids = [line for line in told.stdout.splitlines() if "::" in line]
    differing = [one for one in ids if _differs(one)]
    expected = fidelity.table([one for one in ids if one not in differing], differing)
    kept = fidelity.kept((ROOT / "docs/fidelity.md").read_text())
    assert _behaviours(kept) == _behaviours(expected)
    if all_built() and not GIVEN:
        assert kept == expected
        assert len(differing) == sum(len(row.lines) for row in DIFFERENCES)


def _behaviours(table: str) -> list[list[str]]:
    return [row.split("|")[1:3] for row in table.splitlines()]


def _differs(nodeid: str) -> bool:
    test, _, asked = nodeid.partition("::")[2].partition("[")
    line = next((place for place in LINES if asked.startswith(place)), "")
    case = asked.removeprefix(f"{line}-").removesuffix("]")
    return bool(line) and difference(line, test, case) is not None
