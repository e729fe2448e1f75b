"""The answer to `status`: per team its queues, its open requests and its loans; then what is not well, if anything."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from bot.core.messages import Block, Message
from bot.core.pause import Pause
from bot.views.amounts import GPU, Unit, of_flavor, up_to
from bot.views.facts import CardFacts
from bot.views.ids import NEW, Action
from bot.views.kit import actions, button, context, line, rich
from bot.views.loan_state import told
from bot.views.parts import Clock, Code, Line, Moment, Reason, Theirs, sentence
from bot.views.pause import paused_line
from bot.views.request_card import next_step, step_name

_MOST_EACH = 5
_MOST_TEAMS = 5


@dataclass(frozen=True, slots=True)
class QueueUse:
    """One quota of a team's queue, in whole devices."""

    queue: str
    flavor: str
    reserved: int
    nominal: int
    waiting: int | None
    """None: not known."""
    unit: Unit = GPU


@dataclass(frozen=True, slots=True)
class TeamStatus:
    """One team."""

    team: str
    queues: tuple[QueueUse, ...] = ()
    """Empty if there are no live figures."""
    requests: tuple[CardFacts, ...] = ()
    """Those that wait."""
    loans: tuple[CardFacts, ...] = ()
    """Those that are not over."""


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """What `status` found."""

    teams: tuple[TeamStatus, ...]
    read_at: datetime
    trouble: tuple[str, ...] = ()
    """What is not well, a clause each: "No live figures of eu-1: the API server is not answering"."""
    pause: Pause | None = None


def status(facts: StatusFacts) -> Message:
    """One block per team."""
    if not facts.teams:
        first = line("You are in no team: ask an admin to add you.")
        return Message(sentence(first), (rich(first),))
    blocks: list[Block] = [rich(*_team(one), bold_first=True) for one in facts.teams[:_MOST_TEAMS]]
    left = len(facts.teams) - _MOST_TEAMS
    if left > 0:
        blocks.append(rich(line(f"and {left:,} more teams: ", Code("/gpu-quota status TEAM"))))
    if facts.pause:
        blocks.append(rich(paused_line(facts.pause)))
    if facts.trouble:
        blocks.append(rich(*(line(Reason(one)) for one in facts.trouble)))
    blocks.append(context("As of ", Clock(facts.read_at)))
    request = actions(button("Request quota", Action.OPEN_REQUEST, NEW))
    return Message(sentence(team_use(facts.teams[0])), (*blocks, *request))


def team_use(team: TeamStatus) -> Line:
    """What a team uses of its quota: "vision: 20 of 16 a100 reserved, 12 waiting"."""
    if not team.queues:
        return line(Theirs(team.team), ": no live figures")
    uses = [_use(one, len(team.queues) > 1) for one in team.queues]
    return line(Theirs(team.team), ": ", up_to(uses, _MOST_EACH, "; "))


def _use(one: QueueUse, several: bool) -> Line:
    where = line(" in ", Theirs(one.queue)) if several else ()
    waiting = f", {one.waiting:,} waiting" if one.waiting else ""
    waiting = ", waiting not known" if one.waiting is None else waiting
    return line(f"{one.reserved:,} of ", of_flavor(one.nominal, one.flavor), " reserved", where, waiting)


def _team(team: TeamStatus) -> list[Line]:
    lines = [team_use(team), *_some(team.requests, _request), *_some(team.loans, _loan)]
    if not team.requests and not team.loans:
        lines.append(line("No requests and no loans. ", Code("/gpu-quota request"), " starts one"))
    return lines


def _some(rows: tuple[CardFacts, ...], say: Callable[[CardFacts], Line]) -> list[Line]:
    lines = [say(one) for one in rows[:_MOST_EACH]]
    left = len(rows) - _MOST_EACH
    return [*lines, line(f"and {left:,} more: ", Code("/gpu-quota list"))] if left > 0 else lines


def _request(facts: CardFacts) -> Line:
    ask = facts.request.ask
    step = next_step(facts)
    who = line(", next: ", step_name(step)) if step else ()
    since = line(", since ", Moment(facts.request.created_at))
    needed = sum(one.count for one in facts.steps)
    count = f"waiting {len(facts.approvals):,} of {needed:,}"
    return line(f"{facts.request.name}: ", of_flavor(ask.amount, ask.flavor), f", {count}", who, since)


def _loan(facts: CardFacts) -> Line:
    assert facts.loan
    amount = of_flavor(facts.loan.amount, facts.loan.flavor)
    return line(f"{facts.request.name}: ", amount, ", ", told(facts).short, ", ends ", Moment(facts.loan.end))
