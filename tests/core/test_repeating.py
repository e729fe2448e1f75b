"""Loans that repeat: what is typed, what it comes to over changes of the clock, and each fault with words that help."""

from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.drafts import AskField
from bot.core.errors import Refused
from bot.core.loans import at_once
from bot.core.repeating import MOST_TIMES, Pattern, expand, repeated
from bot.core.series import Every, Repeated, Series, Span, from_json, times, to_json
from bot.core.wording.commands import parse_command
from bot.core.wording.faults import UsageFault
from bot.core.wording.line import Context
from bot.core.wording.request_words import RequestWords
from bot.core.wording.vocabulary import Vocabulary
from tests.support.quota import loan

ZURICH = ZoneInfo("Europe/Zurich")
NOW = datetime(2026, 12, 2, 13, 5, tzinfo=UTC)
"""Wed 2 Dec 2026 14:05 in Zurich."""
NAMES = Vocabulary(flavors=("a100", "h100"), queues=("nlp", "vision"), resources=("nvidia.com/gpu",))
CONTEXT = Context(NOW, ZURICH, NAMES, limit=16)
HOUR, DAY, WEEK = timedelta(hours=1), timedelta(days=1), timedelta(days=7)
SPRING, AUTUMN = date(2027, 3, 28), date(2027, 10, 31)


def words(line: str) -> RequestWords:
    said = parse_command(f"request 8 a100 {line}", CONTEXT)
    assert isinstance(said, RequestWords), said
    return said


def series(line: str) -> Series:
    found = words(line).series
    assert found is not None
    return found


def local(at: datetime) -> str:
    return f"{at.astimezone(ZURICH):%a %d %b %H:%M}"


@pytest.mark.parametrize(
    ("line", "says", "count", "first", "last"),
    [
        (
            "every week fri 18:00 to mon 08:00 until 31 Jan because nightly sweeps",
            "every Fri 18:00 to Mon 08:00",
            9,
            ("Fri 04 Dec 18:00", "Mon 07 Dec 08:00"),
            ("Fri 29 Jan 18:00", "Mon 01 Feb 08:00"),
        ),
        (
            "every fri 6pm till monday 8am until 31 Jan",
            "every Fri 18:00 to Mon 08:00",
            9,
            ("Fri 04 Dec 18:00", "Mon 07 Dec 08:00"),
            ("Fri 29 Jan 18:00", "Mon 01 Feb 08:00"),
        ),
        (
            "--every=day 20:00 to 06:00 --until 5 Dec",
            "every day 20:00 to 06:00",
            4,
            ("Wed 02 Dec 20:00", "Thu 03 Dec 06:00"),
            ("Sat 05 Dec 20:00", "Sun 06 Dec 06:00"),
        ),
        (
            "every night 9:00 to 17:00 until 4 Dec",
            "every day 09:00 to 17:00",
            2,
            ("Thu 03 Dec 09:00", "Thu 03 Dec 17:00"),
            ("Fri 04 Dec 09:00", "Fri 04 Dec 17:00"),
        ),
        (
            "every weekday 22:00 for 8h until 8 Dec",
            "every weekday 22:00 for 8 h",
            5,
            ("Wed 02 Dec 22:00", "Thu 03 Dec 06:00"),
            ("Tue 08 Dec 22:00", "Wed 09 Dec 06:00"),
        ),
        (
            "for 14h every sat 10:00 until 20 Dec starting 10 Dec",
            "every Sat 10:00 for 14 h",
            2,
            ("Sat 12 Dec 10:00", "Sun 13 Dec 00:00"),
            ("Sat 19 Dec 10:00", "Sun 20 Dec 00:00"),
        ),
        (
            "every wed 12:00 to 18:00 until 31 Dec",
            "every Wed 12:00 to 18:00",
            4,
            ("Wed 09 Dec 12:00", "Wed 09 Dec 18:00"),
            ("Wed 30 Dec 12:00", "Wed 30 Dec 18:00"),
        ),
        (
            "every day 20:00 to 06:00 until fri 19:00",
            "every day 20:00 to 06:00",
            2,
            ("Wed 02 Dec 20:00", "Thu 03 Dec 06:00"),
            ("Thu 03 Dec 20:00", "Fri 04 Dec 06:00"),
        ),
        (
            "every fri 18:00 to fri 18:00 until 12 Dec",
            "every Fri 18:00 to Fri 18:00",
            2,
            ("Fri 04 Dec 18:00", "Fri 11 Dec 18:00"),
            ("Fri 11 Dec 18:00", "Fri 18 Dec 18:00"),
        ),
    ],
)
def test_what_is_typed(line: str, says: str, count: int, first: tuple[str, str], last: tuple[str, str]) -> None:
    found = series(line)
    assert (found.words, len(found.spans), found.zone) == (says, count, "Europe/Zurich")
    assert tuple(map(local, found.spans[0])) == first
    assert tuple(map(local, found.spans[-1])) == last


