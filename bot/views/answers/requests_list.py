"""The answer to `list`: requests and loans in one table."""

from dataclasses import dataclass
from datetime import datetime

from bot.core.messages import Message
from bot.views.amounts import counted, of_flavor
from bot.views.facts import CardFacts
from bot.views.ids import NEW, Action
from bot.views.kit import actions, button, context, line, rich, table
from bot.views.loan_state import told
from bot.views.loan_words import how_long
from bot.views.parts import Clock, Code, Line, Moment, Theirs, plain, sentence

MOST_ROWS = 50


@dataclass(frozen=True, slots=True)
class ListFacts:
    """What `list` found."""

    rows: tuple[CardFacts, ...]
    """Those that are shown, in order."""
    what: str
    """Which ones, in our words: "yours", "of your teams", "waiting", "all"."""
    read_at: datetime
    filtered: bool = False
    """Whether the asker narrowed it down: then an empty list says something else."""
    left: int = 0
    """How many more there are, besides those."""


def requests_list(facts: ListFacts) -> Message:
    """The rows, and how many more there are."""
    if not facts.rows:
        return _empty(facts)
    first = line(f"{counted(len(facts.rows) + facts.left, 'request and loan', 'requests and loans')}, {facts.what}")
    body = table(("Number", "Amount", "Queue", "Kind", "State", "Ends"), [_row(one) for one in facts.rows[:MOST_ROWS]])
    left = facts.left + max(0, len(facts.rows) - MOST_ROWS)
    more = f"and {left:,} more: narrow it with mine, team or waiting · " if left else ""
    blocks = (rich(first, bold_first=True), body, context(f"{more}As of ", Clock(facts.read_at)))
    return Message(sentence(first), blocks)


def _empty(facts: ListFacts) -> Message:
    if facts.filtered:
        first = line(f"No requests and no loans, {facts.what}.")
        return Message(sentence(first), (rich(first),))
    first = line("No requests and no loans. ", Code("/gpu-quota request"), " starts one.")
    return Message(sentence(first), (rich(first), *actions(button("Request quota", Action.OPEN_REQUEST, NEW))))


def _row(facts: CardFacts) -> tuple[Line, ...]:
    ask = facts.request.ask
    amount = facts.loan.amount if facts.loan else ask.amount
    return (
        line(facts.request.subject),
        of_flavor(amount, ask.flavor),
        line(Theirs(ask.queue)),
        line(ask.kind.value),
        line("extension " if facts.request.extends else "", plain(told(facts).short)),
        _ends(facts),
    )


def _ends(facts: CardFacts) -> Line:
    """Of a series the end of its last time."""
    series = facts.request.ask.series
    if series is not None:
        return line(Moment(facts.series.last_end if facts.series else series.spans[-1].end))
    return line(Moment(facts.loan.end)) if facts.loan else how_long(facts.request.ask)
