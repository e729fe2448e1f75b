"""Every case of the list has a test that is marked with its id, or a reason why it has none yet; never both."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.case_list import CASES, NOT_YET

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def database() -> None:
    """There is nothing here to stand on one."""


def _marked(source: str) -> Iterator[str]:
    """Ids in `@pytest.mark.case("...")`, or in `case("...")`, over the tests and classes of a module."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or not node.name.lower().startswith("test"):
            continue
        for mark in node.decorator_list:
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) in {"pytest.mark.case", "case"}:
                yield from (str(ast.literal_eval(one)) for one in mark.args)


@cache
def _ids_with_tests() -> set[str]:
    return {one for file in TESTS.rglob("test_*.py") for one in _marked(file.read_text(encoding="utf-8"))}


def test_the_marks_are_found() -> None:
    marked = '@pytest.mark.case("A-1", "A-2")\ndef test_a(): ...\n@case("B-1")\nclass TestB: ...\n'
    source = marked + '@case("C-1")\ndef not_a_test(): ...\n'
    assert set(_marked(source)) == {"A-1", "A-2", "B-1"}


def test_marks_name_cases_of_the_list() -> None:
    assert _ids_with_tests() <= set(CASES)


def test_no_case_has_both_a_test_and_a_reason_for_none() -> None:
    assert set(NOT_YET) <= set(CASES)
    assert not _ids_with_tests() & set(NOT_YET)


@pytest.mark.parametrize("case_id", sorted(CASES.keys() - NOT_YET.keys()))
def test_every_other_case_has_a_test(case_id: str) -> None:
    assert case_id in _ids_with_tests(), f"no test is marked with {case_id}: {CASES[case_id]}"


def test_those_without_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """The list is printed even when everything passes."""
    with capsys.disabled():
        for case_id, why in sorted(NOT_YET.items()):
            sys.stdout.write(f"\nno test yet: {case_id} ({CASES[case_id]}): {why}")
    assert all(NOT_YET.values())
