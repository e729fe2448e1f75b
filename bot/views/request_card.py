"""The approval card: one request in one message, for its whole life, on every surface.

Line 1 keeps its words (its symbol changes) until the requester accepts other terms, line 2 is the state. Controls that
a state does not name are gone in that state. Rendered by the deliverer for NoticeKind.REQUEST_CARD.
"""

from datetime import timedelta
from typing import Any

from bot.core.loans import LoanKind
from bot.core.messages import Block, Message
from bot.core.offers import Offer
from bot.core.requests import Ask, RequestState
from bot.core.series import times
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import device_hours, joined
from bot.views.facts import CardFacts, SeriesFacts, Step, Surface
from bot.views.ids import Action, card_block
from bot.views.impact_lines import impact_lines, no_figures
from bot.views.kit import Confirm, actions, bullets, button, context, headline, line, rich
from bot.views.loan_state import CardState, Told, is_over, state_of, told, waiting_count
from bot.views.loan_words import asked, how_long, lasting, runs_above, terms_line, what
from bot.views.parts import Line, Mention, Moment, Reason, Theirs, named, sentence
from bot.views.past_lines import past_lines
from bot.views.pause import paused_line
from bot.views.series_words import stop_button, worth_of_all

_OPEN = frozenset({CardState.WAITING, CardState.WORSE, CardState.OFFERED})
_ADMINS_END = frozenset(
    {CardState.STARTS_LATER, CardState.STARTING, CardState.BLOCKED, CardState.SUSPENDED, CardState.IN_FORCE}
)
_NOT_YET = frozenset({CardState.STARTS_LATER, CardState.STARTING})


def card(facts: CardFacts, surface: Surface) -> Message:
    """The card as one reader's surface shows it now."""
    says = told(facts)
    state = state_of(facts)
    first = headline(says.symbol, title(facts))
    second = rich(says.state, *says.lines, _who_and_why(facts), *_terms(facts, state))
    block_id = card_block(facts.request.id, facts.request.revision)
    blocks = (first, second, *_impact(facts, state), *_needs(facts, state))
    buttons = actions(*_buttons(facts, state, surface), block_id=block_id)
    return Message(_text(facts, says), (*blocks, *buttons))


def title(facts: CardFacts) -> Line:
    """Line 1: "8 a100 for vision, 3 days, borrow · Q-142", "+2 days for Q-142: 8 a100 for vision, borrow"."""
    request, ask = facts.request, facts.request.ask
    if request.extends is not None:
        return line(asked(request), f", {ask.kind.value}")
    return line(what(ask), ", ", how_long(ask), f", {ask.kind.value} · {request.name}")


def _text(facts: CardFacts, says: Told) -> str:
    ask = facts.request.ask
    length = line(", ", how_long(ask)) if facts.request.state is RequestState.WAITING else ()
    state = says.short
    if state_of(facts) is CardState.WAITING:
        state = line(named(facts.requester), f" asks, {waiting_count(facts)}")
    if facts.request.extends is not None:
        return sentence(line(asked(facts.request), ": ", state))
    return sentence(line(what(ask), length, ": ", state, f" ({facts.request.name})"))


def _who_and_why(facts: CardFacts) -> Line:
    reason = facts.request.ask.reason
    return line(Mention(facts.requester), " · ", Reason(reason)) if reason.strip() else line(Mention(facts.requester))


def _terms(facts: CardFacts, state: CardState) -> tuple[Line, ...]:
    """How long and how much in all, while it can still be decided."""
    lines = [line("Cluster: ", Theirs(facts.cluster))] if facts.cluster else []
    if facts.asked_first:
        lines.insert(0, line("Asked for at first: ", terms_line(facts.request.ask.flavor, facts.asked_first)))
    if state in _OPEN:
        lines.insert(0, terms(facts))
    if state in _OPEN and facts.grace is not None:
        lines.append(line(f"At its end work above quota is evicted, after a grace of {lasting(facts.grace)}"))
    return tuple(lines)


