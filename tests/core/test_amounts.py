"""Numbers of GPUs as people type them, and the sentences for what is no such number."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.amounts import CEILING, Amount, take_amount
from bot.core.wording.faults import Misread, flat

NOT_A_NUMBER = "{} is not a number of GPUs. Whole numbers from 1, like 8."


def read(text: str, limit: int | None) -> Amount | Misread | None:
    """What a text begins with; the words after the amount count as the name of what is counted."""
    words = flat(text).split()
    taken = take_amount(words, limit)
    if taken is None or isinstance(taken.value, Misread):
        return taken and taken.value
    return Amount(taken.value.count, taken.value.of or " ".join(words[taken.used :]).lower() or None)


def sentence(text: str, limit: int | None = 16) -> str:
    result = read(text, limit)
    assert isinstance(result, Misread), result
    return result.sentence


@pytest.mark.parametrize(
    ("text", "count", "of"),
    [
        ("4", 4, None),
        (" 4 ", 4, None),
        ("\u00a04\u202f", 4, None),
        ("004", 4, None),
        ("4 GPUs", 4, None),
        ("1 gpu", 1, None),
        ("16", 16, None),
        ("8gpus", 8, None),
        ("8x", 8, None),
        ("8 a100", 8, "a100"),
        ("8a100", 8, "a100"),
        ("8x a100", 8, "a100"),
        ("8xa100", 8, "a100"),
        ("8 x a100", 8, "a100"),
        ("8 × a100", 8, "a100"),
        ("8×A100", 8, "a100"),
        ("a100 x8", 8, "a100"),
        ("a100 ×8", 8, "a100"),
        ("A100 x 8", 8, "a100"),
        ("8 A100s", 8, "a100s"),
        ("8 gpus a100", 8, "a100"),
        ("8 gpus of a100", 8, "a100"),
        ("8k80", 8, "k80"),
        ("4t4", 4, "t4"),
        ("8mi300x", 8, "mi300x"),
        ("8 gpu-a40", 8, "gpu-a40"),
        ("rtx8000 x2", 2, "rtx8000"),
    ],
)
def test_amounts_that_are_taken(text: str, count: int, of: str | None) -> None:
    assert read(text, 16) == Amount(count, of)


@pytest.mark.case("QUO-13")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5", "0.5 is not a whole number of GPUs."),
        ("1500m", "1500m is not a whole number of GPUs."),
        ("1.25", "1.25 is not a whole number of GPUs."),
        ("1e-3", "1e-3 is not a whole number of GPUs."),
        ("100u", "100u is not a whole number of GPUs."),
        (".5", ".5 is not a whole number of GPUs."),
        ("1e-999999999", "1e-999999999 is not a whole number of GPUs."),
        ("4k", "4k is 4,000 GPUs; the most per request is 16."),
        ("4K", "4K is 4,000 GPUs; the most per request is 16."),
        ("1e3", "1e3 is 1,000 GPUs; the most per request is 16."),
        ("1E3", "1E3 is 1,000 GPUs; the most per request is 16."),
        ("8E", "8E is 8,000,000,000,000,000,000 GPUs; the most per request is 16."),
        ("4Gi", "4Gi is 4,294,967,296 GPUs; the most per request is 16."),
        ("1Ki", "1Ki is 1,024 GPUs; the most per request is 16."),
        ("2M", "2M is 2,000,000 GPUs; the most per request is 16."),
        ("8e999999999", "8e999999999 has over 40 digits; the most per request is 16."),
        ("9" * 50, "9999999999999999…999999999999999 has over 40 digits; the most per request is 16."),
        ("20", "20 is more than the 16 that policy allows per request."),
        ("4000 a100", "4,000 is more than the 16 that policy allows per request."),
        ("2000m", "2000m is 2 GPUs. Write it in digits: 2."),
        ("1e0", "1e0 is 1 GPU. Write it in digits: 1."),
        ("4.0", "4.0 is 4 GPUs. Write it in digits: 4."),
        *[
            (text, NOT_A_NUMBER.format(text))
            for text in ("-4", "+4", "-0.5", "0", "00", "0.0", "1_000", "1,000", "٤", "４", "NaN", "nan", "inf", "-inf")
        ],
        *[
            (text, NOT_A_NUMBER.format(text))
            for text in ("0x8", "0b11", "8x8", "Infinity", "½", "8/2", "4;", "3d", "8h")
        ],
        ("0 a100", NOT_A_NUMBER.format("0")),
        ("a100 x0", NOT_A_NUMBER.format("0")),
    ],
)
def test_quo_13_amounts_that_are_refused(text: str, expected: str) -> None:
    assert sentence(text) == expected


@pytest.mark.case("QUO-13")
@pytest.mark.parametrize("text", ["4k", "1e3", "8E", "4Gi", "1500m", "NaN", "9" * 3000, "1" * 60 + "E", "7" * 5000])
@pytest.mark.parametrize("limit", [1, 16, None, 0, 10**12])
def test_quo_13_nothing_crashes_and_what_is_offered_instead_is_taken(text: str, limit: int | None) -> None:
    result = read(text, limit)
    assert isinstance(result, (Amount, Misread))
    for instead in getattr(result, "instead", ()):
        assert isinstance(read(instead, limit), Amount)


@pytest.mark.parametrize("text", ["", "   ", "eight", "a100", "for 8"])
def test_what_does_not_begin_like_a_number_is_left_to_others(text: str) -> None:
    assert read(text, 16) is None


@pytest.mark.parametrize(
    ("text", "expected", "instead"),
    [
        ("8h100", '"8h100" can be 8 h100 or 8 hours.', ("8 h100", "8h")),
        ("16H200", '"16H200" can be 16 h200 or 16 hours.', ("16 h200", "16h")),
        ("4m40", '"4m40" can be 4 m40 or 4 minutes.', ("4 m40", "4m")),
        ("2d5", '"2d5" can be 2 d5 or 2 days.', ("2 d5", "2d")),
        ("2w7900", '"2w7900" can be 2 w7900 or 2 weeks.', ("2 w7900", "2w")),
    ],
)
def test_a_number_glued_to_what_may_be_a_unit_of_time_is_ambiguous(
    text: str, expected: str, instead: tuple[str, ...]
) -> None:
    assert read(text, 16) == Misread(expected, instead)


@pytest.mark.case("QUO-15")
@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("7 mig-1g.5gb", "mig-1g.5gb"),
        ("7 nvidia.com/mig-1g.5gb", "nvidia.com/mig-1g.5gb"),
        ("7 x mig-3g.40gb", "mig-3g.40gb"),
        ("mig-1g.5gb x7", "mig-1g.5gb"),
        ("7 slices mig-1g.5gb", "mig-1g.5gb"),
    ],
)
def test_quo_15_mig_slices_keep_dots_and_dashes(text: str, of: str) -> None:
    assert read(text, 16) == Amount(7, of)


@pytest.mark.case("QUO-15")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5 mig-1g.5gb", "0.5 is not a whole number of slices."),
        ("4k nvidia.com/mig-1g.5gb", "4k is 4,000 slices; the most per request is 16."),
        ("-7 mig-1g.5gb", "-7 is not a number of slices. Whole numbers from 1, like 8."),
    ],
)
def test_quo_15_what_is_refused_of_mig_is_counted_in_slices(text: str, expected: str) -> None:
    assert sentence(text) == expected


def test_without_a_limit_of_policy_there_is_still_a_ceiling() -> None:
    assert read(str(CEILING), None) == Amount(CEILING)
    assert sentence(str(CEILING + 1), None) == "1,000,001 is more than the 1,000,000 that is possible per request."


def test_the_example_is_within_the_limit() -> None:
    assert read("NaN", 4) == Misread("NaN is not a number of GPUs. Whole numbers from 1, like 4.", ("4",))


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_whole_numbers_up_to_the_limit_are_taken_and_no_others(count: int, limit: int) -> None:
    result = read(str(count), limit)
    assert result == Amount(count) if count <= limit else isinstance(result, Misread)


@given(st.text(max_size=80) | st.text("0123456789.eExXkKMGi+-_ a", max_size=20))
def test_only_plain_digits_ever_become_a_count(text: str) -> None:
    result = read(text, 100)
    if isinstance(result, Amount):
        assert 1 <= result.count <= 100
        assert str(result.count) in re.findall("[0-9]+", re.sub("(?<![0-9])0+(?=[0-9])", "", text))
    elif result is not None:
        assert "\n" not in result.sentence
