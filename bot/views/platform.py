"""What the platform channel is told about outages and about the policy. No buttons.

An outage is said once at its start (after 5 min, by the flows) and once at its end.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.core.errors import short_name
from bot.core.messages import Message
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import counted, up_to
from bot.views.kit import Symbol, headline, line, rich
from bot.views.loan_words import lasting
from bot.views.parts import VENDOR_LIMIT, Channel, Clock, Code, Line, Moment, Theirs, sentence


class Turn(StrEnum):
    """Which end of a loan waits, or came late."""

    START = "start"
    END = "end"


@dataclass(frozen=True, slots=True)
class Held:
    """A loan whose start or end waits for something that does not answer."""

    loan: int
    turn: Turn
    due: datetime | None = None
    """None: at once."""


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """A start or an end that came when it answered again."""

    loan: int
    turn: Turn
    at: datetime
    late: timedelta


@dataclass(frozen=True, slots=True)
class Outage:
    """Something did not answer. `until` is None while it lasts."""

    since: datetime
    until: datetime | None = None
    cluster: str | None = None
    """Shown if there are several."""
    held: tuple[Held, ...] = ()
    done: tuple[CaughtUp, ...] | None = None
    """None: not known, so nothing is said."""
    ended_on_time: int | None = None
    """Loans that ended on time meanwhile (Slack was down, the cluster was not)."""
    messages: int | None = None
    """Messages that were sent late."""


def _message(symbol: Symbol, first: Line, *lines: Line) -> Message:
    shown = [one for one in lines if one]
    return Message(sentence(first), (headline(symbol, first), *((rich(*shown),) if shown else ())))


def _of(outage: Outage) -> Line:
    return line(" of ", Theirs(outage.cluster)) if outage.cluster else ()


def api_down(outage: Outage) -> Message:
    """The API server does not answer."""
    first = line("The API server", _of(outage), " is not answering since ", Clock(outage.since))
    return _message(Symbol.LOOK, first, line("Loans are neither put in force nor taken back", _held(outage.held)))


def _held(held: tuple[Held, ...]) -> Line:
    if not held:
        return ()
    return line(f"; {counted(len(held), 'waits', 'wait')}: ", up_to([_held_one(one) for one in held]))


def _held_one(held: Held) -> Line:
    due = line(" ", Clock(held.due)) if held.due else ()
    return line(f"{format_request_id(held.loan)} ({held.turn.value}", due, ")")


def api_back(outage: Outage) -> Message:
    """The API server answers again, and what was made up for."""
    return _message(Symbol.IN_FORCE, line("API server", _of(outage), " back", _until(outage)), _done(outage.done))


def _until(outage: Outage) -> Line:
    return line(" ", Clock(outage.until)) if outage.until else ()


def _done(done: tuple[CaughtUp, ...] | None) -> Line:
    if done is None:
        return ()
    if not done:
        return line("No loan was late")
    return up_to([_done_one(one) for one in done])


def _done_one(done: CaughtUp) -> Line:
    came = "in force" if done.turn is Turn.START else "ended"
    late = f" ({lasting(done.late)} late)" if done.late >= timedelta(minutes=1) else ""
    return line(f"{format_request_id(done.loan)} {came} ", Clock(done.at), late)


def kueue_down(outage: Outage) -> Message:
    """Kueue's webhook does not answer: reading works, writing does not."""
    first = line("Kueue", _of(outage), " is not answering since ", Clock(outage.since), ": quota cannot be changed")
    held = (
        line(f"{counted(len(outage.held), 'loan waits', 'loans wait')}: ", _held_names(outage)) if outage.held else ()
    )
    return _message(Symbol.LOOK, first, line("New Jobs may fail too"), line("Reading works"), held)


def _held_names(outage: Outage) -> Line:
    return up_to([_held_one(one) for one in outage.held])


def kueue_back(outage: Outage) -> Message:
    """Kueue's webhook answers again."""
    return _message(Symbol.IN_FORCE, line("Kueue", _of(outage), " back", _until(outage)), _done(outage.done))


def slack_back(outage: Outage) -> Message:
    """Slack could not be reached; what happened meanwhile is sent now."""
    to = line(" to ", Clock(outage.until)) if outage.until else ()
    first = line("Slack was not reachable ", Clock(outage.since), to)
    meanwhile = []
    if outage.ended_on_time is not None:
        meanwhile.append(f"{counted(outage.ended_on_time, 'loan')} ended on time")
    if outage.messages is not None:
        meanwhile.append(f"{counted(outage.messages, 'message')} sent now, marked late")
    told = line("Meanwhile: ", ", ".join(meanwhile)) if meanwhile else ()
    return _message(Symbol.IN_FORCE, first, told)


