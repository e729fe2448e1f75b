"""WHEN in the asker's time zone: every form, what is refused, and what clock changes do."""

from datetime import UTC, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.instants import Instant, take_instant
from bot.core.wording.clock_changes import clock_change_note, settle_local
from bot.core.wording.faults import Misread, flat

ZURICH = ZoneInfo("Europe/Zurich")
NOW = datetime(2026, 12, 2, 13, 5, tzinfo=UTC)
"""Wed 2 Dec 2026 14:05 in Zurich."""
DAY_NOTE = "A day without a time means 18:00, the end of the working day."
ZONES = tuple(
    ZoneInfo(name)
    for name in (
        *("Europe/Zurich", "America/New_York", "America/Sao_Paulo", "Africa/Cairo", "Asia/Shanghai", "Asia/Kolkata"),
        *("Australia/Lord_Howe", "Pacific/Chatham", "America/St_Johns", "Africa/Casablanca", "Asia/Beirut", "UTC"),
    )
)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


@cache
def clock_changes(zone: ZoneInfo, year: int) -> list[tuple[datetime, timedelta, timedelta]]:
    """The first instants of new offsets in a year, with the offset before and after."""
    found = []
    for quarters in range(366 * 4):
        start = utc(year, 1, 1) + timedelta(hours=6 * quarters)
        before, after = (moment.astimezone(zone).utcoffset() for moment in (start, start + timedelta(hours=6)))
        if before == after or before is None or after is None:
            continue
        minutes = (start + timedelta(minutes=n) for n in range(1, 361))
        changed = next(moment for moment in minutes if moment.astimezone(zone).utcoffset() == after)
        found.append((changed, before, after))
    return found


def read(text: str, now: datetime, zone: ZoneInfo, workday_end: time = time(18)) -> Instant | Misread:
    """What a text begins with."""
    return take_instant(flat(text).split(), now, zone, workday_end).value


def instant(text: str, now: datetime = NOW, zone: ZoneInfo = ZURICH) -> Instant:
    result = read(text, now, zone)
    assert isinstance(result, Instant), result
    return result


def misread(text: str, now: datetime = NOW, zone: ZoneInfo = ZURICH) -> Misread:
    result = read(text, now, zone)
    assert isinstance(result, Misread), result
    return result


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("18:00", utc(2026, 12, 2, 17)),
        ("6pm", utc(2026, 12, 2, 17)),
        ("6 pm", utc(2026, 12, 2, 17)),
        ("6:30PM", utc(2026, 12, 2, 17, 30)),
        ("12am tomorrow", utc(2026, 12, 2, 23)),
        ("fri 18:00", utc(2026, 12, 4, 17)),
        ("Friday 18:00", utc(2026, 12, 4, 17)),
        ("wed 14:06", utc(2026, 12, 2, 13, 6)),
        ("tomorrow 9:00", utc(2026, 12, 3, 8)),
        ("today 23:59", utc(2026, 12, 2, 22, 59)),
        ("4 Dec 18:00", utc(2026, 12, 4, 17)),
        ("4th december 18:00", utc(2026, 12, 4, 17)),
        ("Dec 4 18:00", utc(2026, 12, 4, 17)),
        ("4 Jan 0:00", utc(2027, 1, 3, 23)),
        ("4 Jul 2027 12:00", utc(2027, 7, 4, 10)),
        ("2026-12-04 18:00", utc(2026, 12, 4, 17)),
        ("2026-12-04T18:00+01:00", utc(2026, 12, 4, 17)),
        ("2026-12-04T18:00−05:00", utc(2026, 12, 4, 23)),
        ("2026-12-04t18:00:30z", utc(2026, 12, 4, 18, 0, 30)),
        ("2026-12-04 18:00 +0100", utc(2026, 12, 4, 17)),
        ("19:00+05:30", utc(2026, 12, 2, 13, 30)),
        ("Fri 4 Dec 18:00", utc(2026, 12, 4, 17)),
        ("Fri 4 Dec 2026 18:00", utc(2026, 12, 4, 17)),
        ("fri at 18:00", utc(2026, 12, 4, 17)),
        ("2026-12-04T18:00 +01:00", utc(2026, 12, 4, 17)),
        ("18:00\u00a0fri", utc(2026, 12, 4, 17)),
    ],
)
def test_a_time_of_day_leaves_nothing_to_say(text: str, at: datetime) -> None:
    result = instant(text)
    assert (result.at, result.notes) == (at, ())
    assert result.at.tzinfo is UTC


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("fri", utc(2026, 12, 4, 17)),
        ("wed", utc(2026, 12, 2, 17)),
        ("tues", utc(2026, 12, 8, 17)),
        ("today", utc(2026, 12, 2, 17)),
        ("tomorrow", utc(2026, 12, 3, 17)),
        ("4 Dec", utc(2026, 12, 4, 17)),
        ("2026-12-04", utc(2026, 12, 4, 17)),
        ("Dec 4 2026", utc(2026, 12, 4, 17)),
        ("29 Feb", utc(2028, 2, 29, 17)),
    ],
)
def test_a_day_without_a_time_is_the_end_of_the_working_day_and_says_so(text: str, at: datetime) -> None:
    result = instant(text)
    assert (result.at, result.notes) == (at, (DAY_NOTE,))


