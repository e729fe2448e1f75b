"""Every date in a message or view, told in the reader's zone, so that the page needs no calendar of its own.

The page looks a date up by the key it finds in the block: `<unix>|<format>`; the value of a date input by
`<unix>|local`. Used by `picture`; pure.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from bot.demo.slack.dates import Eye, tell

_IN_MRKDWN = re.compile(r"<!date\^(-?\d{1,11})\^([^|>^]*)")
LOCAL = "local"
"""The format of `<input type="datetime-local">`."""


def dates_in(node: Any, eye: Eye) -> dict[str, str]:
    """Key -> words, for all dates anywhere in a tree of blocks."""
    return {f"{unix}|{form}": _told(unix, form, eye) for unix, form in _dates(node)}


def _told(unix: int, form: str, eye: Eye) -> str:
    if form == LOCAL:
        return datetime.fromtimestamp(unix, ZoneInfo(eye.tz)).strftime("%Y-%m-%dT%H:%M")
    return tell(unix, form, eye)


def _dates(node: Any) -> Iterator[tuple[int, str]]:
    if isinstance(node, str):
        yield from ((int(match[1]), match[2]) for match in _IN_MRKDWN.finditer(node))
        return
    if isinstance(node, dict):
        yield from _date(node)
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list | tuple) else ():
        yield from _dates(value)


def _date(node: dict[str, Any]) -> Iterator[tuple[int, str]]:
    match node:
        case {"type": "date", "timestamp": int(unix), "format": str(form)}:
            yield int(unix), str(form)
        case {"type": "datetimepicker"}:
            for name in ("initial_date_time", "selected_date_time"):
                if isinstance(node.get(name), int):
                    yield node[name], LOCAL
