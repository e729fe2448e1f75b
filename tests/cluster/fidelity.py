"""The list in docs/fidelity.md of each behaviour and where it was checked, made of the ids of a run's tests.

Written by tests/cluster/lines_summary; tests/cluster/test_fidelity holds that it is of the tests there are.
"""

import re
from collections import Counter
from collections.abc import Iterable

from tests.cluster.programs import LINES

PLACES = ("simulator", *LINES)
BEGIN, END = "<!-- from the run: begin -->\n", "<!-- from the run: end -->\n"
_ID = re.compile(r"^tests/cluster/(?P<module>\w+)\.py::(?P<test>\w+)\[(?:\w+-)?(?P<place>simulator|given|kueue-[\d.]+)")


def by_place(ids: Iterable[str]) -> Counter[str]:
    """How many of the tests ran where."""
    return Counter(found["place"] for one in ids if (found := _ID.match(one)))


def counted(ids: Iterable[str]) -> dict[tuple[str, str], Counter[str]]:
    """(module, test) -> how many of its cases ran where."""
    rows: dict[tuple[str, str], Counter[str]] = {}
    for one in ids:
        if found := _ID.match(one):
            rows.setdefault((found["module"], found["test"]), Counter())[found["place"]] += 1
    return rows


def table(passed: Iterable[str], differing: Iterable[str]) -> str:
    """A Markdown table: a row for each test, a column for each place, the number of cases that passed and differed."""
    same, other = counted(passed), counted(differing)
    lines = [f"| behaviour | in | {' | '.join(PLACES)} |", f"|---|---|{'---|' * len(PLACES)}"]
    for row in sorted({*same, *other}):
        module, test = row
        cells = (_cell(same.get(row, Counter())[place], other.get(row, Counter())[place]) for place in PLACES)
        behaviour = test.removeprefix("test_").replace("_", " ")
        lines.append(f"| {behaviour} | `{module}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(same: int, differing: int) -> str:
    if not same and not differing:
        return "-"
    return f"{same}" + (f", {differing} differing" if differing else "")


def replaced(page: str, new: str) -> str:
    """The page with another list."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{new}{END}{after}"


def kept(page: str) -> str:
    """The page's list."""
    return page.partition(BEGIN)[2].partition(END)[0]
