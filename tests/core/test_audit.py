"""P8 in a CSV: whatever stands in a cell, no spreadsheet takes it for a formula, and a reader gets it back."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.audit_log import LogFormat, instant_of, written
from bot.core.audit import inert_cell
from bot.core.errors import Refused
from bot.core.requests import AuditEntry

NOW = datetime(2026, 12, 2, 13, 5, tzinfo=UTC)
RISKY = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "  @x",
    "＝1+1",
    "－1",
    "=HYPERLINK(1)",
    "-",
    "=",
]
CELLS = st.one_of(st.sampled_from(RISKY), st.text(st.characters(exclude_categories=["Cs"]), max_size=30))


@pytest.mark.parametrize("text", RISKY)
def test_what_could_be_a_formula_is_neutralised(text: str) -> None:
    assert inert_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "ok", "Q-142", "8 a100", "a=b", "'=1", '"=1"', "denied: -1", "ä-"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert inert_cell(text) == text


@given(CELLS, CELLS, CELLS)
def test_the_csv_reads_back_and_no_cell_is_a_formula(who: str, subject: str, outcome: str) -> None:
    text = written([AuditEntry(NOW, who, "deny", subject, outcome)], LogFormat.CSV)
    header, row = csv.reader(io.StringIO(text, newline=""))
    assert header == ["at", "who", "what", "subject", "outcome"]
    assert row[0] == "2026-12-02T13:05:00Z"
    assert [cell.removeprefix("'") for cell in row[1:]] == [
        cell.removeprefix("'") for cell in (who, "deny", subject, outcome)
    ]
    assert not any(cell.lstrip()[:1] in set("=+-@＝＋－＠") - {""} or cell[:1] in set("\t\r\n") for cell in row)


@given(CELLS, CELLS)
def test_as_text_an_entry_is_one_line_that_a_terminal_only_shows(who: str, outcome: str) -> None:
    text = written([AuditEntry(NOW, who, "deny", "Q-1", outcome)], LogFormat.TEXT)
    assert text.endswith("\n")
    assert len(text.splitlines()) == 1
    assert text.rstrip("\n").isprintable() or set("\u200c\u200d") & set(text)


@given(CELLS)
def test_as_json_it_reads_back(outcome: str) -> None:
    text = written([AuditEntry(NOW, "U1", "deny", "Q-1", outcome)], LogFormat.JSON)
    assert text.isascii()
    assert json.loads(text)[0]["outcome"] == outcome


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("7d", NOW - timedelta(days=7)),
        ("12h", NOW - timedelta(hours=12)),
        ("2026-12-01", datetime(2026, 12, 1, tzinfo=UTC)),
        ("2026-12-01T18:00+01:00", datetime(2026, 12, 1, 17, tzinfo=UTC)),
    ],
)
def test_since_is_a_length_or_a_time(text: str, at: datetime) -> None:
    assert instant_of(text, NOW) == at


@pytest.mark.parametrize("text", ["soon", "4/12", "7", "-3d"])
def test_since_that_is_neither_is_refused_in_words(text: str) -> None:
    with pytest.raises(Refused, match="Write --since 7d"):
        instant_of(text, NOW)
