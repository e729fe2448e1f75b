"""`site`: every test of this folder runs once on the simulator and once on each real control plane.

The real ones are the lines of tests/cluster/lines (scripts/control-plane.sh builds them), or the one cluster that
CLUSTER_KUBECONFIG names: tests make and delete objects of their own there, with names of their own. Where the newest
line is not built its tests are skipped; older lines run where they are built. The workers of one run share a control
plane: whoever needs it first starts it, and stops it when all others have ended.
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


@contextmanager
def _shared(line: str, folder: Path) -> Iterator[Path]:
    """The administrator's kubeconfig of this run's one control plane of the line."""
    users, starting, address = (folder / f"{line}.{name}" for name in ("users", "starting", "address"))
    with ExitStack() as stack:
        with _locked(starting, fcntl.LOCK_EX):
            mine = not address.exists()
            if mine:
                plane = stack.enter_context(control_plane(programs(line)))
                address.write_text(str(plane.kubeconfig))
            kubeconfig = Path(address.read_text())
            user = stack.enter_context(_locked(users, fcntl.LOCK_SH))
        yield kubeconfig
        fcntl.flock(user, fcntl.LOCK_UN)
        if mine:
            with _locked(starting, fcntl.LOCK_EX), _locked(users, fcntl.LOCK_EX):
                address.unlink()


@contextmanager
def _place(where: str, factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = factory.mktemp(where)
    if where == SIMULATOR:
        with simulated(folder) as simulator:
            yield simulator
        return
    if where == "given":
        yield Real("given cluster", folder, Path(str(GIVEN)))
        return
    in_worker = "PYTEST_XDIST_WORKER" in os.environ
    with _shared(where, factory.getbasetemp().parent if in_worker else factory.getbasetemp()) as kubeconfig:
        yield Real(where, folder, kubeconfig)


@pytest.fixture(scope="session", params=(SIMULATOR, *REAL))
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Where the contract is tried."""
    where: str = request.param
    if where in LINES:
        try:
            programs(where)
        except NotBuilt as why:
            pytest.skip(str(why))
    with _place(where, tmp_path_factory) as found:
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
