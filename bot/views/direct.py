"""Direct messages about a request and its loan: to the requester, and to the lender's leads.

Each is a new message, because its news must be noticed; line 1 alone says what happened. All take the same facts as the
card. Rendered by the deliverer for the kinds of notice that name them.
"""

from bot.core.loans import Loan, LoanEnd, LoanKind
from bot.core.messages import Message
from bot.core.standing import Blocker, LoanStanding
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import devices, joined, of_flavor
from bot.views.facts import CardFacts
from bot.views.ids import Action
from bot.views.kit import Symbol, actions, button, headline, line, rich
from bot.views.loan_state import CardState, rule_of, state_of, told
from bot.views.loan_words import (
    above_line,
    again_line,
    asked,
    blocked_because,
    capital,
    early,
    evicts_line,
    lasting,
    lender_move,
    longer,
    runs_above,
    takes_back_line,
    what,
)
from bot.views.parts import VENDOR_LIMIT, Clock, Line, Mention, Moment, Part, Reason, Theirs, sentence
from bot.views.request_card import again_button, ask_back_button, extend_button, return_button, withdraw_button
from bot.views.series_words import which_time


def _message(symbol: Symbol, first: Line, lines: list[Line], *buttons: dict[str, object]) -> Message:
    shown = [one for one in lines if one]
    body = (rich(*shown),) if shown else ()
    return Message(sentence(first), (headline(symbol, first), *body, *actions(*buttons)))


def _amount(facts: CardFacts) -> Line:
    ask = facts.request.ask
    return of_flavor(facts.loan.amount if facts.loan else ask.amount, ask.flavor)


def _name(facts: CardFacts) -> str:
    which = f", {which_time(facts.series)}" if facts.series else ""
    return f"({format_request_id(facts.request.id)}{which})"


def _loan(facts: CardFacts) -> Loan:
    assert facts.loan, "this message is about a loan"
    return facts.loan


def in_force(facts: CardFacts) -> Message:
    """Approved and in force at once: one message, not two."""
    loan = _loan(facts)
    first = line(_amount(facts), " for ", Theirs(loan.borrower), " until ", Moment(loan.end), f" {_name(facts)}")
    since = line(", in force since ", Clock(loan.in_force_at)) if loan.in_force_at else ()
    lines = [line(_approved(facts), since), _worth(facts), line("Nothing to do: your queue admits more by itself")]
    return _message(Symbol.IN_FORCE, first, lines, return_button(facts.request.id))


def _approved(facts: CardFacts) -> Line:
    if rule := rule_of(facts):
        return line("Approved by rule ", Theirs(rule))
    return line("Approved by ", joined([line(Mention(one.who)) for one in facts.approvals])) if facts.approvals else ()


def _worth(facts: CardFacts) -> Line:
    """Whether it is guaranteed, and what is free for it now."""
    loan, standing = _loan(facts), facts.standing
    known = standing is not None and standing.free is not None
    free = standing.free if standing is not None and standing.free is not None else 0
    now = f"{devices(free, facts.unit)} free by quota at this moment"
    if loan.kind is LoanKind.BORROW:
        return line("Borrowed quota", f"; {now}" if known else "", "; Kueue may reclaim it")
    if known and free < loan.amount:
        return line(f"Guaranteed quota; {now}, so work may wait or reclaim")
    return line("Guaranteed quota", f"; {now}" if known else "")


def waits(facts: CardFacts) -> Message:
    """Approved, and not in force yet: it starts later, or something does not answer."""
    loan = _loan(facts)
    buttons = (withdraw_button(facts.request.id, facts.request.name),)
    hear = line("You hear when it is in force")
    if state_of(facts) is CardState.STARTS_LATER:
        first = line(_amount(facts), " approved, starts ", Moment(loan.start), f" {_name(facts)}")
        return _message(Symbol.WAITS, first, [line("Ends ", Moment(loan.end)), hear], *buttons)
    first = line(_amount(facts), f" approved, not in force yet {_name(facts)}")
    symbol, lines = Symbol.WAITS, [line("Being put in force")]
    if state_of(facts) is CardState.BLOCKED and facts.standing:
        because = blocked_because(loan, facts.standing)
        symbol, lines = because.symbol, [capital(because.cause)]
        if symbol is Symbol.LOOK:
            hear = line("The admins know. ", hear)
    return _message(symbol, first, [*lines, hear], *buttons)


def in_force_later(facts: CardFacts) -> Message:
    """What waited is in force now."""
    loan = _loan(facts)
    late = f", {lasting(facts.late.by)} late" if facts.late else ""
    first = line(_amount(facts), f" in force now {_name(facts)}{late}")
    lost = line("Need the lost time back: Extend") if facts.late else ()
    ends = line("Ends ", Moment(loan.end), " as approved")
    buttons = (extend_button(loan.id), return_button(loan.id)) if facts.late else (return_button(loan.id),)
    return _message(Symbol.IN_FORCE, first, [ends, _worth(facts), lost], *buttons)


