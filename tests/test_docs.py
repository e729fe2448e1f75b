"""What the documents say is what the code does."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from dotenv import dotenv_values

from bot.app.metrics import METRICS
from bot.chat.commands import COMMANDS
from bot.cli.commands import app
from bot.core.requests import TRANSITIONS, RequestState
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


def _table(document: str) -> dict[str, list[str]]:
    """The first cell of every row that begins with code -> the cells behind it; `\\|` is a bar inside a cell."""
    lines = (ROOT / document).read_text().replace("\\|", "¦").splitlines()
    rows = [
        [cell.strip().replace("¦", "|") for cell in line.strip("|").split("|")] for line in lines if "| `" in line[:3]
    ]
    return {row[0].strip("`"): row[1:] for row in rows}


def test_every_subcommand_is_documented_as_its_help_says() -> None:
    documented_commands = {syntax: cells[0] for syntax, cells in _table("docs/commands.md").items()}
    for command in COMMANDS.values():
        assert documented_commands.get(command.help.syntax) == command.help.summary
    in_slack = [syntax for syntax in documented_commands if not syntax.startswith("gpu-quota-bot")]
    assert len(in_slack) == len(COMMANDS)


def _command_names(group: Any, prefix: str = "gpu-quota-bot") -> Iterator[str]:
    for name, command in group.commands.items():
        yield from _command_names(command, f"{prefix} {name}") if hasattr(command, "commands") else [f"{prefix} {name}"]


@pytest.mark.parametrize("document", ["docs/commands.md", "README.md"])
def test_every_terminal_command_is_documented(document: str) -> None:
    rows = [row for row in _table(document) if row.startswith("gpu-quota-bot")]
    names = list(_command_names(typer.main.get_command(app)))
    assert len(names) >= 7
    assert [name for name in names if not any(row.startswith(name) for row in rows)] == []
    assert [row for row in rows if not any(row.startswith(name) for name in names)] == []


def test_every_metric_is_documented() -> None:
    assert {name: cells[1] for name, cells in _table("docs/metrics.md").items()} == METRICS


def test_the_readme_draws_the_transitions_there_are() -> None:
    arrows = re.findall(r"^    (\w+) --> (\w+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert {(RequestState(start), RequestState(end)) for start, end in arrows} == {
        (start, end) for start, ends in TRANSITIONS.items() for end in ends
    }


@pytest.mark.parametrize(
    "document", sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("**/*.md") if ".venv" not in path.parts)
)
def test_links_between_documents_lead_somewhere(document: str) -> None:
    path = ROOT / document
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text())
    assert [target for target in targets if not (path.parent / target).exists()] == []