def test_the_rest_of_the_line_is_read_as_ever() -> None:
    said = words("every fri 18:00 to mon 08:00 until 31 Jan in vision from nlp because nightly sweeps")
    assert (said.amount, said.flavor, said.queue, said.lender) == (8, "a100", "vision", "nlp")
    assert (said.reason, said.notes) == ("nightly sweeps", ())


@pytest.mark.parametrize(
    ("line", "sentence", "works"),
    [
        ("every week fri 18:00 to mon 08:00", "Say until when it repeats, like until 30 Dec 2026.", True),
        ("every fri 18:00 to mon 08:00 because x y", "Say until when it repeats, like until 30 Dec 2026.", True),
        ("every fri 18:00 until 31 Jan", "Say how long each is, like to 08:00 or for 8h.", True),
        ("every fri 18:00 to 20:00 for 2h until 31 Jan", "Say to or for, not both: each has one end.", False),
        ("every", '"every" needs when, like every week fri 18:00 to mon 08:00.', False),
        ("every week until 31 Jan", "Say the day of the week, like every week fri 18:00 to mon 08:00.", True),
        ("every fri until 31 Jan", "Say the time of day, like every week fri 18:00 to mon 08:00.", True),
        ("every day until 31 Jan", "Say the time of day, like every day 20:00 to 06:00.", True),
        ("every foo 18:00 until 31 Jan", '"foo" is no day of the week and no period: week, weekday or day.', True),
        ("every month until 31 Jan", '"month" is no day of the week and no period: week, weekday or day.', True),
        (
            "every day fri 18:00 to 20:00 until 31 Jan",
            "every day has no day of the week. For one day write every week fri.",
            True,
        ),
        ("every day 20:00 to until 31 Jan", "The end of each needs a time, like every day 20:00 to 06:00.", True),
        (
            "every 4 Dec 18:00 to 20:00 until 31 Jan",
            "A series takes days of the week and times of your own zone, like every week fri 18:00 to mon 08:00.",
            True,
        ),
        (
            "every day 20:00+02:00 to 06:00 until 31 Jan",
            "A series takes days of the week and times of your own zone, like every day 20:00 to 06:00.",
            True,
        ),
        (
            "every fri 18:00 to mon 08:00 until thu",
            "The first would begin Fri 4 Dec 18:00, after the end. Say a later one, like until 1 Jan 2027.",
            False,
        ),
        (
            "every day 8:00 for 30h until 31 Jan",
            "Each lasts 30 h and the next begins after 1 day: they overlap. Make each shorter, or repeat every week.",
            False,
        ),
        (
            "every fri 18:00 for 8d until 31 Jan",
            "Each lasts 8 days and the next begins after 7 days: they overlap. Make each shorter.",
            False,
        ),
        ("every day 9:00 to 17:00 until 31 Jan 2029", "That is more than 366 times. Say an earlier until.", False),
        ("every fri 18:00 to 20:00 every sat 18:00 to 20:00 until 31 Jan", "The repeat is said twice.", True),
    ],
)
def test_each_fault_says_what_to_type(line: str, sentence: str, works: bool) -> None:
    fault = parse_command(f"request 8 a100 {line}", CONTEXT)
    assert isinstance(fault, UsageFault), fault
    assert fault.sentence == sentence
    again = parse_command(fault.try_line.removeprefix("/gpu-quota "), CONTEXT)
    assert (isinstance(again, RequestWords) and again.series is not None) == works


def pattern(begins: time, ends: time, day: date, every: Every = Every.DAY, nights: int = 0) -> Pattern:
    return Pattern(every, day - DAY, day + DAY, begins, ends, nights)


def test_a_time_that_a_clock_change_skips_is_read_as_the_first_after_it_and_said() -> None:
    found, notes = expand(pattern(time(2, 30), time(4), SPRING), ZURICH, NOW)
    assert [local(one.start) for one in found.spans] == ["Sat 27 Mar 02:30", "Sun 28 Mar 03:00", "Mon 29 Mar 02:30"]
    assert notes == (
        "02:30 does not exist on Sun 28 Mar 2027 in Europe/Zurich (02:00 becomes 03:00). Read as 03:00 +02:00.",
    )


def test_a_time_that_comes_twice_is_the_first_and_said() -> None:
    found, notes = expand(pattern(time(2, 30), time(4), AUTUMN), ZURICH, NOW)
    assert [one.end - one.start for one in found.spans] == [1.5 * HOUR, 2.5 * HOUR, 1.5 * HOUR]
    assert notes == ("02:30 comes twice on Sun 31 Oct 2027 in Europe/Zurich. Read as the first, 02:30 +02:00.",)