def extended(facts: CardFacts) -> Message:
    """It was approved that the loan ends later."""
    request = facts.request
    assert request.ask.until
    first = line(f"{request.subject} now ends ", Moment(request.ask.until), f" (+{longer(request)})")
    what_for = line(what(request.ask), ". ", _approved(facts))
    return _message(Symbol.IN_FORCE, first, [what_for], return_button(request.number))


def _still_ends(facts: CardFacts) -> list[Line]:
    """What an extension that came to nothing leaves."""
    ends = facts.request.ask.start
    return [line("Still ends ", Moment(ends))] if facts.request.extends is not None and ends else []


def denied(facts: CardFacts) -> Message:
    """A person or a rule said no."""
    request = facts.request
    name = "" if request.extends else f" {_name(facts)}"
    first = line(asked(request), f": denied{name}")
    words = line(": ", Reason(request.words)) if request.words else ()
    if rule := rule_of(facts):
        return _message(Symbol.DENIED, first, [line("Rule ", Theirs(rule), words), *_still_ends(facts)])
    who = line(Mention(facts.decider)) if facts.decider else line("An approver")
    if request.extends is not None:
        return _message(Symbol.DENIED, first, [line(who, words), *_still_ends(facts)], return_button(request.number))
    return _message(Symbol.DENIED, first, [line(who, words)], again_button(request.id))


def lapsed(facts: CardFacts) -> Message:
    """Nobody decided in time, or nobody can any more."""
    request = facts.request
    if request.words:
        first = line(f"{request.name} lapsed: ", Theirs(request.words, VENDOR_LIMIT))
        return _message(Symbol.OVER, first, [line("Nothing changed. Ask an admin, or request again")])
    waited = lasting(request.lapses_at - request.created_at)
    first = line(f"{request.name} lapsed: nobody decided in {waited}")
    if request.extends is not None:
        return _message(Symbol.OVER, first, _still_ends(facts))
    ask = line("Ask ", Theirs(facts.steps[0].label), ", or request again") if facts.steps else line("Request again")
    return _message(Symbol.OVER, first, [line("Nothing changed. ", ask)], again_button(request.id))


def withdrawn(facts: CardFacts) -> Message:
    """Somebody else withdrew it for the requester."""
    who = line("By ", Mention(facts.decider), ". ") if facts.decider else ()
    name = "" if facts.request.extends else f" {_name(facts)}"
    first = line(asked(facts.request), f": withdrawn{name}")
    return _message(Symbol.OVER, first, [line(who, "Nothing changed")])


def not_in_force(facts: CardFacts) -> Message:
    """A loan that was in force is not, or only in part, any more."""
    loan, standing = _loan(facts), facts.standing
    since = line(" since ", Clock(standing.since)) if standing and standing.since else ()
    part = f"Only {standing.raised:,} of {loan.amount:,} " if standing and standing.raised else f"{loan.amount:,} "
    state = " in force" if standing and standing.raised else " not in force"
    if standing and standing.raised >= loan.amount:
        part, state = f"{loan.amount:,} ", " may not be in force"
    first = line(part, Theirs(loan.flavor), state, since, f" {_name(facts)}")
    if standing is None:
        return _message(Symbol.LOOK, first, [line("The admins know")])
    after = () if standing.blocker is Blocker.AUTOMATED else line(". ", _not_admitted(loan, standing))
    lines = [capital(blocked_because(loan, standing).cause), line("The admins know", after)]
    return _message(Symbol.LOOK, first, lines)


def _not_admitted(loan: Loan, standing: LoanStanding) -> Line:
    limit = standing.borrower.after
    if limit is None or loan.kind is LoanKind.BORROW:
        return line("Less new work is admitted until then")
    return line(f"Work above {limit:,} is not admitted")


def ended(facts: CardFacts) -> Message:
    """The honest end: quota is lowered, and these workloads run on above it."""
    loan, standing = _loan(facts), facts.standing
    is_late = facts.late is not None and facts.late.at >= (loan.ended_at or loan.end)
    late = f", {lasting(facts.late.by)} late: {facts.late.why}" if facts.late and is_late else ""
    first = line("Ended: ", _amount(facts), f" {_name(facts)}{late}")
    by = _ended_by(facts)
    if state_of(facts) is CardState.NOT_LOWERED:
        return _message(told(facts).symbol, first, [by, _not_lowered(facts)])
    if standing is None:
        return _message(Symbol.OVER, first, [by, line("What still runs is not known: no live figures")])
    if not runs_above(loan, standing):
        return _message(Symbol.OVER, first, [by, _sentences(again_line(loan, standing), "Nothing runs above it")])
    return _message(Symbol.OVER, first, [by, *_runs_on(facts, loan, standing)], again_button(facts.request.id))


def _ended_by(facts: CardFacts) -> Line:
    """Who ended it before its time, and why."""
    if _loan(facts).end_reason is not LoanEnd.ENDED_BY_ADMIN or facts.decider is None:
        return ()
    return line("By ", Mention(facts.decider), line(": ", Reason(facts.end_words)) if facts.end_words else "")