def terms(facts: CardFacts) -> Line:
    """How long and how much in all: "3 days from approval (at once: Sat 5 Dec 14:05), 576 GPU-h"."""
    ask = facts.request.ask
    now = facts.impact.read_at if facts.impact else facts.request.created_at
    if ask.series is not None:
        return worth_of_all(ask.series, ask.amount, facts.unit)
    start = ask.start or now
    end = start + ask.duration if ask.duration is not None else ask.until
    assert end
    worth = device_hours(ask.amount, max(end - start, timedelta(0)), facts.unit)
    if facts.request.extends is not None:
        in_all = f", {lasting(end - facts.loan.start)} in all" if facts.loan else ""
        return line(Moment(start), " to ", Moment(end), f", {worth} more{in_all}")
    if ask.start:
        return line(Moment(ask.start), " to ", Moment(end), f", {worth}")
    if ask.duration is None:
        return line("From approval until ", Moment(end), f", at most {worth}")
    return line(f"{lasting(ask.duration)} from approval (at once: ", Moment(end), f"), {worth}")


def _impact(facts: CardFacts, state: CardState) -> tuple[Block, ...]:
    if state not in _OPEN:
        return ()
    if facts.request.extends is not None:
        lines = [line("The same quota for longer: no number of a queue changes. Undecided, its end stays as it is")]
    else:
        lines = impact_lines(facts.impact, facts.unit) if facts.impact else [no_figures(facts.no_figures_since)]
        if facts.pause:
            lines.append(line(paused_line(facts.pause), ". An approval waits until they go on"))
    lines += past_lines(facts.past, facts.request.ask)
    return (bullets([*lines, *(line(note) for note in facts.notes)]),)


def _needs(facts: CardFacts, state: CardState) -> tuple[Block, ...]:
    if state not in _OPEN:
        return ()
    tick = ", with the over-commit tick" if needs_tick(facts) else ""
    small = line("Needs: ", joined([step_name(one) for one in facts.steps], last=", then "), tick)
    lapses = line(". Lapses ", Moment(facts.request.lapses_at))
    unreachable = line(" · ", Theirs(facts.unreachable), " cannot be reached") if facts.unreachable else ()
    return (context(small, lapses, unreachable),)


def needs_tick(facts: CardFacts) -> bool:
    """Whether Approve asks first for the tick that more may be promised than exists: the form is its confirm then.

    Not for more time: that the loan promises so much was ticked when it was approved.
    """
    if facts.request.ask.kind is not LoanKind.EXTRA or facts.request.extends is not None:
        return False
    found = facts.impact.overcommit if facts.impact else None
    return facts.impact is None or (found is not None and found.needs_tick)


def step_name(step: Step) -> Line:
    """A step in words: "nlp lead (lends)", "2 of gpu-admins"."""
    many = f"{step.count:,} of " if step.count > 1 else ""
    return line(many, Theirs(step.label), " (lends)" if step.lends else "")


def next_step(facts: CardFacts) -> Step | None:
    """The first step that has not all its approvals yet."""
    for index, step in enumerate(facts.steps):
        if sum(one.step == index for one in facts.approvals) < step.count:
            return step
    return None


def _buttons(facts: CardFacts, state: CardState, surface: Surface) -> list[dict[str, Any]]:
    if surface is Surface.REQUESTER:
        return requester_buttons(facts)
    if surface is Surface.CHANNEL and state in _ADMINS_END and facts.loan:
        return [_end_button(facts)]
    if surface is Surface.LEAD and state is CardState.IN_FORCE and facts.loan and facts.loan.lender:
        return [ask_back_button(facts.loan.id)]
    return _approver_buttons(facts) if state in _OPEN else []


def _end_button(facts: CardFacts) -> dict[str, Any]:
    """End, for admins: whoever else presses it is told so."""
    rest = " What has not begun is called off." if facts.series else ""
    asked = Confirm(
        line(f"End {facts.request.name}?"),
        line(what(facts.request.ask), f" go back before the end.{rest} Work that runs is not stopped. Admins only."),
        "End",
        "Keep",
        danger=True,
    )
    return button("End", Action.LOAN_END, str(facts.request.id), confirm=asked)


def _approver_buttons(facts: CardFacts) -> list[dict[str, Any]]:
    value = str(facts.request.id)
    confirm = None if needs_tick(facts) else _approve_confirm(facts)
    may_change = facts.request.extends is None and facts.request.ask.series is None
    change = [button("Change", Action.CARD_CHANGE, value)] if may_change else []
    return [
        button("Approve", Action.CARD_APPROVE, value, primary=True, confirm=confirm),
        *change,
        button("Deny", Action.CARD_DENY, value),
        button("Details", Action.CARD_DETAILS, value),
    ]


