"""Quantities: exact, canonical, and counted as Kueue counts."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kubernetes.utils import quantity as library

from bot.demo.kube.quantity import amount, canonical, parse, printed

VALUES = {
    "8": 8, 8: 8, "8000m": 8, "8k": 8000, "10k": 10_000, "2Ti": 2 * 1024**4, "0.5": Fraction(1, 2),
    "1500m": Fraction(3, 2), "-1": -1, "+3": 3, ".5": Fraction(1, 2), "1.": 1, "1e3": 1000, "1E3": 1000,
    "8E": 8 * 10**18, "4Gi": 4 * 1024**3, "0": 0,
}  # fmt: skip


@pytest.mark.parametrize("text", VALUES)
def test_it_reads(text: int | str) -> None:
    assert parse(text) == VALUES[text]


@pytest.mark.parametrize(
    "text", ["", " ", "eight", "4 GPUs", "8 ", "1_000", "٤", "NaN", "inf", "0x8", "1e", "k", "--1", "1.2.3", True]
)
def test_it_does_not_read(text: int | str) -> None:
    with pytest.raises(ValueError, match="quantities must match"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (8, "8"), ("8", "8"), ("12000m", "12"), (10_000, "10k"), ("10k", "10k"), ("2Ti", "2Ti"),
        ("2048Gi", "2Ti"),
        ("1500m", "1500m"), ("0.5", "500m"), ("1000k", "1M"), ("-1", "-1"), ("0Gi", "0"),
        ("1e3", "1e3"), ("100", "100"),
    ],
)  # fmt: skip
def test_canonical_form(text: int | str, written: str) -> None:
    assert canonical(text) == written


@pytest.mark.parametrize(
    ("resource", "text", "units"),
    [("nvidia.com/gpu", "0.5", 1), ("nvidia.com/gpu", "1500m", 2), ("cpu", "1500m", 1500), ("memory", "1Ki", 1024)],
)
def test_kueue_counts_cpu_in_thousandths_and_rounds_the_rest_up(resource: str, text: str, units: int) -> None:
    assert amount(resource, text) == units


def test_amounts_print_as_quantities() -> None:
    assert (printed("cpu", 1500), printed("cpu", 2000), printed("nvidia.com/gpu", 16)) == ("1500m", "2", "16")


SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"]
QUANTITIES = st.builds(
    lambda number, suffix: f"{number}{suffix}", st.integers(-(10**6), 10**6), st.sampled_from(SUFFIXES)
)


@settings(deadline=None)
@given(QUANTITIES)
def test_the_client_library_reads_the_same_value(text: str) -> None:
    read: Any = library.parse_quantity
    assert parse(text) == Fraction(read(text))


@settings(deadline=None)
@given(QUANTITIES)
def test_the_canonical_form_is_the_same_value_and_stays(text: str) -> None:
    assert parse(canonical(text)) == parse(text)
    assert canonical(canonical(text)) == canonical(text)
