"""`gpu-quota-bot demo` as people start and end it."""

import re
import signal
import socket
import subprocess
import sys
import urllib.request

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
