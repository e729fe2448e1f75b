"""The wheel holds everything that the command needs: it runs where the repository is not."""

import os
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
import venv
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "bot", "alembic", "policies")


def _run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """With nothing in the environment that could lead back to the repository or to a package index."""
    environ = {"PATH": os.defpath, "HOME": str(cwd), "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environ, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that no old build/ of the checkout gets in."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source / name)
    built = _run(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", out, source, cwd=source
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return next(out.glob("gpu_quota_bot-*.whl"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a new environment: the wheel in it, and the libraries of this environment in sight."""
    place = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(place, symlinks=True, with_pip=False)
    python = place / "bin" / "python"
    install = ("install", "--no-deps", "--quiet", wheel)
    installed = _run(sys.executable, "-m", "pip", "--python", python, *install, cwd=place)
    assert installed.returncode == 0, installed.stdout + installed.stderr
    site = next(place.glob("lib/python3.*/site-packages"))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


def test_the_wheel_holds_the_migrations_and_the_policies_and_hides_no_library(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    policies = {f"bot/_data/policies/{path.name}" for path in (ROOT / "policies").glob("*.yaml")}
    migrations = {f"bot/_data/alembic/versions/{path.name}" for path in (ROOT / "alembic/versions").glob("*.py")}
    assert policies
    assert migrations
    assert policies | migrations | {"bot/_data/alembic/alembic.ini", "bot/_data/alembic/env.py"} <= names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"bot", "gpu_quota_bot"}
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "bot").rglob("*") if path.is_file()}
    assert {name for name in modules if "__pycache__" not in name} <= names


def test_the_installed_command_makes_the_database(programs: Path, tmp_path: Path) -> None:
    done = _run(programs / "gpu-quota-bot", "db", "upgrade", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    with closing(sqlite3.connect(tmp_path / "gpu-quota-bot.db")) as database:
        assert database.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)


def test_the_installed_command_finds_the_policies_that_came_with_it(programs: Path, tmp_path: Path) -> None:
    done = _run(programs / "gpu-quota-bot", "policy", "check", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_installed_command_says_what_it_misses_and_does_not_start(programs: Path, tmp_path: Path) -> None:
    done = _run(programs / "gpu-quota-bot", "run", cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode not in {0, -9}, said
    assert "SLACK_BOT_TOKEN is not set" in said
    assert "Traceback" not in said


def test_what_runs_is_the_wheel_and_not_the_checkout(programs: Path, tmp_path: Path) -> None:
    done = _run(programs / "python", "-c", "import bot, alembic.op; print(bot.__file__)", cwd=tmp_path)
    assert Path(done.stdout.strip()).is_relative_to(programs.parent), done.stderr
