"""Every history of a small world, breadth first, up to a number of states."""

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from random import Random

from bot.core.convergence.facts import FieldRecord
from bot.core.kueue import QueueSnapshot
from tests.support.convergence.explorer import Action, Scenario, Spent, actions, finish, perform
from tests.support.convergence.world import Database, World

IN_FLIGHT = 2
"""More patches than this at once are left to the random walks."""
FINISH_EVERY = 7
"""From every seventh state the faults stop and everything must come to rest."""


@dataclass(slots=True)
class Explored:
    """How far it went."""

    states: int = 0
    steps: int = 0
    finished: int = 0
    complete: bool = False
    """Nothing was left to expand: these are all histories."""


def explore(scenario: Scenario, at_most: int) -> Explored:
    """Expand up to `at_most` different states. Raises when a promise is broken."""
    start = scenario.world()
    seen = {_key(start, Spent())}
    waiting = deque([(start, Spent())])
    done = Explored()
    while waiting and done.states < at_most:
        world, spent = waiting.popleft()
        done.states += 1
        for action in actions(scenario, world, spent, lambda numbers: numbers):
            if _too_many(world, action):
                continue
            after, cost = world.copy(), spent.copy()
            perform(after, cost, action)
            done.steps += 1
            key = _key(after, cost)
            if key not in seen:
                seen.add(key)
                waiting.append((after, cost))
        if done.states % FINISH_EVERY == 0:
            finish(world.copy(), Random(done.states))
            done.finished += 1
    done.complete = not waiting
    return done


def _too_many(world: World, action: Action) -> bool:
    return action[0].startswith("act:") and len(world.flights) >= IN_FLIGHT


def _key(world: World, spent: Spent) -> Hashable:
    return (
        tuple(_queue(queue) for queue in world.objects.values()),
        _database(world.db),
        tuple((flight.intent.id, flight.intent.queue) for flight in world.flights),
        tuple((_database(read.db), tuple(_queue(q) for q in read.objects.values())) for read in world.reads),
        tuple((intent.id, outcome) for intent, outcome in world.late),
        tuple(sorted(world.refused.items())),
        world.lost,
        tuple(sorted((kind, n) for kind, n in spent.counts.items() if kind not in ("read", "act", "store", "land"))),
    )


def _queue(queue: QueueSnapshot) -> Hashable:
    quotas = tuple((quota, e.nominal, e.borrowing_limit, e.lending_limit) for quota, e in queue.quotas.items())
    return queue.uid, queue.resource_version, queue.cohort, quotas, tuple(sorted(queue.annotations.items()))


def _database(db: Database) -> Hashable:
    records = tuple(_record(record) for _, record in sorted(db.records.items()))
    loans = tuple((loan.id, loan.state, loan.suspended) for loan in db.loans.values())
    return records, tuple(sorted(db.intents)), loans


def _record(r: FieldRecord) -> Hashable:
    asked = None if r.question is None else (r.question.uid, r.question.live)
    return r.key, r.uid, r.seq, r.base, tuple(sorted(r.legs.items())), r.wrote, asked, r.gone, r.version