@pytest.mark.parametrize(("day", "hours"), [(SPRING, [12, 11, 12]), (AUTUMN, [12, 13, 12])])
def test_a_night_over_a_clock_change_keeps_its_wall_times(day: date, hours: list[int]) -> None:
    nights = Pattern(Every.DAY, day - 2 * DAY, day, time(20), time(8), 1)
    found, notes = expand(nights, ZURICH, NOW)
    assert [(one.end - one.start) / HOUR for one in found.spans] == hours
    assert notes == ()


def test_a_form_repeats_its_first_time_in_the_askers_zone() -> None:
    first = Span(datetime(2026, 12, 4, 17, tzinfo=UTC), datetime(2026, 12, 7, 7, tzinfo=UTC))
    last = datetime(2026, 12, 18, 16, 59, tzinfo=UTC)  # a minute before the third would begin
    said = repeated(Repeated(Every.WEEK, last), first, ZURICH)
    found, _ = expand(said, ZURICH, NOW)
    assert found.words == "every Fri 18:00 to Mon 08:00"
    assert found.spans == (first, Span(first.start + WEEK, first.end + WEEK))


def test_a_form_that_repeats_on_weekdays_starts_on_one() -> None:
    saturday = Span(datetime(2026, 12, 5, 17, tzinfo=UTC), datetime(2026, 12, 5, 20, tzinfo=UTC))
    with pytest.raises(Refused, match="Sat 5 Dec is no weekday") as caught:
        repeated(Repeated(Every.WEEKDAY, saturday.end + WEEK), saturday, ZURICH)
    assert caught.value.field == AskField.START_AT


CLOCKS = st.times().map(lambda at: at.replace(second=0, microsecond=0, tzinfo=None))
DAYS = st.dates(date(2026, 12, 4), date(2028, 12, 31))


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    begins, ends = draw(CLOCKS), draw(CLOCKS)
    every, first = draw(st.sampled_from(Every)), draw(DAYS)
    nights = int(ends <= begins) if every is not Every.WEEK else draw(st.integers(int(ends <= begins), 6))
    return Pattern(every, first, first + draw(st.integers(0, 60)) * DAY, begins, ends, nights)


def expanded(of: Pattern, zone: ZoneInfo) -> Series | None:
    """None if it is refused, which the table above is about."""
    with suppress(Refused):
        return expand(of, zone, NOW)[0]
    return None


ZONES = st.sampled_from(["Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"])


@given(patterns(), ZONES)
def test_times_are_in_order_apart_and_begin_in_time(of: Pattern, zone: str) -> None:
    found = expanded(of, ZoneInfo(zone))
    if found is None:
        return
    assert 0 < len(found.spans) <= MOST_TIMES
    assert all(NOW < one.start < one.end for one in found.spans)
    assert all(one.end <= following.start for one, following in pairwise(found.spans))
    days = [one.start.astimezone(ZoneInfo(zone)).date() for one in found.spans]
    assert all(of.first <= day <= of.last for day in days)
    if of.every is Every.WEEKDAY:
        assert all(day.weekday() < 5 for day in days)
    if of.every is Every.WEEK:
        assert {day.weekday() for day in days} == {of.first.weekday()}


@given(patterns(), ZONES)
def test_what_is_stored_is_what_was_said(of: Pattern, zone: str) -> None:
    found = expanded(of, ZoneInfo(zone))
    if found is not None:
        assert from_json(to_json(found)) == found


@given(patterns())
def test_its_words_typed_again_are_the_same_series(of: Pattern) -> None:
    found = expanded(of, ZURICH)
    if found is None:
        return
    start = f"starting {of.first:%Y-%m-%d} 00:00" if of.first > NOW.date() else ""
    line = f"request 8 a100 {found.words} until {of.last:%Y-%m-%d} {start}"
    again = parse_command(line, CONTEXT)
    assert isinstance(again, RequestWords), again
    assert again.series == found


@given(patterns(), st.integers(0, 70))
def test_what_is_left_grows_less_and_is_never_longer(of: Pattern, days: int) -> None:
    found = expanded(of, ZURICH)
    if found is None:
        return
    now = NOW + days * DAY
    left = found.left(now)
    assert left == tuple(one for one in found.spans if one.end > now)
    assert found.longest(now) <= max(one.end - one.start for one in found.spans)
    assert bool(left) == (found.longest(now) > timedelta())


def test_what_meets_is_promised_together() -> None:
    first = loan(1, 8, start=NOW, end=NOW + DAY)
    meets = loan(2, 4, start=NOW + DAY - HOUR, end=NOW + 2 * DAY)
    after = loan(3, 6, start=NOW + 2 * DAY, end=NOW + 3 * DAY)
    assert at_once([]) == 0
    assert at_once([first, meets, after]) == 12
    assert at_once([first, after]) == 8
    assert times(1) == "1 time"
