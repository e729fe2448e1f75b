"""What scripts/control-plane.sh has built on this machine, and running one of those programs."""

import functools
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FOLDER = Path(__file__).with_name("lines")
_BORROWED = "kubernetes-of"
"""A file of a line without a Kubernetes of its own: the folders that have one to run it on, the best first."""
OPTIONAL = frozenset(path.parent.name for path in _FOLDER.glob(f"*/{_BORROWED}"))
LINES = tuple(sorted((path.name for path in _FOLDER.glob("kueue-*")), key=lambda name: (name in OPTIONAL, name)))
"""Those with a Kubernetes of their own first. They have to be built; of the others those run that are."""
STOP_TIMEOUT = 30.0

# The input of this shell ends with the process that started it, even if that is killed; then the program ends too, by
# force if it takes long (an API server without its etcd would). Its exit status stays behind in a file, so that a
# program that died is seen at once.
_LEASH = """
exited=$1; shift
{ "$@" & echo $! >"$exited.pid"; wait $!; echo $? >"$exited"; } &
cat
program=$(cat "$exited.pid")
kill "$program" 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
    if [ -e "$exited" ]; then exit; fi
    sleep 1
done
kill -9 "$program" 2>/dev/null
wait
"""


class NotBuilt(Exception):
    """This machine has no such control plane; the text says what to do about it."""


class Died(Exception):
    """A program ended by itself; the text ends with its last words."""


@dataclass(frozen=True, slots=True)
class Programs:
    """One line's binaries (etcd and Kubernetes in one, Kueue's manager), its versions, and Kueue's manifests."""

    control_plane: Path
    manager: Path
    components: Path
    versions: Mapping[str, str]

    @property
    def kueue(self) -> str:
        """Kueue's version, v0.19.2."""
        return self.versions["sigs.k8s.io/kueue"]

    @property
    def kubernetes(self) -> str:
        """Kubernetes' version, v1.36.3."""
        return self.versions["k8s.io/kubernetes"]

    @property
    def minor(self) -> int:
        """Of Kueue's version: 19."""
        return int(self.kueue.split(".")[1])


@functools.cache
def programs(line: str) -> Programs:
    """Raises NotBuilt."""
    folder = _built(line)
    *better, last = _kubernetes_of(line)
    kubernetes = next((_place(one) for one in better if _is_there(_place(one))), None) or _built(last)
    versions = {**_versions(kubernetes), **_versions(folder)}
    return Programs(kubernetes / "control-plane", folder / "kueue", folder / "kueue-components", versions)


def is_built(line: str) -> bool:
    """Whether this machine has the line's programs."""
    try:
        programs(line)
    except NotBuilt:
        return False
    return True


def all_built() -> bool:
    """Whether this machine has every line, each with the Kubernetes that is best for it."""
    return all(is_built(line) and _is_there(_place(_kubernetes_of(line)[0])) for line in LINES)


def _kubernetes_of(line: str) -> list[str]:
    borrowed = _FOLDER / line / _BORROWED
    return borrowed.read_text().split() if borrowed.exists() else [line]


def _built(line: str) -> Path:
    folder = _place(line)
    if not _is_there(folder):
        raise NotBuilt(f"the control plane of {line} is not built: scripts/control-plane.sh build (needs Go)")
    return folder


def _is_there(folder: Path) -> bool:
    return (folder / "versions").is_file()


@functools.cache
def _place(line: str) -> Path:
    script = [str(ROOT / "scripts/control-plane.sh"), "where", line]
    return Path(subprocess.run(script, check=True, capture_output=True, text=True).stdout.strip())


def _versions(folder: Path) -> dict[str, str]:
    rows = (row.split() for row in (folder / "versions").read_text().splitlines())
    return {row[0]: row[1] for row in rows}


@dataclass(frozen=True, slots=True)
class Running:
    """A started program."""

    name: str
    log: Path
    exited: Path

    def check(self) -> None:
        """Raises Died."""
        if self.exited.exists():
            raise Died(f"{self.name} ended with status {self.exited.read_text().strip()}: {self.last_words()}")

    def last_words(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-2000:]


@contextmanager
def running(folder: Path, name: str, *command: str | Path, environment: Mapping[str, str] = {}) -> Iterator[Running]:
    """Run it until the context ends. Its log is NAME.log in the folder."""
    program = Running(name, folder / f"{name}.log", folder / f"{name}.exited")
    program.exited.unlink(missing_ok=True)  # of the run before
    leash = ["/bin/sh", "-c", _LEASH, "leash", str(program.exited), *map(str, command)]
    with (
        program.log.open("wb") as log,
        subprocess.Popen(
            leash,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={"PATH": os.defpath, "HOME": str(folder), "TMPDIR": str(folder), **environment},
            start_new_session=True,  # Ctrl-C is for the tests
        ) as process,
    ):
        try:
            yield program
        finally:
            process.communicate(timeout=STOP_TIMEOUT)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody listens on at this moment."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
