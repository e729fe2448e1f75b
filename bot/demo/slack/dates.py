"""Slack's date tokens (`{date_short_pretty} {time}`) in the reader's zone and habit. Used by `render`; pure."""

import calendar
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

_TOKEN = re.compile(r"\{([a-z_]+)\}")
_DAYS = calendar.day_name
_MONTHS = calendar.month_name
_NEAR = {-1: "yesterday", 0: "today", 1: "tomorrow"}


@dataclass(frozen=True, slots=True)
class Eye:
    """When and where someone reads: `now` is aware, `tz` an IANA name, `locale` decides between 14:20 and 2:20 PM."""

    now: datetime
    tz: str = "UTC"
    locale: str = "en-US"


def tell(timestamp: float, form: str, eye: Eye) -> str:
    """`form` with its tokens replaced. Unknown tokens stay."""
    zone = ZoneInfo(eye.tz)
    moment = datetime.fromtimestamp(timestamp, zone)
    today = eye.now.astimezone(zone)

    def replaced(match: re.Match[str]) -> str:
        return _token(match[1], moment, today, eye.locale) or match[0]

    return _TOKEN.sub(replaced, form)


def _token(name: str, moment: datetime, today: datetime, locale: str) -> str | None:
    if name == "ago":
        return _ago(today - moment)
    if name in ("time", "time_secs"):
        return _time(moment, locale, seconds=name == "time_secs")
    base, pretty = name.removesuffix("_pretty"), name.endswith("_pretty")
    near = _NEAR.get((moment.date() - today.date()).days)
    if pretty and near is not None and base in ("date", "date_short", "date_long"):
        return near
    return _date(base, moment)


def _date(name: str, moment: datetime) -> str | None:
    month, day = _MONTHS[moment.month], moment.day
    match name:
        case "date_num":
            return f"{moment:%Y-%m-%d}"
        case "date_slash":
            return f"{moment:%m/%d/%Y}"
        case "date_short":
            return f"{month[:3]} {day}, {moment.year}"
        case "date":
            return f"{month} {day}{_ordinal(day)}, {moment.year}"
        case "date_long":
            return f"{_DAYS[moment.weekday()]}, {month} {day}{_ordinal(day)}, {moment.year}"
    return None


def _time(moment: datetime, locale: str, *, seconds: bool) -> str:
    tail = f":{moment:%S}" if seconds else ""
    if locale == "en-US":
        return f"{moment.hour % 12 or 12}:{moment:%M}{tail} {moment:%p}"
    return f"{moment:%H:%M}{tail}"


def _ordinal(day: int) -> str:
    return "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _ago(gap: timedelta) -> str:
    minutes = int(abs(gap.total_seconds()) // 60)
    for size, unit in ((1440, "day"), (60, "hour"), (1, "minute")):
        if minutes >= size:
            count = minutes // size
            words = f"{count} {unit}{'s' if count > 1 else ''}"
            return f"{words} ago" if gap > timedelta() else f"in {words}"
    return "now"
