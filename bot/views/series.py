"""Direct messages about a series as a whole: that it is approved, and that somebody else stopped it.

Each of its times is told of like any loan (views/direct), in one thread. Rendered for the kinds of notice that name
them.
"""

from bot.core.messages import Message
from bot.views.facts import CardFacts
from bot.views.kit import Symbol, actions, headline, line, rich
from bot.views.loan_state import rule_of
from bot.views.loan_words import what
from bot.views.parts import Line, Mention, Moment, Theirs, sentence
from bot.views.series_words import stop_button, to_come


def approved(facts: CardFacts) -> Message:
    """The one message of the decision: what comes when."""
    request, series = facts.request, facts.request.ask.series
    assert series is not None
    first = line(what(request.ask), f", {series.words}, approved ({request.name})")
    lines = [*_next(facts), _by(facts), line("You hear of each in the thread of the card")]
    return _message(Symbol.IN_FORCE, first, lines, stop_button(request.id))


def _next(facts: CardFacts) -> list[Line]:
    if facts.loan is None or facts.series is None:
        return []
    more = to_come(facts.series)
    return [line("First ", Moment(facts.loan.start), ", ends ", Moment(facts.loan.end)), *([more] if more else [])]


def _by(facts: CardFacts) -> Line:
    if rule := rule_of(facts):
        return line("Approved by rule ", Theirs(rule))
    return line("Approved by ", *(Mention(one.who) for one in facts.approvals[-1:])) if facts.approvals else ()


def stopped(facts: CardFacts) -> Message:
    """Somebody else stopped it: the team's lead, or an admin."""
    request, series = facts.request, facts.request.ask.series
    assert series is not None
    first = line(what(request.ask), f", {series.words}, stopped ({request.name})")
    return _message(Symbol.OVER, first, [line("What had not begun is called off")])


def _message(symbol: Symbol, first: Line, lines: list[Line], *buttons: dict[str, object]) -> Message:
    shown = [one for one in lines if one]
    return Message(sentence(first), (headline(symbol, first), rich(*shown), *actions(*buttons)))
