"""Which entries of the audit somebody wants, and a cell of text that no spreadsheet reads as a formula.

Made by flows/read_audit and cli/audit_log, answered by the store.
"""

from dataclasses import dataclass
from datetime import datetime

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
