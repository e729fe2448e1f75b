"""Lengths of time as people type and read them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.durations import LONGEST, format_duration, parse_duration, take_duration
from bot.core.wording.faults import Misread

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("30min", 30 * MINUTE),
        ("12h", 12 * HOUR),
        ("3d", 3 * DAY),
        ("2w", 14 * DAY),
        ("1d12h", 36 * HOUR),
        ("3 days", 3 * DAY),
        ("3 d", 3 * DAY),
        ("1 day", DAY),
        ("3D", 3 * DAY),
        ("3\u00a0days", 3 * DAY),
        ("1d 12h", 36 * HOUR),
        ("1 d 12 h", 36 * HOUR),
        ("2 weeks 1 day", 15 * DAY),
        ("1 h 52 min", 112 * MINUTE),
        ("90 minutes", 90 * MINUTE),
        ("1w1d1h1min", 8 * DAY + HOUR + MINUTE),
        ("48hrs", 48 * HOUR),
    ],
)
def test_durations_are_exact(text: str, length: timedelta) -> None:
    assert parse_duration(text) == length


@pytest.mark.parametrize(
    ("text", "sentence", "instead"),
    [
        ("1m", "m can be minutes or months. Try 30min or 4w.", ("1min", "4w")),
        ("30m", "m can be minutes or months. Try 30min or 4w.", ("30min", "120w")),
        ("5 m", "m can be minutes or months. Try 30min or 4w.", ("5min", "20w")),
        ("1h30m", "m can be minutes or months. Try 30min or 4w.", ("1h30min",)),
        ("1mo", "Months differ in length. Try 30d.", ("30d",)),
        ("2 months", "Months differ in length. Try 60d.", ("60d",)),
        ("1 MONTH", "Months differ in length. Try 30d.", ("30d",)),
        ("1.5d", "1.5 is not a whole number of days. Try 36h.", ("36h",)),
        ("0.5 h", "0.5 is not a whole number of hours. Try 30min.", ("30min",)),
        ("2.5w", "2.5 is not a whole number of weeks. Try 420h.", ("420h",)),
        ("0d", '"0d" is no time at all.', ("3d",)),
        ("0h0min", '"0h0min" is no time at all.', ("3d",)),
        ("99999d", '"99999d" is longer than ten years.', ("14d",)),
        ("999999999w", '"999999999w" is longer than ten years.', ("14d",)),
        *[
            (text, f'"{text}" is not a duration. Durations look like 3d, 12h or 1d12h.', ("3d",))
            for text in ("", "3", "d", "-3d", "3y", "3s", "12h1d", "1d1d", "٣d", "3d x", "1d12", "9999999999d", "P3D")
        ],
    ],
)
def test_what_is_no_duration_is_refused_in_words(text: str, sentence: str, instead: tuple[str, ...]) -> None:
    result = parse_duration(text)
    assert isinstance(result, Misread)
    assert result.sentence == sentence


@pytest.mark.parametrize("text", ["1m", "30m", "1h30m", "1mo", "2 months", "1.5d", "0d", "99999d", "x", "99999999mo"])
def test_what_is_offered_instead_is_a_duration(text: str) -> None:
    result = parse_duration(text)
    assert isinstance(result, Misread)
    assert result.instead
    assert all(isinstance(parse_duration(instead), timedelta) for instead in result.instead[:1])


@pytest.mark.parametrize(
    ("words", "length", "used"),
    [
        (["3d", "8", "a100"], 3 * DAY, 1),
        (["3", "days", "8", "h100"], 3 * DAY, 2),
        (["1d", "12h", "2d"], 36 * HOUR, 2),
        (["3d", "3d"], 3 * DAY, 1),
    ],
)
def test_a_duration_ends_where_units_stop_getting_smaller(words: list[str], length: timedelta, used: int) -> None:
    taken = take_duration(words)
    assert taken is not None
    assert (taken.value, taken.used) == (length, used)


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (DAY, "1 day"),
        (3 * DAY, "3 days"),
        (14 * DAY, "14 days"),
        (36 * HOUR, "36 h"),
        (53 * HOUR, "53 h"),
        (12 * HOUR, "12 h"),
        (112 * MINUTE, "1 h 52 min"),
        (130 * MINUTE, "2 h 10 min"),
        (20 * MINUTE, "20 min"),
        (timedelta(seconds=119), "1 min"),
        (timedelta(seconds=41), "41 s"),
        (DAY + timedelta(seconds=30), "1 day"),
        (timedelta(0), "0 s"),
    ],
)
def test_durations_in_the_words_of_messages(length: timedelta, words: str) -> None:
    assert format_duration(length) == words


def test_a_negative_duration_has_no_words() -> None:
    with pytest.raises(ValueError, match="negative"):
        format_duration(timedelta(seconds=-1))


@given(st.integers(1, int(LONGEST / MINUTE)))
def test_what_is_written_reads_back(minutes: int) -> None:
    assert parse_duration(format_duration(minutes * MINUTE)) == minutes * MINUTE


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.sampled_from(["", " "]))
def test_every_spelling_of_a_sum_means_its_sum(weeks: int, days: int, hours: int, minutes: int, gap: str) -> None:
    parts = [f"{n}{gap}{unit}" for n, unit in ((weeks, "w"), (days, "d"), (hours, "h"), (minutes, "min")) if n]
    length = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes)
    if length:
        assert parse_duration(gap.join(parts)) == length


@given(st.text(max_size=60) | st.text("0123456789 dhwmino.", max_size=30))
def test_any_text_is_a_duration_above_nothing_or_a_misread(text: str) -> None:
    result = parse_duration(text)
    assert isinstance(result, Misread) or timedelta(0) < result <= LONGEST
