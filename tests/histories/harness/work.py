"""Work that runs in a history's town, and what its people do with it: steps of a history beside those of steps.py."""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

from bot.core.evictions import EvictionState
from bot.demo.kube.people import Refused as ApiRefused
from bot.flows.extend_loan import MoreTime, extend_loan
from tests.histories.harness import people
from tests.histories.harness.town import Town

LOCAL = "main"


def namespace(team: str) -> str:
    """Where the work of a team's queue is."""
    return f"{team}-train"


def submit(town: Town, borrower: str | None = None) -> None:
    """Jobs for the queue of a loan, if one runs, so that they may use it."""
    borrowers = [loan.borrower for loan in town.store.tables.loans.values() if loan.ended_at is None]
    team = borrower or town.random.choice(borrowers or list(people.TEAMS))
    if town.sim.cluster.get("clusterqueues", "", team) is None:
        return
    if town.sim.cluster.get("localqueues", namespace(team), LOCAL) is None:
        town.sim.add_local_queue(namespace(team), LOCAL, team)
    town.looks_at_work = True
    for _ in range(town.random.choice([1, 2, 4]) if borrower is None else 8):
        name = f"job-{len(town.jobs)}"
        gpus, priority = town.random.choice([1, 2, 4]), town.random.choice([0, 0, 100])
        _do(town, lambda n=name, g=gpus, p=priority: town.sim.submit_job(namespace(team), n, LOCAL, g, priority=p))  # type: ignore[misc]
        town.jobs.append((team, name))
        town.clock.advance(timedelta(seconds=1))
        town.sim.reconcile()


def end_with_work(town: Town, approve: Callable[..., None]) -> None:
    """A loan is used to the full when it ends; sometimes somebody then asks for more time, or changes the work.

    `approve` is the step that approves a request.
    """
    loans = [loan for loan in town.store.tables.loans.values() if loan.ended_at is None and loan.flavor == "a100"]
    if not loans:
        submit(town)
        return
    loan = town.random.choice(loans)
    submit(town, loan.borrower)
    if loan.end > town.clock():
        town.pass_time(loan.end - town.clock() + timedelta(seconds=1))
    town.tend()
    town.tend()
    before = set(town.store.tables.requests)
    if town.random.random() < 0.6:
        extend_after_end(town)
    if town.random.random() < 0.3:
        end_some(town)
    town.pass_time(timedelta(minutes=11))
    if town.random.random() < 0.3:
        return
    town.tend()
    if town.random.random() < 0.3:
        touch(town)
    for number in set(town.store.tables.requests) - before:
        approve(town, presses=4, request=town.store.tables.requests[number])
    town.tend()


def touch(town: Town) -> None:
    """Somebody sets what the bot evicted active again, and thinks better of it."""
    for team, name in town.jobs:
        with suppress(KeyError):
            if not town.sim.workload(namespace(team), name)["spec"].get("active", True):
                _do(town, lambda t=team, n=name: town.sim.set_active(namespace(t), n, active=True))  # type: ignore[misc]
                _do(town, lambda t=team, n=name: town.sim.set_active(namespace(t), n, active=False))  # type: ignore[misc]


def end_some(town: Town) -> None:
    """A Job ends, or is deleted; or somebody sets its Workload inactive, or active again."""
    if not town.jobs:
        submit(town)
        return
    team, name = town.random.choice(town.jobs)
    where, how = namespace(team), town.random.randrange(4)
    acts: tuple[Callable[[], Any], ...] = (
        lambda: town.sim.finish(where, name),
        lambda: town.sim.delete("jobs", name, where),
        lambda: town.sim.set_active(where, name, active=False),
        lambda: town.sim.set_active(where, name, active=True),
    )
    _do(town, acts[how])
    town.sim.reconcile()


def clear(town: Town, team: str) -> None:
    """All work of a queue goes, as before somebody deletes the queue."""
    for where, name in town.jobs:
        if where == team:
            _do(town, lambda n=name: town.sim.delete("jobs", n, namespace(team)))  # type: ignore[misc]
    town.sim.reconcile()


def extend_after_end(town: Town) -> None:
    """Somebody presses Extend on the announcement of an eviction."""
    known = list(town.store.tables.evictions.values())
    announced = [one for one in known if one.state is EvictionState.ANNOUNCED]
    if not known:
        submit(town)
        return
    loan = town.random.choice(announced or known).loan
    request = town.store.tables.requests[loan]
    who = town.random.choice([request.ask.requester, request.ask.requester, people.NOBODY])
    wish = MoreTime(loan, by=timedelta(hours=town.random.choice([1, 5])))
    town.arrive(town.random.choice(town.processes), lambda world, key: extend_loan(world, wish, who, key, key))


def _do(town: Town, act: Callable[[], Any]) -> None:
    with suppress(ApiRefused, KeyError):
        act()
    town.log.drain()
