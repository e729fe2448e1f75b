"""The benchmarks run, and their checks can fail. With tiny sizes: what they measure is no matter here."""

import re
import subprocess
import sys

import pytest

from benchmarks.ack import Measured, verdict
from benchmarks.burst import Reply, percentile
from tests.support.house import ROOT

TINY_ACK = ("--commands", "8", "--rounds", "1", "--hang", "0.2")
TINY_CONVERGE = ("--queues", "20", "--loans", "40", "--rounds", "1", "--minutes", "2")


def _run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, f"benchmarks/{script}.py", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_every_command_is_acknowledged_while_the_cluster_hangs() -> None:
    done = _run("ack", *TINY_ACK)
    assert done.returncode in {0, 1}, done.stderr
    assert re.findall(r"not acknowledged in 3 s: (\d+)", done.stdout) == ["0", "0"], done.stdout + done.stderr


def test_a_slow_bot_breaks_the_bound() -> None:
    done = _run("ack", *TINY_ACK, "--slow", "0.5")
    assert done.returncode == 1
    assert "p99 is" in done.stdout.splitlines()[-1]


def test_a_late_command_breaks_the_bound() -> None:
    done = _run("ack", *TINY_ACK, "--slow", "3.2")
    assert done.returncode == 1
    assert "8 commands of the bot failed" in done.stdout


def test_a_steady_minute_costs_one_list() -> None:
    done = _run("converge", *TINY_CONVERGE)
    assert re.findall(r"minute \d takes .* CPU: (.*)", done.stdout) == ["GET clusterqueues"] * 2, done.stderr
    assert not re.search(r"^minute", done.stdout, re.MULTILINE)


def test_a_write_in_a_minute_breaks_the_bound() -> None:
    done = _run("converge", *TINY_CONVERGE, "--extra-write")
    assert done.returncode == 1
    assert re.search(r"^minute 1: .*PATCH", done.stdout, re.MULTILINE), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("bot", "wrong"),
    [
        ([Reply(200, 0.14)] * 200, []),
        ([Reply(200, 0.16)] * 200, ["p99 is 1.60 times the empty handler's"]),
        ([Reply(200, 0.1)] * 198 + [Reply(200, 3.1)] * 2, ["2 commands of the bot failed"]),
        ([Reply(200, 0.1)] * 199 + [Reply(None, 0.1)], ["1 commands of the bot failed"]),
        ([Reply(200, 0.1)] * 199 + [Reply(401, 0.1)], ["1 commands of the bot failed"]),
    ],
)
def test_what_is_wrong_is_said(bot: list[Reply], wrong: list[str]) -> None:
    measured, empty = Measured("the bot"), Measured("empty handler")
    measured.add(bot, cpu=0.2)
    empty.add([Reply(200, 0.1)] * 200, cpu=0.1)
    assert verdict(measured, empty) == wrong


@pytest.mark.parametrize(("percent", "value"), [(99, 198), (100, 200), (50, 100), (0, 1)])
def test_percentiles_are_values_that_were_measured(percent: float, value: float) -> None:
    assert percentile(list(range(200, 0, -1)), percent) == value
