"""Local times that a clock change skips or doubles, and what `3 days` are across one.

`bot.core.instants` asks here for every time that somebody typed without an offset.
"""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def settle_local(local: datetime, zone: tzinfo, now: datetime) -> tuple[datetime, str | None]:
    """The UTC instant of a naive local time, and a note if a clock change made it more than that.

    A skipped time becomes the first one after the gap. Of a doubled time the first counts, unless it is over at `now`.
    """
    first, second = local.replace(tzinfo=zone, fold=0), local.replace(tzinfo=zone, fold=1)
    if first.utcoffset() == second.utcoffset():
        return first.astimezone(UTC), None
    if first.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != local:
        return _after_the_gap(local, zone)
    said = f"{local:%H:%M} comes twice on {day_with_year(local)} in {zone_name(zone)}."
    if first.astimezone(UTC) <= now < second.astimezone(UTC):
        note = f"{said} The first has passed. Read as the second, {local:%H:%M} {offset_text(second)}."
        return second.astimezone(UTC), note
    later = f"{local:%H:%M}{offset_text(second)}"
    note = f"{said} Read as the first, {local:%H:%M} {offset_text(first)}. For the second write {later}."
    return first.astimezone(UTC), note


def clock_change_note(start: datetime, length: timedelta, zone: ZoneInfo) -> str | None:
    """What to say if `length`, a number of whole days from the aware `start`, ends at another time of day in `zone`."""
    days, rest = divmod(length, timedelta(days=1))
    began, ends = start.astimezone(zone), (start.astimezone(UTC) + length).astimezone(zone)
    if rest or not days or began.utcoffset() == ends.utcoffset():
        return None
    counted = "1 day is" if days == 1 else f"{days} days are"
    return f"{counted} {24 * days} hours: ends {day_text(ends)} {ends:%H:%M}, not {began:%H:%M}."


def day_text(local: datetime) -> str:
    """ "Fri 4 Dec", whatever the locale of the process."""
    return f"{WEEKDAYS[local.weekday()]} {local.day} {MONTHS[local.month - 1]}"


def day_with_year(local: datetime) -> str:
    """ "Sun 28 Mar 2027"."""
    return f"{day_text(local)} {local.year}"


def offset_text(aware: datetime) -> str:
    """The offset of an aware datetime: "+01:00"."""
    minutes = int((aware.utcoffset() or timedelta(0)) / timedelta(minutes=1))
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def zone_name(zone: tzinfo) -> str:
    """The IANA name, as far as the zone has one."""
    return getattr(zone, "key", None) or str(zone)


def _after_the_gap(local: datetime, zone: tzinfo) -> tuple[datetime, str]:
    before, after = local.replace(tzinfo=zone, fold=0).utcoffset(), local.replace(tzinfo=zone, fold=1).utcoffset()
    assert before is not None
    assert after is not None
    early, late = (local - after).replace(tzinfo=UTC), (local - before).replace(tzinfo=UTC)
    while late - early > timedelta(seconds=1):
        middle = early + timedelta(seconds=(late - early) // timedelta(seconds=2))
        changed = middle.astimezone(zone).utcoffset() == after
        early, late = (early, middle) if changed else (middle, late)
    resumed = late.astimezone(zone)
    skipped = (late + before).replace(tzinfo=None)
    note = (
        f"{local:%H:%M} does not exist on {day_with_year(local)} in {zone_name(zone)} "
        f"({skipped:%H:%M} becomes {resumed:%H:%M}). Read as {resumed:%H:%M} {offset_text(resumed)}."
    )
    return late, note