def test_the_end_of_the_working_day_is_an_argument() -> None:
    result = read("fri", NOW, ZURICH, time(17, 30))
    note = "A day without a time means 17:30, the end of the working day."
    assert result == Instant(utc(2026, 12, 4, 16, 30), (note,), dated=True)


@pytest.mark.parametrize(
    ("text", "now", "at", "note"),
    [
        ("fri", utc(2026, 12, 4, 17), utc(2026, 12, 11, 17), "Fri means 11 Dec: today's 18:00 has passed."),
        ("fri 9:00", utc(2026, 12, 4, 8, 1), utc(2026, 12, 11, 8), "Fri means 11 Dec: today's 09:00 has passed."),
        ("thursday", utc(2026, 12, 31, 18), utc(2027, 1, 7, 17), "Thu means 7 Jan: today's 18:00 has passed."),
        ("sun", utc(2026, 3, 22, 20), utc(2026, 3, 29, 16), "Sun means 29 Mar: today's 18:00 has passed."),
    ],
)
def test_a_weekday_is_the_next_one_still_ahead(text: str, now: datetime, at: datetime, note: str) -> None:
    result = instant(text, now)
    assert result.at == at
    assert result.notes[-1] == note


@pytest.mark.parametrize(
    ("text", "sentence", "instead"),
    [
        ("1 Dec", "Tue 1 Dec 18:00 has passed.", ("tomorrow 18:00",)),
        ("2026-12-01 9:00", "Tue 1 Dec 09:00 has passed.", ("tomorrow 09:00",)),
        ("18:00+05:30", "Wed 2 Dec 18:00 has passed.", ("tomorrow 18:00+05:30",)),
        ("14:05", "Wed 2 Dec 14:05 has passed.", ("tomorrow 14:05",)),
        ("today 8am", "Wed 2 Dec 08:00 has passed.", ("tomorrow 08:00",)),
        ("2025-06-01", "Sun 1 Jun 2025 18:00 has passed.", ("tomorrow 18:00",)),
        ("0001-01-01 00:00", "Mon 1 Jan 1 00:00 has passed.", ("tomorrow 00:00",)),
        ("9999-12-31 23:59", "Fri 31 Dec 9999 is more than 10 years away.", ("tomorrow",)),
        ("4/12", '"4/12" can be 4 December or 12 April.', ("4 Dec", "12 Apr")),
        ("4.12.", '"4.12." can be 4 December or 12 April.', ("4 Dec", "12 Apr")),
        ("4-12-2026", '"4-12-2026" can be 4 December or 12 April.', ("4 Dec", "12 Apr")),
        ("31/12", '"31/12" is 31 December: write 31 Dec.', ("31 Dec",)),
        ("12/31", '"12/31" is 31 December: write 31 Dec.', ("31 Dec",)),
        ("5/5", '"5/5" is 5 May: write 5 May.', ("5 May",)),
        ("18", "18 can be 18:00 or the 18th.", ("18:00", "18 Dec")),
        ("1", "1 can be 1:00 or the 1st.", ("1:00", "1 Jan")),
        ("22", "22 can be 22:00 or the 22nd.", ("22:00", "22 Dec")),
        ("31", "31 is not a time of day. For the 31st write the month too.", ("31 Dec",)),
        ("fri 18", "18 alone is not a time of day. Write 18:00.", ("fri 18:00",)),
        ("4 Dec 9", "9 alone is not a time of day. Write 9:00.", ("4 Dec 9:00",)),
        ("fri 25:00", '"25:00" is not a time of day.', ("fri 18:00",)),
        ("13pm", '"13pm" is not a time of day.', ("18:00",)),
        ("18:00+25:00", '"18:00+25:00" is not a time of day.', ("18:00",)),
        ("2026-12-04T99:00", '"99:00" is not a time of day.', ("2026-12-04 18:00",)),
        ("31 Feb", "There is no 31 Feb.", ("29 Feb",)),
        ("29 Feb 2027", "There is no 29 Feb 2027.", ("28 Feb 2027",)),
        ("2026-13-01", '"2026-13-01" is not a date.', ("tomorrow",)),
        ("0000-01-01", '"0000-01-01" is not a date.', ("tomorrow",)),
        ("Thu 4 Dec 18:00", "4 Dec 2026 is a Friday.", ("Fri 4 Dec 2026 18:00",)),
        ("3d", '"3d" is a duration: write it after for.', ()),
        *[
            (text, f'"{text}" is not a time. Times look like fri 18:00, 4 Dec or 2026-12-04 18:00.', ("tomorrow",))
            for text in ("", "18.30", "45", "soon", "١٨:٠٠", "noon", "2026/12/04")
        ],
    ],
)
def test_what_is_not_clear_is_refused_in_words(text: str, sentence: str, instead: tuple[str, ...]) -> None:
    assert misread(text) == Misread(sentence, instead)


