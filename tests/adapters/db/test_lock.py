"""One process per SQLite file."""

import subprocess
import sys
from pathlib import Path

import pytest

from bot.adapters.db import lock
from bot.core.errors import Refused

ROOT = Path(__file__).parents[3]
HOLDER = """
import sys
from bot.adapters.db import lock
with lock.hold(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/bot.db"


@pytest.fixture
def other_process(url):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, url], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_is_refused_and_told_which_is_the_first(url, other_process) -> None:
    with pytest.raises(Refused) as refusal, lock.hold(url):
        pass
    assert f"process {other_process.pid} on " in refusal.value.sentence
    assert "bot.db" in refusal.value.sentence


def test_a_killed_process_leaves_nothing_locked(url, other_process) -> None:
    other_process.kill()
    other_process.wait(timeout=30)
    with lock.hold(url), pytest.raises(Refused, match="in use"), lock.hold(url):
        pass


def test_it_is_free_again_afterwards(url, tmp_path) -> None:
    for _ in range(2):
        with lock.hold(url):
            assert (tmp_path / "bot.db.lock").exists()
    with pytest.raises(ZeroDivisionError), lock.hold(url):
        raise ZeroDivisionError
    with lock.hold(url):
        pass


def test_a_link_to_the_file_is_the_same_database(url, tmp_path) -> None:
    (tmp_path / "bot.db").touch()
    (tmp_path / "link.db").symlink_to(tmp_path / "bot.db")
    with lock.hold(url), pytest.raises(Refused), lock.hold(f"sqlite:///{tmp_path}/link.db"):
        pass


def test_another_file_is_another_database(url, tmp_path) -> None:
    with lock.hold(url), lock.hold(f"sqlite:///{tmp_path}/other.db"):
        assert (tmp_path / "other.db.lock").exists()


@pytest.mark.parametrize("shared", ["sqlite://", "sqlite:///:memory:", "postgresql://user@host/name"])
def test_what_needs_no_lock_takes_none(shared, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with lock.hold(shared), lock.hold(shared):
        assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_said(tmp_path) -> None:
    with pytest.raises(Refused, match="No such file or directory"), lock.hold(f"sqlite:///{tmp_path}/no/bot.db"):
        pass