def _sentences(first: Line, second: str) -> Line:
    return line(first, ". ", second) if first else line(second)


def _runs_on(facts: CardFacts, loan: Loan, standing: LoanStanding) -> list[Line]:
    lowered = again_line(loan, standing)
    if loan.kind is not LoanKind.BORROW and standing.borrower.after is not None:
        lowered = line(lowered, f"; {standing.borrower.after + standing.above:,} are in use")
    if facts.grace is not None:
        stays, then = "stay in use above it", evicts_line(facts.grace)
    else:
        stays, then = "run on above quota", takes_back_line(loan, standing)
    return [lowered, above_line(loan, standing, facts.unit, stays), then]


def _not_lowered(facts: CardFacts) -> Line:
    """Why the quota is not back yet, as the card says it, without the card's own beginning."""
    loan, standing = _loan(facts), facts.standing
    assert standing
    queue = Theirs(loan.borrower)
    if standing.blocker is Blocker.AUTOMATED:
        return line("Not returned: ", blocked_because(loan, standing).cause)
    if not standing.raised and loan.lender:
        return line("Quota of ", queue, " is lowered; ", Theirs(loan.lender), " has not all of it back yet")
    if standing.blocker in {None, Blocker.WAITS}:
        return line("Quota of ", queue, " is being lowered")
    return line("Quota of ", queue, " is not lowered yet: ", blocked_because(loan, standing).cause)


def returned(facts: CardFacts) -> Message:
    """Devices were given back before the end: a part, or all."""
    loan, standing = _loan(facts), facts.standing
    last = facts.returned[-1]
    by = line("By ", Mention(last.who), " ", Moment(last.at))
    given = of_flavor(last.amount, loan.flavor)
    if loan.ended_at is None:
        kept = line(f" returned, {loan.amount:,} kept until ", Moment(loan.end), f" {_name(facts)}")
        return _message(Symbol.IN_FORCE, line(given, kept), [by], return_button(facts.request.id))
    soon = f", {early(loan.end - loan.ended_at)} early" if loan.ended_at < loan.end else ""
    lines = [by]
    if state_of(facts) is CardState.NOT_LOWERED:
        lines.append(_not_lowered(facts))
    elif standing and runs_above(loan, standing):
        lines += _runs_on(facts, loan, standing)
    elif standing:
        lines.append(_sentences(again_line(loan, standing), "Nothing runs above it"))
    return _message(Symbol.OVER, line(given, f" returned {_name(facts)}{soon}"), lines)


def _lender(facts: CardFacts) -> str:
    return _loan(facts).lender or _loan(facts).borrower


def _show(facts: CardFacts) -> dict[str, object]:
    return button("Show", Action.SHOW, str(facts.request.id))


def lent(facts: CardFacts) -> Message:
    """To the lender's leads: quota of theirs is lowered for a loan."""
    loan, lender = _loan(facts), Theirs(_lender(facts))
    to: tuple[Part | Line, ...] = (" to ", Theirs(loan.borrower), " until ", Moment(loan.end))
    first = line(lender, " lends ", _amount(facts), *to)
    numbers = lender_move(facts.standing, facts.standing.lowered) if facts.standing else ()
    who = line(f"{format_request_id(facts.request.id)}, ", Mention(facts.requester))
    buttons = [] if loan.ended_at is not None else [ask_back_button(loan.id)]
    return _message(Symbol.WAITS, first, [line(who, numbers)], _show(facts), *buttons)


def back(facts: CardFacts) -> Message:
    """To the lender's leads: the quota is theirs again, and who still holds the devices."""
    loan, standing = _loan(facts), facts.standing
    first = line(_amount(facts), " of quota are back with ", Theirs(_lender(facts)))
    return _message(Symbol.OVER, first, [_still_held(facts, loan, standing)], _show(facts))


def _still_held(facts: CardFacts, loan: Loan, standing: LoanStanding | None) -> Line:
    borrower = Theirs(loan.borrower)
    if standing is None:
        return line("Who holds the devices is not known: no live figures")
    above = runs_above(loan, standing)
    if not above:
        return line("Nothing of ", borrower, " runs above its quota")
    use = f"{devices(above, facts.unit)} {'is' if above == 1 else 'are'} still in use by "
    if standing.taken_back_by_kueue:
        return line(use, borrower, "; Kueue reclaims them when your work needs them")
    return line(use, borrower, "; your queue is not set to reclaim: they stay until the work ends")


def lender_waits(facts: CardFacts) -> Message:
    """To the lender's leads: the loan is over and their quota is not back yet, with the reason."""
    loan, standing = _loan(facts), facts.standing
    first = line(_amount(facts), " of quota are not back with ", Theirs(_lender(facts)), f" yet {_name(facts)}")
    why, after = line("The borrower's quota is not lowered yet"), "It comes back by itself after that"
    if standing and standing.blocker not in {None, Blocker.WAITS}:
        why, after = capital(blocked_because(loan, standing).cause), f"{after}. The admins know"
    return _message(Symbol.WAITS, first, [why, line(after)], _show(facts))