@pytest.mark.parametrize(
    ("text", "at", "note"),
    [
        (
            "28 mar 2027 02:30",
            utc(2027, 3, 28, 1),
            "02:30 does not exist on Sun 28 Mar 2027 in Europe/Zurich (02:00 becomes 03:00). Read as 03:00 +02:00.",
        ),
        (
            "2027-03-28 02:00",
            utc(2027, 3, 28, 1),
            "02:00 does not exist on Sun 28 Mar 2027 in Europe/Zurich (02:00 becomes 03:00). Read as 03:00 +02:00.",
        ),
        (
            "31 oct 2027 02:30",
            utc(2027, 10, 31, 0, 30),
            "02:30 comes twice on Sun 31 Oct 2027 in Europe/Zurich. Read as the first, 02:30 +02:00. "
            "For the second write 02:30+01:00.",
        ),
    ],
)
def test_a_time_that_a_clock_change_skips_or_doubles_is_said(text: str, at: datetime, note: str) -> None:
    assert instant(text) == Instant(at, (note,))


def test_the_second_of_a_doubled_time_can_be_written() -> None:
    assert instant("31 oct 2027 02:30+01:00") == Instant(utc(2027, 10, 31, 1, 30))


def test_when_the_first_of_a_doubled_time_is_over_the_second_is_meant() -> None:
    result = instant("02:30", utc(2027, 10, 31, 0, 45))
    note = (
        "02:30 comes twice on Sun 31 Oct 2027 in Europe/Zurich. The first has passed. Read as the second, 02:30 +01:00."
    )
    assert result == Instant(utc(2027, 10, 31, 1, 30), (note,))


