"""Work that is evicted at a loan's end: the announcement with what came of it, the eviction, and that it was undone.

To the requester and to the channel of the queue's team. Rendered by the deliverer for the kinds of notice that name
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.evictions import Eviction, EvictionState, Work, WorkState
from bot.core.impact import AtRisk
from bot.core.messages import Message
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import GPU, Unit, counted, devices, of_flavor
from bot.views.impact_lines import named_work
from bot.views.kit import Symbol, actions, answer, headline, line, rich
from bot.views.loan_words import lasting
from bot.views.parts import VENDOR_LIMIT, Line, Moment, Theirs, sentence
from bot.views.request_card import again_button, extend_button

_ENDED_ALREADY = (WorkState.EVICTING, WorkState.EVICTED, WorkState.RESTORING, WorkState.RESTORED, WorkState.LEFT)


@dataclass(frozen=True, slots=True)
class EvictionFacts:
    """One eviction with what its readers need beside it."""

    eviction: Eviction
    unit: Unit = GPU
    extension: int | None = None
    """Number of a request for more time that waits, or was approved."""
    extended: bool = False
    """Whether that one was approved."""


def announced(facts: EvictionFacts) -> Message:
    """Which workloads are evicted when; the same message says later what came of it."""
    eviction = facts.eviction
    if eviction.state is EvictionState.ANNOUNCED and eviction.due is not None:
        first = line(_subject(eviction.works, facts.unit), " evicted ", Moment(eviction.due))
        loan = line(f"The loan {_name(eviction)} ended ", Moment(eviction.ended_at), _gives(eviction))
        lines = [_all(eviction.works), loan, _held(eviction), _advice(facts)]
        buttons = [] if facts.extension else [extend_button(eviction.loan)]
        return _message(Symbol.LOOK, first, lines, *buttons)
    gone = eviction.of(*_ENDED_ALREADY)
    if not gone:
        first = line(f"Nothing is evicted: {_name(eviction)}")
        return _message(Symbol.OVER, first, [_all(eviction.works), _why_spared(eviction)])
    first = line(_subject(gone, facts.unit, past=True), f" evicted: {_name(eviction)}")
    return _message(Symbol.BACK, first, [_all(gone), _spared(eviction), _undone_line(facts)])


def prolonged(eviction: Eviction) -> Message:
    """To whoever gave the grace once more."""
    assert eviction.due is not None, "it was announced"
    held = of_flavor(sum(one.amount for one in eviction.works), eviction.entry.flavor)
    until = line(" may run until ", Moment(eviction.due), f": the grace of {_name(eviction)} is prolonged")
    return answer(line(_names(eviction.works), " (", held, ")", until))


def evicted(facts: EvictionFacts) -> Message:
    """It is done, by the bot and nobody else."""
    eviction = facts.eviction
    gone = eviction.of(*_ENDED_ALREADY)
    total = of_flavor(sum(one.amount for one in gone), eviction.entry.flavor)
    first = line(_names(gone), " evicted: ", total, f", loan {_name(eviction)} ended")
    when = line("Announced, and the grace of ", lasting(eviction.grace), " is over")
    comes_back = _undone_line(facts) or line(
        f"{'It does' if len(gone) == 1 else 'They do'} not come back by {'itself' if len(gone) == 1 else 'themselves'}"
        ": resubmit, or ask for quota again"
    )
    buttons = [] if facts.extension else [again_button(eviction.loan)]
    return _message(Symbol.BACK, first, [_all(gone), when, _spared(eviction), comes_back], *buttons)


def undone(facts: EvictionFacts) -> Message:
    """The loan was extended after all."""
    eviction = facts.eviction
    back, left = eviction.of(WorkState.RESTORED), eviction.of(WorkState.LEFT)
    by = f" ({format_request_id(facts.extension)})" if facts.extension else ""
    let_alone = line("Let alone, changed by somebody else or gone: ", _named(left)) if left else ()
    if not back:
        return _message(Symbol.LOOK, line(f"Nothing was set active again{by}"), [let_alone])
    first = line(_names(back), f" set active again: {_name(eviction)} was extended{by}")
    return _message(Symbol.IN_FORCE, first, [_all(back), line("Kueue admits it when there is room"), let_alone])


def _message(symbol: Symbol, first: Line, lines: Sequence[Line], *buttons: dict[str, object]) -> Message:
    shown = [one for one in lines if one]
    return Message(sentence(first), (headline(symbol, first), *((rich(*shown),) if shown else ()), *actions(*buttons)))


def _name(eviction: Eviction) -> str:
    return format_request_id(eviction.loan)


def _named(works: Sequence[Work]) -> Line:
    return named_work(tuple(AtRisk(one.known_as, one.amount) for one in works))


def _names(works: Sequence[Work]) -> Line:
    return line(Theirs(works[0].known_as)) if len(works) == 1 else line(counted(len(works), "workload"))


def _subject(works: Sequence[Work], unit: Unit, *, past: bool = False) -> Line:
    """ "resnet-sweep (8 GPUs) is", "3 workloads (14 GPUs) are"."""
    verb = ("was" if past else "is") if len(works) == 1 else ("were" if past else "are")
    return line(_names(works), f" ({devices(sum(one.amount for one in works), unit)}) {verb}")


def _all(works: Sequence[Work]) -> Line:
    """Line 1 has the name of a single one."""
    return _named(works) if len(works) > 1 else ()


def _gives(eviction: Eviction) -> Line:
    return line(", and its policy gives ", lasting(eviction.grace))


def _held(eviction: Eviction) -> Line:
    return line("Waits: ", Theirs(eviction.held, VENDOR_LIMIT)) if eviction.held else ()


def _advice(facts: EvictionFacts) -> Line:
    if facts.extension is None:
        return line("Save a checkpoint; resubmit, or ask for an extension now")
    name = format_request_id(facts.extension)
    if facts.extended:
        return line(f"{name} is approved: what fits once it is in force runs on")
    return line(f"Save a checkpoint: {name} asks for more time, and is not approved yet")


def _undone_line(facts: EvictionFacts) -> Line:
    if facts.eviction.of(WorkState.RESTORED):
        return line("Set active again: ", _named(facts.eviction.of(WorkState.RESTORED)))
    if facts.extension is None or facts.eviction.state is not EvictionState.OVER:
        return ()
    again = "it is set active again" if len(facts.eviction.of(*_ENDED_ALREADY)) == 1 else "they are set active again"
    return line(f"If {format_request_id(facts.extension)} comes in force, {again}")


def _spared(eviction: Eviction) -> Line:
    spared = eviction.of(WorkState.SPARED)
    return line("Not evicted, since it ended or fits: ", _named(spared)) if spared else ()


def _why_spared(eviction: Eviction) -> Line:
    if eviction.held:
        return line("Because ", Theirs(eviction.held, VENDOR_LIMIT))
    return line("It ended by itself, or fits into the quota")
