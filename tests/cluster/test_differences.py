"""The table of differences speaks of tests and lines that there are."""

import ast
from pathlib import Path

import pytest

from tests.cluster import differences
from tests.cluster.differences import DIFFERENCES
from tests.cluster.programs import LINES, OPTIONAL, Programs

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


def test_what_kubernetes_says_otherwise_is_expected_of_that_kubernetes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    of_kubernetes = [row for row in DIFFERENCES if row.kubernetes]
    for version, expected in (("v1.29.15", of_kubernetes), ("v1.36.3", [])):
        ran = Programs(Path("here"), Path("here"), Path("here"), {"k8s.io/kubernetes": version})
        monkeypatch.setattr(differences, "programs", lambda _line, ran=ran: ran)
        assert [row for row in differences.differences("kueue-0.8") if row.kubernetes] == expected
    assert of_kubernetes, "else nothing was looked at"
