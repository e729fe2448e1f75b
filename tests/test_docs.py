"""What the documents say is what the code does."""

import re
from pathlib import Path

import pytest
from dotenv import dotenv_values

from bot.settings import documented

ROOT = Path(__file__).parent.parent
SETTINGS = documented()


def _env_entries() -> dict[str, str]:
    """NAME -> its comment in .env.example as one line, up to and with the line that sets it."""
    blocks = re.split(r"\n\s*\n", (ROOT / ".env.example").read_text())
    entries = {}
    for block in blocks:
        if setting := re.search(r"^(?:# )?([A-Z_]+)=(.*)$", block, re.MULTILINE):
            entries[setting[1]] = " ".join(line.removeprefix("# ") for line in block.splitlines())
    return entries


def _rows() -> dict[str, list[str]]:
    """NAME -> the cells behind it in the tables of docs/settings.md."""
    lines = (ROOT / "docs/settings.md").read_text().splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    return {row[0].strip("`"): row[1:] for row in rows}


def test_the_documents_know_the_settings_there_are_and_no_others() -> None:
    assert _env_entries().keys() == SETTINGS.keys()
    assert _rows().keys() == SETTINGS.keys()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_explained_in_env_example(name: str) -> None:
    default, doc = SETTINGS[name]
    entry = _env_entries()[name]
    assert f"{name} ({doc.unit}): {doc.allowed}." in entry
    assert f"Default: {default or 'unset'}. Reason: {doc.reason}." in entry
    assert entry.endswith(f"{name}={default}")


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_explained_in_the_settings_page(name: str) -> None:
    default, doc = SETTINGS[name]
    assert _rows()[name] == [f"`{default}`" if default else "unset", doc.unit, doc.allowed, doc.reason]


def test_a_copied_env_example_sets_nothing_until_it_is_filled_in() -> None:
    assert dotenv_values(ROOT / ".env.example") == {"SLACK_BOT_TOKEN": "", "SLACK_APP_TOKEN": ""}
