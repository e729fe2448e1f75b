"""What the platform channel reads of queues that are written in Git: the exact difference, and what came of it.

One message per proposal; it is edited when the change is seen, when another one takes its place, and when it is taken
back: then the difference is gone from it, so that nobody merges it late.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.core.convergence.facts import FieldName
from bot.core.convergence.proposals import ProposalEnd
from bot.core.messages import Message
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import number, up_to
from bot.views.kit import Symbol, headline, line, pre, rich
from bot.views.parts import Clock, Code, Line, Moment, Part, Theirs, sentence
from bot.views.quota_yaml import difference

_MOST_CHANGES, _MOST_LOANS = 10, 5


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """One number of the queue. None: not set."""

    flavor: str
    resource: str
    name: FieldName
    before: int | None
    after: int | None
    lending_before: int | None = None
    lending_after: int | None = None


@dataclass(frozen=True, slots=True)
class ProposedLoan:
    """A loan that the change is for."""

    id: int
    adds: int
    """To the queue's number: what it brings or takes."""
    borrows: bool
    """Whether the queue is the borrower."""
    end: datetime
    over: bool = False


@dataclass(frozen=True, slots=True)
class ProposalFacts:
    """One queue's proposal as it stands."""

    queue: str
    changes: tuple[ProposedChange, ...]
    loans: tuple[ProposedLoan, ...]
    since: datetime
    cluster: str | None = None
    """Shown if there are several."""
    tool: str | None = None
    """Which GitOps tool owns the queue, where that is known."""
    annotated: bool = False
    """The bot wrote the queue itself once, and what it noted on it is still there."""
    ended: ProposalEnd | None = None
    ended_at: datetime | None = None


def proposal(facts: ProposalFacts) -> Message:
    """The difference while somebody is to merge it; after that what came of it."""
    if facts.ended is not None:
        return _ended(facts, facts.ended)
    first = line(_numbers(facts), ": to be merged in Git", _ids(facts))
    shown = facts.changes[:_MOST_CHANGES]
    more = len(facts.changes) - len(shown)
    rest = line(f"and {more:,} more: ", Code("gpu-quota-bot converge --dry-run")) if more > 0 else ()
    lines = [*(_for(one) for one in facts.loans[:_MOST_LOANS]), *_where(facts)]
    seen = line("The bot does not write this queue. It sees within a minute when this is merged, and says so")
    left = line("Its annotation from before counts for nothing here and may be removed") if facts.annotated else ()
    below = [one for one in (rest, seen, left) if one]
    diff = pre(difference(facts.queue, shown))
    about = (rich(*lines),) if lines else ()
    return Message(sentence(first), (headline(Symbol.WAITS, first), *about, diff, rich(*below)))


def proposal_waits(facts: ProposalFacts) -> Message:
    """The one reminder, in the thread."""
    first = line(_numbers(facts), " is not merged yet", _ids(facts))
    lines = [line("Proposed ", Moment(facts.since)), *(_until_then(one) for one in facts.loans[:_MOST_LOANS])]
    return Message(sentence(first), (headline(Symbol.WAITS, first), rich(*lines)))


def _ended(facts: ProposalFacts, how: ProposalEnd) -> Message:
    at = line(" ", Clock(facts.ended_at)) if facts.ended_at else ()
    if how is ProposalEnd.MERGED:
        first = line(_numbers(facts), " is in force", _ids(facts))
        return Message(sentence(first), (headline(Symbol.IN_FORCE, first), rich(line("Merged, seen", at))))
    if how is ProposalEnd.SUPERSEDED:
        first, why = line(_numbers(facts), " is replaced: do not merge it", _ids(facts)), "The newer difference counts"
    else:
        first, why = line(_numbers(facts), " is withdrawn: do not merge it", _ids(facts)), "Nothing is to be changed"
    return Message(sentence(first), (headline(Symbol.OVER, first), rich(line(f"{why}, since", at))))


def _numbers(facts: ProposalFacts) -> Line:
    """ "vision a100 16 -> 24", and how many more numbers."""
    one = facts.changes[0]
    limit: tuple[Part, ...] = (" ", Code("borrowingLimit")) if one.name is FieldName.BORROWING_LIMIT else ()
    more = f" and {len(facts.changes) - 1:,} more" if len(facts.changes) > 1 else ""
    arrow = f" {number(one.before)} -> {number(one.after)}{more}"
    return line(Theirs(facts.queue), " ", Theirs(one.flavor), *limit, arrow)


def _ids(facts: ProposalFacts) -> Line:
    if not facts.loans:
        return ()
    return line(" (", up_to([line(format_request_id(one.id)) for one in facts.loans], _MOST_LOANS), ")")


def _for(one: ProposedLoan) -> Line:
    """What the change is for, and what is true until it is made."""
    name = format_request_id(one.id)
    if one.over:
        return line(f"{name} is over; its {abs(one.adds):,} stay here until this is merged")
    until = line(", until ", Moment(one.end))
    if one.adds >= 0 and one.borrows:
        return line(f"{name} brings {one.adds:,}", until, ". Not in force until this is merged")
    if one.adds < 0 and not one.borrows:
        return line(f"{name} lends {-one.adds:,}", until, ". The borrower gets nothing until this is merged")
    return line(f"{name} gives {abs(one.adds):,} back. Not so until this is merged")


def _until_then(one: ProposedLoan) -> Line:
    name = format_request_id(one.id)
    return line(f"{name} is over and not given back until then" if one.over else f"{name} waits until then")


def _where(facts: ProposalFacts) -> list[Line]:
    lines = []
    if facts.tool:
        lines.append(line("Managed by ", Theirs(facts.tool)))
    if facts.cluster:
        lines.append(line("Cluster: ", Theirs(facts.cluster)))
    return lines
