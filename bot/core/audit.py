"""Which entries of the audit somebody wants, and the entries as CSV that no spreadsheet reads as formulas.

Asked by flows/read_audit and cli/audit_log, answered by the store.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.core.requests import AuditEntry

COLUMNS = ("at", "who", "what", "subject", "outcome")

_FORMULA = frozenset("=+-@＝＋－＠")  # the wide ones count as the others in some spreadsheets
_LEADS_TO_ONE = ("\t", "\r", "\n")


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Every given condition holds."""

    subject: str | None = None
    """Q-142, or a field such as `default/vision/a100/nvidia.com/gpu/nominal`."""
    who: str | None = None
    """User id, or `bot`."""
    team: str | None = None
    """Whose requests it is about."""
    fields: tuple[str, ...] = ()
    """With `team`: beginnings of the team's fields, such as `default/vision/`, which count as well."""
    since: datetime | None = None


def inert_cell(text: str) -> str:
    """The text, behind an apostrophe if a spreadsheet could take it for a formula."""
    risky = text.startswith(_LEADS_TO_ONE) or text.lstrip()[:1] in _FORMULA
    return f"'{text}" if risky else text


def plain_row(entry: AuditEntry) -> tuple[str, ...]:
    """An entry as text, by COLUMNS; times in UTC."""
    at = f"{entry.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return (at, entry.who, entry.what, entry.subject, entry.outcome)


def audit_csv(entries: Sequence[AuditEntry]) -> str:
    """The entries under a header, every cell quoted and inert."""
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL)
    writer.writerow(COLUMNS)
    writer.writerows([inert_cell(cell) for cell in plain_row(entry)] for entry in entries)
    return file.getvalue()
