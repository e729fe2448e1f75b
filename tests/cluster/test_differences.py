"""The table of differences speaks of tests and lines that there are."""

import ast
from pathlib import Path

from tests.cluster.differences import DIFFERENCES
from tests.cluster.programs import LINES, OPTIONAL

FOLDER = Path(__file__).parent


def _tests() -> dict[str, str]:
    """Name of each test of this folder -> text of its module."""
    texts = [path.read_text() for path in FOLDER.glob("test_*.py")]
    return {node.name: text for text in texts for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}


def test_every_row_names_a_test_its_case_and_lines() -> None:
    tests = _tests()
    missing = [row for row in DIFFERENCES if f'"{row.case}"' not in f'{tests.get(row.test)} ""']
    unknown = {line for row in DIFFERENCES for line in row.lines} - set(LINES)
    assert (missing, unknown) == ([], set())


def test_the_newest_line_has_no_exception() -> None:
    assert {line for row in DIFFERENCES for line in row.lines} <= OPTIONAL
