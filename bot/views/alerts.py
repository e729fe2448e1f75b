"""Alerts: one card per story of a piece of work, the lines of its thread, and one card for a storm of stories.

Rendered by the deliverer. Line 1 says what happened and stays; line 2 says how it stands now.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.incidents.facts import What
from bot.core.incidents.stories import Incident
from bot.core.messages import Block, Message
from bot.core.people import Person
from bot.views.alert_words import because, helps, what_happened
from bot.views.amounts import GPU, Unit, counted, up_to
from bot.views.kit import Symbol, context, headline, line, rich
from bot.views.loan_words import lasting
from bot.views.parts import Clock, Line, Mention, Moment, Theirs, named, sentence

_LOST = frozenset({What.PREEMPTED, What.EVICTED, What.REMOVED})
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class AlertFacts:
    """A story, and what else its card says."""

    incident: Incident
    owner: Person | None = None
    preemptor: str | None = None
    """The team or ClusterQueue that may be named; None: nobody may be, or it is not known."""
    preemptor_is: str = "queue"
    """team or queue."""
    pods: int = 0
    """Pods that find no node, if it is about that."""
    cluster: str | None = None
    """None: there is one only."""
    loans: tuple[Line, ...] = ()
    """What of its queue's loans bears on it."""
    saved_at: datetime | None = None
    """Of the last checkpoint, as the work says; None: it says nothing."""
    late: bool = False
    mention: bool = False
    """Whether the owner is pinged."""
    unit: Unit = GPU


def alert(facts: AlertFacts) -> Message:
    """The card of one story, as it stands now."""
    one = facts.incident
    pods = f" ({counted(facts.pods, 'pod')})" if facts.pods > 1 else ""
    first = line(Theirs(one.name), what_happened(one, facts.unit), pods, " (late)" if facts.late else "")
    ping = line("For ", Mention(facts.owner)) if facts.owner and facts.mention else ()
    lines = [_stage(one), *because(one), *_whom(facts), *_lost(facts), *facts.loans]
    lines += [helps(one)] if one.stage in (None, What.QUEUED) else []
    body = rich(*[each for each in (*lines[:7], ping) if each])
    return Message(sentence(first), (headline(_symbol(one), first), body, _small_print(facts)))


def _symbol(one: Incident) -> Symbol:
    if one.stage in (What.RUNNING, What.ADMITTED):
        return Symbol.IN_FORCE
    if one.stage is What.OVER:
        return Symbol.OVER
    if one.what in (What.NEVER, What.REFUSED):
        return Symbol.DENIED
    return Symbol.BACK if one.what in _LOST else Symbol.WAITS if one.what is What.WAITING else Symbol.LOOK


def _stage(one: Incident) -> Line:
    at = one.stage_at
    if one.stage is None or at is None:
        return line("At ", Moment(one.at)) if one.what in _LOST else line("Since ", Moment(one.at))
    again = " again" if one.what in _LOST else ""
    after = f" after {lasting(max(at - one.at, timedelta(minutes=1)))} "
    match one.stage:
        case What.RUNNING:
            return line(f"Running{again}", after, "(", Clock(at), ")")
        case What.ADMITTED if one.what in (What.UNSCHEDULABLE, What.NO_ROOM, What.REFUSED, What.REMOVED):
            return line("Placed on nodes", after, "(", Clock(at), "), not running yet")
        case What.ADMITTED:
            return line(f"Admitted{again}", after, "(", Clock(at), ")", ", its pods do not run yet" if one.open else "")
        case What.QUEUED:
            return line("Back in the queue since ", Clock(at))
        case _:
            return line("Ended", ": " if one.stage_why else "", Theirs(one.stage_why) if one.stage_why else "")


def _whom(facts: AlertFacts) -> tuple[Line, ...]:
    """Who preempted, as far as policy names anybody. Within the same queue there is nothing to add."""
    one = facts.incident
    if one.what is not What.PREEMPTED or one.why.startswith("InClusterQueue"):
        return ()
    if facts.preemptor is None:
        return (line("For a workload of another queue"),)
    return (line(f"For a workload of {facts.preemptor_is} ", Theirs(facts.preemptor)),)


