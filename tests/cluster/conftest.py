"""`site`: every test of this folder runs once on the simulator and once on each real control plane.

The real ones are the lines of tests/cluster/lines (scripts/control-plane.sh builds them), or the one cluster that
CLUSTER_KUBECONFIG names: tests make and delete objects of their own there, with names of their own. Where the newest
line is not built its tests are skipped; older lines run where they are built. The workers of one run share a control
plane: whoever needs it first starts it, and stops it at the end of its run, when all others have ended theirs.
"""

import fcntl
import itertools
import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.db import migrate
from tests.cluster.api import Said
from tests.cluster.control_plane import control_plane
from tests.cluster.differences import Difference, difference
from tests.cluster.places import GIVEN, REAL, SIMULATOR, Place, Real, simulated
from tests.cluster.programs import LINES, ROOT, NotBuilt, programs
from tests.cluster.replica import Installation, installation, sqlite_files
from tests.cluster.site import Site
from tests.support.fakes.clock import HandClock
from tests.support.postgres import PostgresServer


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Older lines are known to differ here and there: then the test fails, and shows what was captured."""
    known = _known(pyfuncitem)
    try:
        result = yield
    except (AssertionError, Said) as failed:
        site = pyfuncitem.funcargs.get("site")
        if known is None or not isinstance(site, Site) or known.captured not in site.unmarked(str(failed)):
            raise
        pytest.xfail(known.means)
    if known is not None:
        pytest.fail(f"does not differ any more: {known}")
    return result


def _known(item: pytest.Function) -> Difference | None:
    if not hasattr(item, "callspec"):
        return None
    asked = item.callspec.params
    return difference(str(asked.get("place", "")), item.originalname, str(asked.get("case", "")))


@contextmanager
def _locked(path: Path, how: int) -> Iterator[Any]:
    with path.open("a+") as file:
        fcntl.flock(file, how)
        yield file


class Planes:
    """The control planes of a run, each started by the worker that needs it first. No worker waits for another before
    its own tests are done: it leaves all that it used, and then stops what it started as soon as nobody uses it.
    """

    def __init__(self, folder: Path, started: ExitStack, used: ExitStack) -> None:
        self._folder = folder
        self._started = started
        self._used = used
        self._kubeconfigs: dict[str, Path] = {}

    def kubeconfig(self, line: str) -> Path:
        """The administrator's, of the line's one."""
        if line not in self._kubeconfigs:
            users, starting, address = self._files(line)
            with _locked(starting, fcntl.LOCK_EX):
                if not address.exists():
                    plane = self._started.enter_context(control_plane(programs(line)))
                    self._started.callback(self._until_unused, line)
                    address.write_text(str(plane.kubeconfig))
                self._used.enter_context(_locked(users, fcntl.LOCK_SH))
            self._kubeconfigs[line] = Path(address.read_text())
        return self._kubeconfigs[line]

    def _until_unused(self, line: str) -> None:
        users, starting, address = self._files(line)
        with _locked(starting, fcntl.LOCK_EX), _locked(users, fcntl.LOCK_EX):
            address.unlink()

    def _files(self, line: str) -> tuple[Path, Path, Path]:
        return self._folder / f"{line}.users", self._folder / f"{line}.starting", self._folder / f"{line}.address"


@pytest.fixture(scope="session")
def planes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planes]:
    """Of this run, whichever worker this is."""
    mine = tmp_path_factory.getbasetemp()
    with ExitStack() as started, ExitStack() as used:
        yield Planes(mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine, started, used)


@contextmanager
def _place(where: str, folder: Path, planes: Planes) -> Iterator[Place]:
    if where == SIMULATOR:
        with simulated(folder) as simulator:
            yield simulator
        return
    if where == "given":
        yield Real("given cluster", folder, Path(str(GIVEN)))
        return
    yield Real(where, folder, planes.kubeconfig(where))


@pytest.fixture(scope="session", params=(SIMULATOR, *REAL))
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, planes: Planes) -> Iterator[Place]:
    """Where the contract is tried."""
    where: str = request.param
    if where in LINES:
        try:
            programs(where)
        except NotBuilt as why:
            pytest.skip(str(why))
    with _place(where, tmp_path_factory.mktemp(where), planes) as found:
        yield found


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def site(place: Place, clock: HandClock) -> Iterator[Site]:
    """A site for one test."""
    made = Site(place, clock)
    try:
        yield made
    finally:
        made.clean()


@pytest.fixture(params=["sqlite", "postgresql"])
def databases(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Iterator[str]]:
    """The URL of an empty database, and of another each time."""
    if request.param == "sqlite":
        yield sqlite_files(tmp_path)
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    migrated = server.template("migrated", lambda url: migrate.upgrade(url, ROOT / "alembic"))
    with ExitStack() as made:
        yield (made.enter_context(server.database(migrated)) for _ in itertools.count())


@pytest.fixture
def bot(site: Site, clock: HandClock, databases: Iterator[str]) -> Iterator[Installation]:
    """An installation of the bot that has never seen this cluster."""
    with installation(site, clock, databases) as made:
        yield made
