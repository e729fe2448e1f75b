"""A control plane to play with, until Ctrl-C: `.venv/bin/python -m tests.cluster.by_hand kueue-0.19`.

It prints the path of an administrator's kubeconfig, which kubectl, the bot and the tests (CLUSTER_KUBECONFIG) take.
"""

import signal
import sys
import threading

from tests.cluster.control_plane import control_plane
from tests.cluster.programs import LINES, NotBuilt, programs


def main(line: str) -> None:
    """Exits with words where there is no such line, or none built."""
    if line not in LINES:
        sys.exit(f"no line {line}: there are {', '.join(LINES)}")
    try:
        built = programs(line)
    except NotBuilt as why:
        sys.exit(str(why))
    for ends in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ends, signal.default_int_handler)
    with control_plane(built) as plane:
        sys.stderr.write(f"Kueue {built.kueue} on Kubernetes {built.kubernetes}, until Ctrl-C\n")
        sys.stdout.write(f"{plane.kubeconfig}\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            sys.stderr.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:] or LINES[:1])