def _lost(facts: AlertFacts) -> tuple[Line, ...]:
    one = facts.incident
    if one.what not in _LOST:
        return ()
    ran = one.facts.get("ran")
    lines = [line(f"Ran {lasting(timedelta(seconds=int(ran)))}")] if ran and ran >= 60 else []
    if facts.saved_at is not None and facts.saved_at <= one.at:
        lost = lasting(max(one.at - facts.saved_at, timedelta(0)))
        lines.append(line("Last checkpoint ", Clock(facts.saved_at), f": about {lost} of work lost"))
    elif one.what is What.PREEMPTED and one.stage in (None, What.QUEUED):
        lines.append(line("No checkpoint time known: it may start from the beginning"))
    return tuple(lines)


def _small_print(facts: AlertFacts) -> Block:
    one, parts = facts.incident, list[Line]()
    who = one.audience
    if facts.owner is not None:
        parts.append(line("Owner: ", named(facts.owner), f" ({who.found_by})"))
    elif who.team:
        parts.append(line("Team ", Theirs(who.team), f" ({who.found_by})"))
    else:
        key = "gpu-quota-bot.io/owner"
        parts.append(line(f"No owner found: no annotation {key}, no team for the namespace"))
    parts.append(line(Theirs(one.kind), " in ", Theirs(one.namespace)))
    parts += [line("cluster ", Theirs(facts.cluster))] if facts.cluster else []
    together: list[Line] = []
    for index, each in enumerate(parts):
        together.append(line(" · " if index else "", each))
    return context(*together)


@dataclass(frozen=True, slots=True)
class LineFacts:
    """One line of a card's thread."""

    incident: Incident
    what: What
    at: datetime
    why: str = ""
    times: int = 1
    ping: Person | None = None


_LINES = {
    What.PREEMPTED: "preempted",
    What.EVICTED: "evicted",
    What.REMOVED: "pods removed",
    What.UNSCHEDULABLE: "pods find no node",
    What.NO_ROOM: "admitted, no node has room",
    What.NEVER: "can never start",
    What.WAITING: "waits for quota",
    What.REFUSED: "pods refused by a ResourceQuota",
    What.QUEUED: "back in the queue",
    What.ADMITTED: "admitted",
    What.RUNNING: "running",
    What.OVER: "ended",
}


def alert_line(facts: LineFacts) -> Message:
    """What happened next, when."""
    times = f", {facts.times:,} times so far" if facts.times > 1 and facts.what in _LOST else ""
    why = line(": ", Theirs(facts.why)) if facts.why else ()
    first = line(Theirs(facts.incident.name), f" {_LINES[facts.what]}", why, times, " ", Clock(facts.at))
    ping = line(" ", Mention(facts.ping)) if facts.ping else ()
    return Message(sentence(first), (rich(line(first, ping)),))


@dataclass(frozen=True, slots=True)
class StormFacts:
    """Many stories of one kind for one place."""

    what: What
    began: datetime
    last: datetime
    incidents: Sequence[Incident]
    owners: Sequence[Person] = ()
    """Who is mentioned."""
    cluster: str | None = None


def storm(facts: StormFacts) -> Message:
    """All of them in one message."""
    count = len(facts.incidents)
    words = {What.REMOVED: "lost pods", What.REFUSED: "had pods refused", What.WAITING: "wait for quota"}
    said = words.get(facts.what, _LINES[facts.what].removeprefix("pods "))
    first = line(f"{counted(count, 'workload')} {said}, ", Clock(facts.began), " to ", Clock(facts.last))
    stages = [_count(facts.incidents, What.RUNNING, "running"), _count(facts.incidents, What.QUEUED, "in the queue")]
    stages += [_count(facts.incidents, What.ADMITTED, "admitted"), _count(facts.incidents, What.OVER, "ended")]
    now = up_to([each for each in stages if each])
    names = up_to([line(Theirs(one.name)) for one in facts.incidents], _MOST_NAMED)
    owners = up_to([line(Mention(one)) for one in facts.owners], 50, " ")
    lines = [line("Now: ", now) if now else (), names, line("For ", owners) if owners else ()]
    lines += [line("Cluster ", Theirs(facts.cluster))] if facts.cluster else []
    symbol = Symbol.BACK if facts.what in _LOST else Symbol.LOOK
    return Message(sentence(first), (headline(symbol, first), rich(*[each for each in lines if each])))


def _count(incidents: Sequence[Incident], stage: What, words: str) -> Line:
    found = sum(one.stage is stage for one in incidents)
    return line(f"{found:,} {words}") if found else ()
