"""Steps about loans that lie idle. Part of tests/histories/harness/steps.STEPS."""

from contextlib import suppress
from datetime import timedelta

from bot.core.idle_loans import IdleOffer, IdleState
from bot.demo.kube.people import Refused as ApiRefused
from bot.flows.answer_idle import IdlePress, keep_idle, return_idle
from bot.flows.world import World
from tests.histories.harness import people
from tests.histories.harness.town import Process, Town


def lie_idle(town: Town) -> None:
    """Nothing much happens for a quarter of an hour, in which the lease is kept and the bot looks every few minutes."""
    for _ in range(4):
        for _ in range(10):
            town.pass_time(timedelta(seconds=24))
            for process in list(town.processes):
                town.run(process, process.lead)
        town.tend()


def work_begins(town: Town, in_queue: str | None = None) -> None:
    """A job begins, if there is room: a small one, or one that takes almost all that its queue has."""
    team = in_queue or town.random.choice(people.TEAMS)
    room = _room(town, team)
    gpus = max(1, town.random.choice([1, 2, room - 1, room, room]))
    town.cases["keys"] += 1
    name = f"job-{town.cases['keys']}"
    with suppress(ApiRefused):
        town.sim.add_local_queue(f"{team}-ns", "main", team)
    with suppress(ApiRefused):
        town.sim.submit_job(f"{team}-ns", name, "main", gpus)
    town.sim.reconcile()
    town.work.append((f"{team}-ns", name))
    town.log.drain()


def _room(town: Town, team: str) -> int:
    """GPUs of its own quota that a queue has left."""
    queue = town.sim.cluster.get("clusterqueues", "", team)
    if queue is None:
        return 1
    held = [
        int(entry["total"])
        for flavor in queue.get("status", {}).get("flavorsReservation", ())
        for entry in flavor["resources"]
        if flavor["name"] == "a100"
    ]
    with suppress(KeyError):  # the flavor may have been taken out
        return int(town.sim.nominal(team, "a100")) - sum(held)
    return 1


def work_ends(town: Town) -> None:
    """A job is done."""
    if town.work:
        with suppress(ApiRefused):
            town.sim.delete("jobs", town.work[0][1], town.work[0][0])
        town.work.pop(0)
    town.sim.reconcile()
    town.log.drain()


def an_idle_offer(town: Town) -> IdleOffer | None:
    """An open one if there is any, else one that is answered."""
    known = list(town.store.tables.idle_offers.values())
    if not any(one.state is IdleState.OPEN for one in known):
        lie_idle(town)
        known = list(town.store.tables.idle_offers.values())
    still_open = [one for one in known if one.state is IdleState.OPEN]
    return town.random.choice(still_open or known) if known else None


def answer_idle(town: Town, what: str) -> None:
    """By the requester or a lead, sometimes twice at a time, on an old picture, or by somebody with no say."""
    draw, found = town.random, an_idle_offer(town)
    if found is None:
        return
    ask = town.store.tables.requests[found.loan].ask
    if draw.random() < 0.4:
        work_begins(town, ask.queue)
    for _ in range(draw.choice([1, 1, 2])):
        user = draw.choice([ask.requester, ask.requester, people.lead(ask.team), people.NOBODY])
        revision = found.version if draw.random() < 0.8 else found.version - 1

        def act(world: World, key: str, user: str = user, revision: int = revision) -> object:
            press = IdlePress(found.id, revision, user, key)
            return return_idle(world, press) if what == "return" else keep_idle(world, press)

        process: Process = draw.choice(town.processes)
        town.arrive(process, act)


def return_what_is_idle(town: Town) -> None:
    answer_idle(town, "return")


def keep_what_is_idle(town: Town) -> None:
    answer_idle(town, "keep")
