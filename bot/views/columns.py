"""Rows as aligned plain text, for preformatted blocks: in modals, and where Slack has no tables."""

from collections.abc import Iterable, Sequence


def columns(header: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Aligned rows with two spaces between; `right` are the columns of numbers."""
    table = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(len(row[at]) for row in table) for at in range(len(header))]
    numbers = frozenset(right)

    def cell(text: str, at: int) -> str:
        return text.rjust(widths[at]) if at in numbers else text.ljust(widths[at])

    return "\n".join("  ".join(cell(text, at) for at, text in enumerate(row)).rstrip() for row in table)
