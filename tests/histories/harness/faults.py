"""What can go wrong in a step. A fault is armed before it and stays until it happened, or is calmed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from bot.core.errors import Unavailable
from bot.demo.kube.faults import Fault as ApiFault
from bot.demo.kube.faults import Hang, Refuse, ResetAfter, ResetBefore
from tests.histories.harness.steps import BETWEEN, HOUR, edit, give_back, wrong_person
from tests.histories.harness.town import Process, Town
from tests.support.fakes.chat import Trouble
from tests.support.fakes.gate import kill


@dataclass(frozen=True, slots=True)
class Armed:
    """A fault that waits to happen: whether it has, and how to end it."""

    fired: Callable[[], bool]
    calm: Callable[[], None] = lambda: None


Fault = Callable[[Town], Armed]


def _api(fault: ApiFault, verb: str) -> Fault:
    def arm(town: Town) -> Armed:
        resource = "clusterqueues" if verb == "patch" and not town.resource_quota else "*"
        times = town.random.choice([1, 1, 2])
        town.sim.faults.plan(fault, verb, resource, times=times)
        planned = town.sim.faults._planned[-1]
        return Armed(lambda: planned.left != times, lambda: _forget(town, planned))

    return arm


def _forget(town: Town, planned: object) -> None:
    if planned in town.sim.faults._planned:
        town.sim.faults._planned.remove(planned)


def webhook_down(town: Town) -> Armed:
    """Kueue does not answer: every write is refused with 500."""
    town.sim.kueue_up = False
    seen = town.webhook_refusals

    def calm() -> None:
        town.sim.kueue_up = True

    return Armed(lambda: town.webhook_refusals > seen, calm)


def _slack(*troubles: Trouble) -> Fault:
    def arm(town: Town) -> Armed:
        town.slack.troubles += troubles
        return Armed(lambda: troubles[0] not in town.slack.troubles, town.slack.troubles.clear)

    return arm


def slack_down(town: Town) -> Armed:
    """Nothing of Slack answers."""
    town.slack.down = True
    before = town.slack.refused

    def calm() -> None:
        town.slack.down = False

    return Armed(lambda: town.slack.refused > before, calm)


def _at_a_gate(action: Callable[[Town, Process], None], matches: tuple[str, ...], within: int = 14) -> Fault:
    """Let it happen once, to the process that first gets so far."""

    def arm(town: Town) -> Armed:
        fired: list[Process] = []
        after, name = town.random.randrange(within), town.random.choice(matches)

        def plan(process: Process) -> None:
            def happen() -> None:
                if not fired:
                    fired.append(process)
                    action(town, process)

            process.gate.plan(happen, after=after, matches=name)

        def calm() -> None:
            town.planned = lambda _process: None
            for process in town.processes:
                process.gate.clear()

        for process in town.processes:
            plan(process)
        town.planned = plan
        return Armed(lambda: bool(fired), calm)

    return arm


def _kill(_town: Town, _process: Process) -> None:
    kill()


def _database_away(_town: Town, _process: Process) -> None:
    raise Unavailable("database", "connection refused")


def _sleeps(town: Town, sleeper: Process) -> None:
    """The process stops in the middle of what it does, another one leads and works, and then it wakes up."""
    town.pass_time(timedelta(seconds=31))
    other = next((one for one in town.processes if one is not sleeper), None)
    if other is None:
        return
    if town.random.random() < 0.4:
        edit(town, town.random.choice([-2, -1, 1, 2]))
    if town.random.random() < 0.3:
        town.pass_time(town.random.choice([HOUR, 5 * HOUR]))
    town.run(other, other.lead, other.converge)
    if town.random.random() < 0.4:
        give_back(town, part=town.random.random() < 0.5)
    town.run(other, other.converge, other.deliver)
    town.log.add("slept")


def groups_fail(town: Town) -> Armed:
    """A user group cannot be looked up, just when somebody presses who is in none."""
    armed = _slack(Trouble.GROUPS_FAIL)(town)
    if town.random.random() < 0.5:
        wrong_person(town)
    return armed


FAULTS: dict[str, Fault] = {
    "API 500 on patch": _api(Refuse(500), "patch"),
    "API 500 on list": _api(Refuse(500), "list"),
    "409 on patch": _api(Refuse(409), "patch"),
    "429 on patch": _api(Refuse(429), "patch"),
    "reset before patch": _api(ResetBefore(), "patch"),
    "patch lands, answer lost": _api(ResetAfter(), "patch"),
    "patch hangs, lands late": _api(Hang(30.0), "patch"),
    "connection refused on list": _api(ResetBefore(), "list"),
    "webhook down": webhook_down,
    "Slack down": slack_down,
    "Slack not reached": _slack(Trouble.NOT_REACHED),
    "Slack 429": _slack(Trouble.RATE_LIMITED),
    "Slack answer lost": _slack(Trouble.ANSWER_LOST),
    "Slack answer lost, no history": _slack(Trouble.ANSWER_LOST, Trouble.HISTORY_CLOSED),
    "group look-up fails": groups_fail,
    "kill": _at_a_gate(_kill, ("",)),
    "kill around a patch": _at_a_gate(_kill, ("cluster.patch",), within=3),
    "kill around a post": _at_a_gate(_kill, ("chat.post",), within=3),
    "database away": _at_a_gate(_database_away, ("store.begin", "store.read")),
    "commit's answer lost": _at_a_gate(_database_away, ("store.committed",), within=8),
    "commit fails": _at_a_gate(_database_away, ("store.commit",), within=8),
    "replica sleeps, wakes late": _at_a_gate(_sleeps, BETWEEN),
}
"""All kinds of fault, by the names that the coverage table prints."""
