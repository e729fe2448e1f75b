"""Run one history from its seed: loans that overlap, at least 20 steps with faults, then rest, and what it all left."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from bot.core.convergence.facts import AnswerKind
from bot.core.loans import LoanKind, LoanState
from bot.core.requests import RequestState
from bot.flows.pause_quota import resume_quota
from tests.histories.harness.faults import FAULTS, Armed
from tests.histories.harness.git_steps import GIT_STEPS, merge_what_waits, open_proposals, queues_in_git
from tests.histories.harness.resource_quota import QUOTA_STEPS
from tests.histories.harness.steps import STEPS, answer, approve_one, ask, open_questions
from tests.histories.harness.town import Town
from tests.support.oracle.check import violations
from tests.support.oracle.log import Violation

EVERY_STEP = {**STEPS, **QUOTA_STEPS, **GIT_STEPS}
GIT_MORE = 3
"""How much likelier a step about Git is than another, in the histories that have a queue there."""
STAYS = 6
"""Steps for which a fault stays armed if it does not happen."""
MOST_ROUNDS = 60


@dataclass(slots=True)
class Outcome:
    """What one history showed."""

    seed: int
    steps: list[str] = field(default_factory=list)
    """What happened, for the one who looks for a mistake."""
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(step, fault) where the fault happened in that step or in its wake."""
    faults: int = 0
    broken: list[Violation] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)

    def __str__(self) -> str:
        first = "\n  ".join(str(one) for one in self.broken[:5])
        return f"seed {self.seed}, {len(self.broken)} broken promises:\n  {first}\nsteps: {'; '.join(self.steps)}"


def run(seed: int, least_steps: int = 20, without: Collection[str] = ()) -> Outcome:
    """The same seed gives the same history, as long as there are the same steps. Those of `without` are left out."""
    steps = {name: step for name, step in EVERY_STEP.items() if name not in without}
    in_git = queues_in_git(seed) if GIT_STEPS.keys() & steps.keys() else ()
    town = Town(seed, resource_quota=bool(QUOTA_STEPS.keys() & steps.keys()), in_git=in_git)
    names = [name for name in steps if name not in GIT_STEPS]
    names += [name for name in steps if name in GIT_STEPS and in_git] * GIT_MORE
    outcome = Outcome(seed)
    _begin(town)
    armed: Armed | None = None
    under, name, left = "", "", 0
    for _ in range(least_steps + town.random.randrange(8)):
        step = town.random.choice(names)
        if armed is None and town.random.random() < 0.6:
            name = town.random.choice(list(FAULTS))
            under, armed, left = step, FAULTS[name](town), STAYS
        outcome.steps.append(f"{step} [{name}]" if armed else step)
        steps[step](town)
        if town.random.random() < 0.8:
            town.tend()
        if armed is not None:
            left -= 1
            if armed.fired():
                outcome.pairs[under, name] += 1
                outcome.faults += 1
            if armed.fired() or left == 0:
                armed.calm()
                armed = None
    if armed is not None:
        armed.calm()
    outcome.steps.append("faults stop")
    _end(town)
    outcome.log = town.log.log
    outcome.broken = violations(town.log.log)
    return outcome


def _begin(town: Town) -> None:
    """Two loans that overlap, undisturbed."""
    town.tend()
    while not _overlap(town):
        kind = town.random.choice([LoanKind.BORROW, LoanKind.TRANSFER, LoanKind.TRANSFER])
        ask(town, kind, town.random.choice([1, 2, 2, 3]), at_once=True)
        if any(one.state is RequestState.WAITING for one in town.store.tables.requests.values()):
            approve_one(town, presses=4)
        town.tend()


def _overlap(town: Town) -> bool:
    running = [loan for loan in town.store.tables.loans.values() if loan.state is LoanState.RUNNING]
    return len(running) > 1


def _end(town: Town) -> None:
    """Faults stop; all comes to rest with the loans that still run, and again when the last one is over."""
    town.sim.faults.clear()
    town.sim.kueue_up, town.slack.down = True, False
    town.slack.troubles.clear()
    town.looks_at_work = True
    STEPS["Kueue lets go"](town)
    if town.random.random() < 0.5:
        town.late.clear()
    _rest(town, over=False)
    last = max((loan.end for loan in town.store.tables.loans.values()), default=town.clock())
    if last > town.clock():
        town.pass_time(last - town.clock() + timedelta(minutes=1))
    _rest(town, over=True)


def _rest(town: Town, *, over: bool) -> None:
    """Until nothing changes for a while that is longer than every pause of the bot."""
    quiet = 0
    for _ in range(MOST_ROUNDS):
        before = town.sim.cluster.store.version, town.store.tables.audit, _owed(town), len(open_questions(town))
        merge_what_waits(town)
        town.pass_time(timedelta(minutes=5))
        town.tend()
        _go_on(town)
        if town.late:
            town.late.pop()()
        for record in open_questions(town):
            if town.random.random() < 0.6:
                _answer_somehow(town, record)
        after = town.sim.cluster.store.version, town.store.tables.audit, _owed(town), len(open_questions(town))
        still = before == after and not after[2] and not after[3] and not town.late and not open_proposals(town)
        quiet = quiet + 1 if still else 0
        if quiet == 3:
            town.log.add("rest", over=over)
            return
    town.log.add("rest", over=over)


def _go_on(town: Town) -> None:
    """Also if a pause that was asked for long ago is handled only now."""
    if town.store.tables.pause is not None:
        admins = sorted(town.slack.groups["S0ADMINS"] - {"U0GUEST"})
        town.arrive(town.first, lambda world, key: resume_quota(world, admins[0], key))


def _answer_somehow(town: Town, record: Any) -> None:
    """Any answer that is offered; the new base always is."""
    admins = sorted(town.slack.groups["S0ADMINS"] - {"U0GUEST"})
    for kind in town.random.sample(list(AnswerKind), 3):
        answer(town, kind, record, town.random.choice(admins))
        now = town.store.tables.records.get(record.key)
        if now is None or now.question is None or now.version != record.version:
            return


def _owed(town: Town) -> int:
    return sum(row.notice.state.value in ("owed", "claimed") for row in town.store.tables.notices.values())
