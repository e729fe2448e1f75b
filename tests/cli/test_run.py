"""`gpu-quota-bot run`: what keeps it from starting is said in a few lines; SIGTERM ends it cleanly."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.db import lock, migrate
from bot.demo.run_stage import Stage
from bot.resources import alembic_dir, default_policies_dir
from tests.support.house import ROOT

Command = Callable[..., Any]
BOT, APP = "xoxb-2910-4422-JustForTests", "xapp-1-A0-77-JustForTests"
HTTP = {"SLACK_BOT_TOKEN": BOT, "SLACK_SIGNING_SECRET": "8f742231b10e", "HTTP_HOST": "127.0.0.1", "HTTP_PORT": "0"}


@pytest.fixture
def ready(folder: Path, database_url: str) -> Path:
    """A folder with a database and a kubeconfig of nobody: nothing is missing that a start needs."""
    migrate.upgrade(database_url, alembic_dir())
    (folder / "kubeconfig").write_text(
        "{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x}}],"
        " clusters: [{name: x, cluster: {server: 'http://127.0.0.1'}}], users: [{name: x, user: {}}]}"
    )
    return folder


def _run(cli: Command, **environment: str) -> Any:
    """A start that must fail, and say so on standard error alone."""
    done = cli("run", **environment)
    assert done.code in {1, 2}
    assert done.out == ""
    assert "Traceback" not in done.err
    assert len(done.err.splitlines()) < 20
    return done


def test_without_settings_everything_that_is_missing_is_said(cli: Command) -> None:
    done = _run(cli)
    assert done.code == 2
    assert "SLACK_BOT_TOKEN" in done.err


@pytest.mark.parametrize(
    ("environment", "names"),
    [
        ({"SLACK_BOT_TOKEN": APP, "SLACK_APP_TOKEN": BOT}, ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN")),
        ({"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": BOT}, ("SLACK_APP_TOKEN",)),
        ({"SLACK_BOT_TOKEN": BOT}, ("SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET")),
    ],
)
def test_tokens_in_the_wrong_place_are_named_and_not_shown(
    cli: Command, environment: dict[str, str], names: tuple[str, ...]
) -> None:
    done = _run(cli, **environment)
    assert done.code == 2
    assert all(name in done.err for name in names)
    assert "JustForTests" not in done.err


@pytest.mark.usefixtures("database_url")
def test_a_database_without_schema_says_what_to_do(cli: Command) -> None:
    done = _run(cli, **HTTP)
    assert done.code == 1
    assert "gpu-quota-bot db upgrade" in done.err


@pytest.mark.one_database("the lock file is SQLite's own")
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("ready")
def test_a_database_that_another_process_holds_is_named(cli: Command, database_url: str) -> None:
    with lock.hold(database_url):
        done = _run(cli, **HTTP)
    assert done.code == 1
    assert str(os.getpid()) in done.err


def test_a_broken_policy_keeps_it_from_starting(cli: Command, ready: Path) -> None:
    policies = Path(shutil.copytree(default_policies_dir(), ready / "policies"))
    (policies / "teams.yaml").write_text("teams: {nlp: {colour: red}}\n")
    done = _run(cli, **HTTP)
    assert done.code == 2
    assert "The policies cannot be used" in done.err
    assert "teams.yaml:1" in done.err
    assert "colour" in done.err


def test_a_cluster_configuration_that_is_missing_is_named(cli: Command, ready: Path) -> None:
    done = _run(cli, **HTTP, KUBECONFIG=str(ready / "nowhere"))
    assert "KUBECONFIG" in done.err or "no usable configuration" in done.err


def test_a_port_that_is_taken_is_named_and_the_database_is_free_again(
    cli: Command, ready: Path, database_url: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = _run(cli, **{**HTTP, "HTTP_PORT": port}, KUBECONFIG=str(ready / "kubeconfig"))
    assert done.code == 1
    assert f"HTTP port cannot be used: 127.0.0.1:{port}: Address already in use" in done.err
    with lock.hold(database_url):
        assert True


def test_running_does_not_load_the_terminals_commands(process: Command) -> None:
    """(structlog and uvicorn load rich and click by themselves.)"""
    words = """
import sys
from bot.cli import main
try:
    main(["run"])
except SystemExit as end:
    print(end.code, sorted({"typer", "bot.cli.commands"} & sys.modules.keys()), "bot.app.run" in sys.modules)
"""
    assert process("-c", words).out == "2 [] True\n"


class _Idle(Stage):
    """The demo's world without its bot."""

    def start_bot(self) -> None:
        migrate.upgrade(self.settings().database_url.get_secret_value(), alembic_dir())

    def stop_bot(self) -> None:
        """There is none."""


@pytest.mark.parametrize(
    ("socket_mode", "number", "database"),
    [(True, signal.SIGINT, "sqlite"), (False, signal.SIGTERM, "postgresql")],
    indirect=["database"],
)
@pytest.mark.usefixtures("database")
def test_a_signal_ends_it_cleanly(folder: Path, socket_mode: bool, number: signal.Signals) -> None:
    with _Idle(socket_mode) as stage:
        settings = stage.settings()
        mode = {"SLACK_APP_TOKEN": stage.slack.app_token} if socket_mode else {}
        environment = {
            **HTTP,
            **mode,
            "SLACK_API_URL": settings.slack_api_url,
            "SLACK_BOT_TOKEN": stage.slack.bot_token,
            "KUBECONFIG": str(settings.kubeconfig),
            "DATABASE_URL": settings.database_url.get_secret_value(),
            "POLICIES_DIR": str(settings.policies_dir),
        }
        bot = subprocess.Popen(
            [sys.executable, "-m", "bot", "run"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert bot.stdout is not None
        try:
            seen = []
            for line in bot.stdout:
                seen.append(json.loads(line))
                if seen[-1]["event"] == "the bot works":
                    break
            bot.send_signal(number)
            rest, _ = bot.communicate(timeout=30)
        finally:
            bot.kill()
        last = json.loads(rest.splitlines()[-1])
        assert (bot.returncode, last["event"], last["cleanly"]) == (0, "the bot has stopped", True)
