"""The command line in a folder of its own: in this process, or as a process when that is the point."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.cli import main
from tests.support.house import ROOT
from tests.support.logs import logs_as_before

OURS = ("SLACK_", "KUBE", "DATABASE_", "POLICIES_", "LOG_", "HTTP_", "PROMETHEUS_", "OBSERVE_", "CONVERGE_")


@dataclass(frozen=True, slots=True)
class Done:
    """What a command came to."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to stand in, no settings in the environment, and logging as it was afterwards."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    with logs_as_before():
        yield tmp_path


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database, which DATABASE_URL names. For every test whose command looks at one."""
    on_postgres = request.param == "postgresql"
    url = str(request.getfixturevalue("postgres_url")) if on_postgres else f"sqlite:///{folder / 'bot.db'}"
    monkeypatch.setenv("DATABASE_URL", url)
    return url


@pytest.fixture
def cli(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`cli("policy", "check", LOG_LEVEL="DEBUG")`."""

    def call(*words: str, **environment: str) -> Done:
        with monkeypatch.context() as patch, pytest.raises(SystemExit) as ended:
            for name, value in environment.items():
                patch.setenv(name, value)
            main(words)
        said = capsys.readouterr()
        return Done(int(ended.value.code or 0), said.out, said.err)

    return call


@pytest.fixture
def process(folder: Path) -> Command:
    """The same as a process of its own, until it ends."""

    def call(*words: str, **environment: str) -> Done:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return call
