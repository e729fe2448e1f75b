"""Numbers of requests (a loan keeps its request's): `Q-142`, `q142`, `#142` and `142` are the same."""

import re

from bot.core.wording.faults import Misread, flat, shown
from bot.core.wording.text import DASHES

_ID = re.compile(rf"(?:#|q[{DASHES}]?)?0{{0,9}}([1-9][0-9]{{0,8}})", re.IGNORECASE)


def parse_request_id(text: str) -> int | Misread:
    """The number of a request, from 1 to nine digits."""
    match = _ID.fullmatch(flat(text).strip())
    if not match:
        return Misread(f'"{shown(text.strip())}" is not the number of a request. They look like Q-142.')
    return int(match[1])


def format_request_id(number: int) -> str:
    """The number as it is always written: "Q-142"."""
    return f"Q-{number}"
