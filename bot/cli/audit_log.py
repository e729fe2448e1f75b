"""The audit as text, CSV or JSON, for `gpu-quota-bot log`."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from bot.core.audit import COLUMNS, audit_csv, plain_row
from bot.core.durations import parse_duration
from bot.core.errors import Refused
from bot.core.requests import AuditEntry
from bot.views.parts import clean


class LogFormat(StrEnum):
    """How the entries are written."""

    TEXT = "text"
    CSV = "csv"
    JSON = "json"


def written(entries: Sequence[AuditEntry], form: LogFormat) -> str:
    """All entries, times in UTC. Nothing in it is a formula to a spreadsheet, or a command to a terminal."""
    if form is LogFormat.CSV:
        return audit_csv(entries)
    rows = [plain_row(entry) for entry in entries]
    if form is LogFormat.JSON:
        return json.dumps([dict(zip(COLUMNS, row, strict=True)) for row in rows], ensure_ascii=True, indent=1) + "\n"
    return "".join(f"{at}  {clean(who)}: {what} {clean(on)}: {clean(out)}\n" for at, who, what, on, out in rows)


def instant_of(text: str, now: datetime) -> datetime:
    """`7d` before now, or a date or time such as 2026-12-01, in UTC unless an offset is written. Raises Refused."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        back = parse_duration(text)
        if not isinstance(back, timedelta):
            raise Refused(f"{back.sentence} Write --since 7d, or --since 2026-12-01.") from None
        return now - back
    return at if at.tzinfo else at.replace(tzinfo=UTC)
