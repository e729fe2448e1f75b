"""The answer to `explain`: the rule and why, the rules before it, then each step with who may give what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.explanation import StepStanding
from bot.core.messages import Message
from bot.core.people import Person
from bot.core.requests import Ask, RequestState
from bot.views.amounts import counted, joined
from bot.views.facts import CardFacts
from bot.views.impact_lines import managed_lines
from bot.views.kit import line, rich
from bot.views.loan_state import told
from bot.views.loan_words import asked, how_long, what
from bot.views.parts import Line, Reason, Theirs, named, sentence
from bot.views.past_lines import past_lines
from bot.views.pause import paused_line

_LONGEST_WHY = 600


@dataclass(frozen=True, slots=True)
class StepLine:
    """One step with its people by name; `may` are the first few of the step's."""

    standing: StepStanding
    gave: tuple[Person, ...] = ()
    may: tuple[Person, ...] = ()


@dataclass(frozen=True, slots=True)
class ExplainFacts:
    """A stored request, explained."""

    card: CardFacts
    why: tuple[str, ...]
    """Sentences of core/verdict, the rule that decides first."""
    steps: tuple[StepLine, ...] = ()
    dead_end: str = ""
    """Why the open step can never be given, if so."""
    then: str | None = None
    """The rule that decided when it was made, if another one would now."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A request that nobody has made, explained."""

    ask: Ask
    why: tuple[str, ...]
    steps: tuple[StepLine, ...] = ()
    notes: tuple[str, ...] = ()
    """What was proposed or understood."""
    managed_by: tuple[tuple[str, str], ...] = ()
    """(queue, tool) where GitOps owns a queue of it."""
    in_git: tuple[str, ...] = ()
    """Queues of it for which the bot only proposes changes."""


def explained(facts: ExplainFacts) -> Message:
    """Of a stored request."""
    request = facts.card.request
    asks = line(f"{request.name}: ", what(request.ask)) if request.extends is None else asked(request)
    first = line(asks, ", ", told(facts.card).short)
    lines = [first, *_why(facts.why)]
    if facts.then is not None:
        lines.append(line("The policy has changed since: rule ", Theirs(facts.then), " decided then."))
    lines += past_lines(facts.card.past, request.ask)
    if request.words:
        lines.append(line("Said: ", Reason(request.words)))
    waits = request.state is RequestState.WAITING
    lines += [_step(at, one, waits=waits) for at, one in enumerate(facts.steps, start=1)]
    if waits and facts.steps:
        lines.append(_missing(facts.steps))
    if waits and facts.card.pause:
        lines.append(paused_line(facts.card.pause))
    if waits and facts.card.impact:
        lines += managed_lines(facts.card.impact.managed_by, facts.card.impact.in_git)
    if facts.dead_end:
        lines.append(line(Reason(facts.dead_end)))
    return Message(sentence(first), (rich(*lines, bold_first=True),))


def what_if(facts: WhatIf) -> Message:
    """Of one that nobody has made."""
    ask = facts.ask
    lender = line(" from ", Theirs(ask.lender)) if ask.lender else ()
    first = line("If you asked for ", what(ask), lender, ", ", how_long(ask), f", {ask.kind.value}:")
    steps = [_step(at, one, waits=True) for at, one in enumerate(facts.steps, start=1)]
    notes = [line(Theirs(one, 200)) for one in facts.notes]
    managed = managed_lines(facts.managed_by, facts.in_git)
    lines = (first, *_why(facts.why), *steps, *notes, *managed, line("Nothing was asked for."))
    return Message(sentence(first), (rich(*lines, bold_first=True),))


def _why(sentences: Sequence[str]) -> list[Line]:
    return [line(Reason(one, _LONGEST_WHY)) for one in sentences]


def _step(at: int, step: StepLine, *, waits: bool) -> Line:
    """One step; who may give what is missing only while it can be given."""
    standing = step.standing
    gave = line("approved by ", _names(step.gave)) if step.gave else ()
    head = line(f"Step {at}, ", Theirs(standing.label), ": ")
    if not waits or not standing.missing:
        return line(head, gave or "not asked")
    return line(head, gave, "; " if gave else "", f"{standing.missing:,} missing, ", _may(step))


def _may(step: StepLine) -> Line:
    left = len(step.standing.may) - len(step.may)
    more = f" and {left:,} more" if left else ""
    if step.standing.unknown:
        known = line(" beside ", _names(step.may), more) if step.may else ()
        return line("who may approve", known, " is not known: Slack did not say who is in the group")
    return line(_names(step.may), more, " may approve") if step.may else line("nobody may approve")


def _names(people: Sequence[Person]) -> Line:
    return joined([line(named(one)) for one in people])


def _missing(steps: Sequence[StepLine]) -> Line:
    left = [one.standing for one in steps if one.standing.missing]
    who = joined([line(Theirs(one.label)) for one in left], ", then ", ", then ")
    return line(f"Still missing: {counted(sum(one.missing for one in left), 'approval')} (", who, ")")