@pytest.mark.parametrize(
    ("zone", "text", "note"),
    [
        (
            "Australia/Lord_Howe",
            "4 Oct 2026 02:15",
            "02:15 does not exist on Sun 4 Oct 2026 in Australia/Lord_Howe "
            "(02:00 becomes 02:30). Read as 02:30 +11:00.",
        ),
        (
            "Africa/Cairo",
            "24 Apr 2026 00:10",
            "00:10 does not exist on Fri 24 Apr 2026 in Africa/Cairo (00:00 becomes 01:00). Read as 01:00 +03:00.",
        ),
        (
            "America/St_Johns",
            "1 Nov 2026 01:59",
            "01:59 comes twice on Sun 1 Nov 2026 in America/St_Johns. Read as the first, 01:59 -02:30. "
            "For the second write 01:59-03:30.",
        ),
    ],
)
def test_clock_changes_of_other_zones(zone: str, text: str, note: str) -> None:
    assert instant(text, utc(2026, 4, 1), ZoneInfo(zone)).notes == (note,)


@pytest.mark.parametrize(
    ("start", "length", "note"),
    [
        (
            utc(2027, 3, 26, 13),
            timedelta(days=3),
            "3 days are 72 hours: ends Mon 29 Mar 15:00, not 14:00.",
        ),
        (utc(2027, 10, 30, 12), timedelta(days=1), "1 day is 24 hours: ends Sun 31 Oct 13:00, not 14:00."),
        (utc(2027, 3, 20, 13), timedelta(weeks=2), "14 days are 336 hours: ends Sat 3 Apr 15:00, not 14:00."),
        (utc(2027, 3, 27, 13), timedelta(hours=36), None),
        (utc(2027, 4, 1, 13), timedelta(days=3), None),
    ],
)
def test_whole_days_across_a_clock_change_are_said(start: datetime, length: timedelta, note: str | None) -> None:
    assert clock_change_note(start, length, ZURICH) == note


moments = st.datetimes(datetime(2026, 1, 2), datetime(2030, 12, 31)).map(
    lambda local: local.replace(second=0, microsecond=0)
)


@given(moments, st.sampled_from(ZONES))
@example(datetime(2027, 3, 28, 2, 30), ZURICH)
@example(datetime(2027, 10, 31, 2, 30), ZURICH)
@example(datetime(2029, 4, 1, 1, 45), ZoneInfo("Australia/Lord_Howe"))
def test_a_resolved_time_is_the_one_that_was_typed_unless_a_note_says_otherwise(
    local: datetime, zone: ZoneInfo
) -> None:
    result = instant(f"{local:%Y-%m-%d %H:%M}", utc(2025, 12, 30), zone)
    there = result.at.astimezone(zone).replace(tzinfo=None)
    if not result.notes:
        assert there == local
        assert local.replace(tzinfo=zone, fold=0).utcoffset() == local.replace(tzinfo=zone, fold=1).utcoffset()
    elif "does not exist" in result.notes[0]:
        assert there > local
        just_before = (result.at - timedelta(minutes=1)).astimezone(zone).replace(tzinfo=None)
        assert just_before < local, "read as the very first minute after the gap"
    else:
        assert "comes twice" in result.notes[0]
        assert there == local


@settings(deadline=None)
@given(st.sampled_from(ZONES), st.integers(2026, 2030), st.floats(0, 0.999))
def test_whatever_a_clock_change_skips_or_doubles_has_a_note(zone: ZoneInfo, year: int, share: float) -> None:
    for changed, before, after in clock_changes(zone, year):
        first, last = sorted((before, after))
        local = (changed + first).replace(tzinfo=None) + share * (last - first)
        note = settle_local(local.replace(second=0, microsecond=0), zone, utc(2025, 1, 1))[1]
        assert ("does not exist" if after > before else "comes twice") in str(note)


@given(st.text(max_size=60) | st.text("0123456789:/-. TZ+aprmfidec", max_size=30), moments, st.sampled_from(ZONES))
def test_any_text_is_an_instant_ahead_or_a_misread(text: str, now: datetime, zone: ZoneInfo) -> None:
    result = read(text, now.replace(tzinfo=UTC), zone)
    assert isinstance(result, Misread) or result.at > now.replace(tzinfo=UTC)