def database_back(outage: Outage) -> Message:
    """The database answers again."""
    since = line("It was not answering since ", Clock(outage.since), ". Nothing was written meanwhile")
    return _message(Symbol.IN_FORCE, line("Database back", _until(outage)), since)


def bot_was_down(outage: Outage) -> Message:
    """No replica led for a while."""
    to = line(" to ", Clock(outage.until)) if outage.until else ()
    late = tuple(one for one in outage.done or () if one.late >= timedelta(minutes=1))
    ends = line("Late: ", _done(late)) if late else _done(outage.done and ())
    sent = line(f"{counted(outage.messages, 'message')} sent late") if outage.messages else ()
    return _message(Symbol.IN_FORCE, line("The bot was down ", Clock(outage.since), to), ends, sent)


def channel_unreachable(channel: str, code: str, *, approvals: bool) -> Message:
    """A channel of the policy that the bot cannot post to: archived, gone, or the bot is not in it."""
    first = line("The bot cannot post to ", Channel(channel, "one of its channels"), ": ", Theirs(code))
    instead = "Cards go to everybody who may decide, by DM" if approvals else "What is for it comes here, marked"
    admins = line("Admins: invite the bot, or set another channel in ", Code("policies/"))
    return _message(Symbol.LOOK, first, line(instead), admins)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A cluster answers and does not let itself be read. Without a right: it is not the rights (no Kueue, say)."""

    since: datetime
    words: str
    """The vendor's."""
    verb: str | None = None
    resource: str | None = None
    """With its group: `workloads.kueue.x-k8s.io`."""
    cluster: str | None = None
    """Shown if there are several."""


_FIGURES = frozenset({"localqueues", "workloads"})
"""Read for what people are told only; without any other nothing can be written either."""


_WATCHED = frozenset({"pods", "events"})
"""Read for alerts only."""


def cannot_read(trouble: Unreadable) -> Message:
    """What the bot may not read, what follows from it, and the right to give."""
    where = line(" on ", Theirs(trouble.cluster)) if trouble.cluster else ()
    words = line(Theirs(trouble.words, VENDOR_LIMIT))
    stands = line("Loans are neither put in force nor taken back; it tries again by itself")
    if trouble.verb is None or trouble.resource is None:
        return _message(Symbol.LOOK, line("The bot cannot read the queues", where, _since(trouble)), words, stands)
    name = short_name(trouble.resource)
    first = line(f"The bot may not {trouble.verb} {name}", where, _since(trouble))
    if trouble.verb == "patch":
        stands = line("Work above quota at a loan's end is not evicted; it tries again by itself")
    elif trouble.verb == "watch" or name in _WATCHED:
        stands = line("Owners do not hear what these would show; all other alerts go on, and it tries again by itself")
    elif name in _FIGURES:
        stands = line("What waits, and what a loan means for running work, is not known")
    elif name == "admissionchecks":
        stands = line("Whether quota on worker clusters (MultiKueue) limits a loan too is not known")
    if name == "resourcequotas":
        stands = line("Loans go on without the team's ResourceQuota: pods above it are refused")
    allow = line("Allow ", Code(trouble.verb), " on ", Code(trouble.resource), " in the bot's ClusterRole")
    return _message(Symbol.LOOK, first, words, stands, allow)


def _since(trouble: Unreadable) -> Line:
    return line(" since ", Clock(trouble.since))


def no_approver(subject: str, requests: tuple[int, ...] = ()) -> Message:
    """Nobody may approve for a team or a queue: an empty list is nobody, never everybody."""
    first = line("No approver is configured for ", Theirs(subject), ", so nobody can approve")
    waits = line("Waiting for one: ", up_to([line(format_request_id(one)) for one in requests])) if requests else ()
    return _message(Symbol.LOOK, first, waits, line("Admins: set approvers in ", Code("policies/approvals.yaml")))


@dataclass(frozen=True, slots=True)
class PolicyTrouble:
    """A changed policy file that cannot be used."""

    file: str
    problem: str
    """What is wrong, with the allowed values (may hold what the file says)."""
    since: datetime
    at_line: int | None = None
    good_since: datetime | None = None
    """Set once it can be used again."""


def policy_broken(trouble: PolicyTrouble) -> Message:
    """The last good policy stays in force until the file is right."""
    file = Theirs(trouble.file)
    if trouble.good_since:
        was = line("It could not be used since ", Moment(trouble.since))
        return _message(Symbol.IN_FORCE, line(file, " is good again since ", Clock(trouble.good_since)), was)
    where = f"Line {trouble.at_line:,}: " if trouble.at_line else ""
    return _message(
        Symbol.LOOK,
        line(file, " cannot be used since ", Clock(trouble.since)),
        line(where, Theirs(trouble.problem, VENDOR_LIMIT)),
        line("The last good policy stays in force. Check: ", Code("gpu-quota-bot policy check")),
    )