def _approve_confirm(facts: CardFacts) -> Confirm:
    ask = facts.request.ask
    step = next_step(facts)
    counts = line(" Counts for the step that is next: ", Theirs(step.label), ".") if step else ()
    void = " The offer is void then." if facts.offered else ""
    observe = " Observe mode: approving writes nothing." if facts.observe else ""
    what_for = asked(facts.request) if facts.request.extends else line(what(ask), f", {_plain_length(facts, ask)}")
    asks = line(what_for, f", {ask.kind.value}.")
    return Confirm(line(f"Approve {facts.request.name}?"), line(asks, counts, void, observe), "Approve")


def _plain_length(facts: CardFacts, ask: Ask) -> str:
    """A confirm dialog cannot show the reader's zone, so an end becomes a length."""
    if ask.series is not None:
        return f"{ask.series.words}, {times(len(ask.series.spans))}"
    if ask.duration is not None:
        return lasting(ask.duration)
    assert ask.until
    return f"about {lasting(ask.until - (ask.start or facts.request.created_at))}"


def requester_buttons(facts: CardFacts) -> list[dict[str, Any]]:
    """What the requester can do in this state: on their copy of the card, and in their Home tab."""
    state = state_of(facts)
    if facts.series is not None and facts.request.ask.series is not None:
        return _series_buttons(facts, facts.series, state)
    raised = bool(facts.standing and facts.standing.raised)
    if state in _OPEN | _NOT_YET or (state is CardState.BLOCKED and facts.loan and not facts.loan.in_force_at):
        answers = offer_buttons(facts.offered.offer) if facts.offered else []
        return [*answers, withdraw_button(facts.request.id, facts.request.name)]
    if facts.request.extends is not None:
        return []
    if state is CardState.IN_FORCE or (state is CardState.BLOCKED and raised):
        return [*([] if facts.extension else [extend_button(facts.request.id)]), return_button(facts.request.id)]
    runs_on = state is CardState.ENDED and facts.loan and facts.standing and runs_above(facts.loan, facts.standing)
    denied = state is CardState.DENIED and facts.decider is not None
    if state is CardState.LAPSED or runs_on or denied:
        return [again_button(facts.request.id)]
    return []


def _series_buttons(facts: CardFacts, series: SeriesFacts, state: CardState) -> list[dict[str, Any]]:
    """Of the time that runs, and of the rest of the series."""
    assert facts.loan
    held = state is CardState.IN_FORCE or bool(state is CardState.BLOCKED and facts.standing and facts.standing.raised)
    extend = [] if facts.extension else [extend_button(facts.loan.id)]
    own = [*extend, return_button(facts.loan.id)] if held else []
    stop = series.following is not None or (not held and not is_over(facts.loan))
    if is_over(facts.loan):
        return [again_button(facts.request.id)]
    return [*own, *([stop_button(facts.request.id)] if stop else [])]


def offer_buttons(offer: Offer) -> list[dict[str, Any]]:
    """Accept takes one press; the offer's id is theirs, so that an old message answers no newer offer."""
    accept = button("Accept", Action.OFFER_ACCEPT, str(offer.id), primary=True)
    return [accept, button("Keep mine", Action.OFFER_KEEP, str(offer.id))]


def withdraw_button(request: int, name: str) -> dict[str, Any]:
    """Withdraw, with its confirm."""
    title = line(f"Withdraw {name}?")
    sure = Confirm(title, line("To get it again you need a new request."), "Withdraw", "Keep", danger=True)
    return button("Withdraw", Action.REQUEST_WITHDRAW, str(request), confirm=sure)


def extend_button(loan: int) -> dict[str, Any]:
    """Extend; it opens a form, which asks how much longer."""
    return button("Extend", Action.LOAN_EXTEND, str(loan))


def return_button(loan: int) -> dict[str, Any]:
    """Return; it opens a form, which asks how many."""
    return button("Return", Action.LOAN_RETURN, str(loan))


def again_button(request: int) -> dict[str, Any]:
    """Request again: opens the form, filled from that request."""
    return button("Request again", Action.REQUEST_AGAIN, str(request))


def ask_back_button(loan: int) -> dict[str, Any]:
    """Ask back, with its confirm."""
    name = format_request_id(loan)
    text = line("Its requester gets a message with Return and Keep. Nothing is taken by it.")
    sure = Confirm(line(f"Ask for {name} back?"), text, "Ask back", "Not now")
    return button("Ask back", Action.LOAN_ASK_BACK, str(loan), confirm=sure)
