"""What convergence costs with 500 queues and 2,000 loans in force.

    python benchmarks/converge.py [--queues 500] [--loans 2000] [--rounds 15] [--minutes 3] [--extra-write]

The pure plan is measured against json.loads of the very LIST that it was made from, in turn, by CPU time. Then steady
minutes are played against the simulated API server, its requests counted. Exit code 1 if the plan takes more than twice
json.loads in an ordinary minute, or a steady minute costs anything but one LIST of ClusterQueues.
"""

import argparse
import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.lent_out import CLUSTER, furnish_cluster, furnish_database, make_loans
from bot.adapters.db import engine as engines
from bot.adapters.db import migrate
from bot.adapters.db.unit_of_work import SqlStore
from bot.adapters.kube.client import connect
from bot.adapters.kube.cluster import KubeCluster
from bot.adapters.kube.objects import queue_snapshot
from bot.adapters.logs import configure_logs
from bot.adapters.policy_files import PolicyFiles
from bot.core.convergence.facts import FieldRecord
from bot.core.convergence.planner import PlanFacts, plan
from bot.core.kueue import ClusterPicture
from bot.core.loans import Loan
from bot.demo.kube.api import Request, Response
from bot.demo.kube.server import KubeServer
from bot.demo.kube.sim import KubeSim
from bot.flows.converge_memory import ConvergeMemory
from bot.flows.converge_quota import converge_all
from bot.flows.world import World
from bot.ports.chat import Chat
from bot.resources import alembic_dir, default_policies_dir

INSTALL = "gpu-quota-bot"
NOON = datetime(2026, 12, 2, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
MOST_RATIO = 2.0
QUEUES = "/clusterqueues"
EPOCH_HOLDER = "benchmark"


class CountingSim(KubeSim):
    """The simulator, and a book of what it was asked over HTTP."""

    asked: list[str]

    def respond(self, request: Request) -> Response:
        self.asked.append(f"{request.method} {request.path.rpartition('/')[2]}")
        return super().respond(request)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Of one call, without the garbage that others left."""
    gc.collect()
    began = time.process_time()
    work()
    return time.process_time() - began


def plan_ratio(raw: bytes, records: Sequence[FieldRecord], loans: Sequence[Loan], now: datetime, rounds: int) -> float:
    """How many times json.loads the plan takes; the medians of all rounds."""
    queues = [queue_snapshot(CLUSTER, one) for one in json.loads(raw)["items"]]
    picture = ClusterPicture(CLUSTER, now, {queue.name: queue for queue in queues})
    facts = PlanFacts(INSTALL, 1, now, picture, {record.key: record for record in records}, (), loans)
    times = [(cpu_seconds(lambda: json.loads(raw)), cpu_seconds(lambda: plan(facts))) for _ in range(rounds + 1)]
    loads, planned = median(pair[0] for pair in times[1:]), median(pair[1] for pair in times[1:])
    print(f"  json.loads {loads * 1000:6.1f} ms   plan {planned * 1000:6.1f} ms   {planned / loads:.2f} times")
    return planned / loads


def steady_minutes(world: World, sim: CountingSim, epoch: int, clock: "MovedClock", minutes: int) -> list[str]:
    """What was asked of the API server beyond one LIST of ClusterQueues a minute."""
    memory, wrong = ConvergeMemory(), []

    def step() -> float:
        sim.asked.clear()
        return cpu_seconds(lambda: converge_all(world, epoch, memory, lambda _: None))

    print(f"  the first step takes {step():.2f} s of CPU: {', '.join(sim.asked)}")
    for minute in range(1, minutes + 1):
        clock.now += MINUTE
        took = step()
        print(f"  minute {minute} takes {took:.2f} s of CPU: {', '.join(sim.asked)}")
        if sim.asked != ["GET clusterqueues"]:
            wrong.append(f"minute {minute}: {', '.join(sim.asked)}")
    return wrong


class MovedClock:
    """Time that stands still between steps."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@contextmanager
def stored(folder: Path) -> Iterator[SqlStore]:
    """A database of this version's schema."""
    url = f"sqlite:///{folder / 'bot.db'}"
    migrate.upgrade(url, alembic_dir())
    store = SqlStore(engines.create(url))
    try:
        yield store
    finally:
        store.close()


def listed(sim: KubeSim) -> bytes:
    """The LIST as it goes over the wire."""
    body = sim.handle("GET", sim.path("clusterqueues"))[2]
    return json.dumps(body, separators=(",", ":")).encode()


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queues", type=int, default=500)
    parser.add_argument("--loans", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--minutes", type=int, default=3)
    parser.add_argument("--extra-write", action="store_true", help="end a loan meanwhile, to see the check fail")
    options = parser.parse_args(arguments)
    configure_logs("WARNING", "console")
    clock = MovedClock(NOON)
    sim = CountingSim(clock)
    sim.asked = []
    loans = make_loans(options.queues, options.loans, NOON - MINUTE)
    if options.extra_write:
        loans[0] = replace(loans[0], end=NOON + MINUTE / 2)
    records = furnish_cluster(sim, options.queues, loans, INSTALL)
    raw = listed(sim)
    gc.collect()
    gc.freeze()  # the simulator's objects are none of the bot's: its garbage collector shall not look at them
    print(f"{options.queues} queues, {len(loans)} loans, {len(records)} records, a LIST of {len(raw) / 1e6:.2f} MB")
    wrong = _plans(raw, records, loans, options.rounds)
    with tempfile.TemporaryDirectory() as name, KubeServer(sim, reconcile=True) as server, stored(Path(name)) as store:
        furnish_database(store, loans, records)
        cluster = KubeCluster(CLUSTER, connect(str(server.kubeconfig(Path(name) / "kubeconfig")), None), clock)
        with store.begin() as uow:
            epoch = uow.leadership.acquire(EPOCH_HOLDER, timedelta(hours=1))
            uow.commit()
        world = _world(store, cluster, clock)
        wrong += steady_minutes(world, sim, epoch or 0, clock, options.minutes)
        cluster.close()
    print("\n".join(wrong) or "well")
    return 1 if wrong else 0


def _plans(raw: bytes, records: Sequence[FieldRecord], loans: Sequence[Loan], rounds: int) -> list[str]:
    """The plans of an ordinary minute are held to the bound; the day on which everything ends is shown beside them."""
    over = [replace(loan, end=NOON) for loan in loans]
    ordinary = {"nothing to do": loans, "one loan has ended": [over[0], *loans[1:]]}
    wrong = []
    for name, case in {**ordinary, "all loans have ended": over}.items():
        print(f"plan, {name}:")
        ratio = plan_ratio(raw, records, case, NOON, rounds)
        if name in ordinary and ratio > MOST_RATIO:
            wrong.append(f"plan, {name}: {ratio:.2f} times json.loads, at most {MOST_RATIO} is allowed")
    return wrong


def _world(store: SqlStore, cluster: KubeCluster, clock: MovedClock) -> World:
    """Nothing here speaks to Slack: messages are owed, not sent."""
    return World(
        store=store,
        chat=cast(Chat, None),
        clusters={CLUSTER: cluster},
        policies=PolicyFiles(default_policies_dir()),
        clock=clock,
        new_id=lambda: "id",
        wake_convergence=_nothing,
        wake_delivery=_nothing,
        install=INSTALL,
    )


def _nothing(*_: Any) -> None:
    """Nobody has to be woken."""


if __name__ == "__main__":
    sys.exit(main())
