"""`gpu-quota-bot demo` as people start and end it."""

import io
import os
import re
import select
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.cli.commands import app


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_address_serves_it_and_ends_cleanly(ending: signal.Signals) -> None:
    command = [sys.executable, "-m", "bot", "demo", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as demo:
        try:
            assert demo.stdout is not None
            found = re.search(r"http://127\.0\.0\.1:\d+/", demo.stdout.readline())
            assert found
            with urllib.request.urlopen(found[0], timeout=20) as answer:
                assert b"gpu-quota-bot demo" in answer.read()
            demo.send_signal(ending)
            said, wrong = demo.communicate(timeout=30)
        finally:
            demo.kill()
    assert (demo.returncode, wrong) == (0, "")
    assert "Traceback" not in said


def test_in_a_terminal_it_opens_the_browser_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    seen, browser = tmp_path / "seen", tmp_path / "browser"
    os.mkfifo(seen)
    opened = os.open(seen, os.O_RDONLY | os.O_NONBLOCK)
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}\n', encoding="utf-8")
    browser.chmod(0o755)
    terminal, end = os.openpty()
    command = [sys.executable, "-m", "bot", "demo"]
    environment = {**os.environ, "CI": "", "BROWSER": str(browser)}
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env=environment, start_new_session=True) as demo:
        os.close(end)
        said = b""
        try:
            while b"Ctrl-C" not in said:
                said += os.read(terminal, 4096)
            assert select.select([opened], [], [], 30)[0], "no browser was opened"
            address = os.read(opened, 4096).strip()
            os.killpg(demo.pid, signal.SIGINT)
            said += _rest(terminal)
            assert demo.wait(30) == 0
        finally:
            demo.kill()
            os.close(terminal)
            os.close(opened)
    assert b"Traceback" not in said
    assert address
    assert address in said


def _rest(terminal: int) -> bytes:
    """Until the other end is closed, which Linux tells as an error."""
    said = b""
    try:
        while more := os.read(terminal, 4096):
            said += more
    except OSError:
        pass
    return said


@pytest.mark.parametrize("result", [0, 1])
@pytest.mark.parametrize(("terminal", "ci"), [(False, ""), (True, "true"), (True, "1")])
def test_where_nobody_looks_it_plays_the_story_and_ends_by_its_result(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, ci: str, result: int
) -> None:
    """Neither a pipeline nor a program that starts it waits for a Ctrl-C that never comes."""
    played: list[str] = []
    monkeypatch.setattr("bot.demo.run.play", lambda name, _say: played.append(name) or result)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(SystemExit) as ended:
        app(["demo"])
    assert (ended.value.code, played) == (result, ["loop"])
    assert "--no-browser serves the page" in sys.stdout.getvalue()


@pytest.mark.one_database("the page keeps its data in a SQLite file of its own")
def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = CliRunner().invoke(app, ["demo", "--no-browser", "--port", str(port)])
    assert done.exit_code == 1
    assert f"The page cannot be served on port {port}: Address already in use" in done.output


def test_a_story_that_is_not_there_is_said() -> None:
    done = CliRunner().invoke(app, ["demo", "--script", "nope"])
    assert (done.exit_code, done.output.strip()) == (2, "No script nope. There are: loop.")
