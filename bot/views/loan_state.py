"""How a request and its loan stand: which state a card shows, and the words of that state.

`state_of` decides, `told` says it: symbol, line 2 and the lines that come with it. What a loan is called follows from
the live numbers in its standing, never from its stored state alone. Used by request_card, direct and the answers.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum, auto

from bot.core.loans import Loan, LoanEnd, LoanState
from bot.core.requests import RequestState
from bot.core.standing import Blocker, LoanStanding
from bot.views.amounts import counted
from bot.views.beside import room_left_line, room_line
from bot.views.facts import CardFacts, Given, SeriesFacts
from bot.views.impact_lines import named_work
from bot.views.kit import Symbol, line
from bot.views.loan_words import (
    above_line,
    approved_by,
    blocked_because,
    early,
    extension_line,
    lasting,
    offer_lines,
    quota_line,
    quota_lowered_line,
    runs_above,
)
from bot.views.parts import Clock, Line, Mention, Moment, Reason, Theirs, named
from bot.views.series_words import to_come, which_time

_MOST_RETURNS = 3
"""Lines of partial returns on a card: the latest. The thread has all."""


class CardState(StrEnum):
    """The states a card can show."""

    WAITING = auto()
    CHECKING = auto()
    WORSE = auto()
    OFFERED = auto()
    """An approver offers other terms, and the requester has not answered."""
    DENIED = auto()
    WITHDRAWN = auto()
    LAPSED = auto()
    OBSERVED = auto()
    """Approved while the bot only observes."""
    EXTENDED = auto()
    """Of an extension: its loan ends later now."""
    STARTS_LATER = auto()
    STARTING = auto()
    """Approved, and the write is under way."""
    BLOCKED = auto()
    """Approved, and less than the amount is in the live numbers."""
    SUSPENDED = auto()
    IN_FORCE = auto()
    NOT_LOWERED = auto()
    """Over, and some of it is still in the live numbers."""
    ENDED = auto()
    RETURNED = auto()


@dataclass(frozen=True, slots=True)
class Told:
    """What stands below line 1 of a card."""

    symbol: Symbol
    state: Line
    """Line 2."""
    short: Line
    """The state in few words, for `text` and lists."""
    lines: tuple[Line, ...] = ()


_UNDECIDED = {
    RequestState.DENIED: CardState.DENIED,
    RequestState.WITHDRAWN: CardState.WITHDRAWN,
    RequestState.LAPSED: CardState.LAPSED,
}


def state_of(facts: CardFacts) -> CardState:
    """The one state that these facts amount to."""
    if facts.request.state is RequestState.WAITING:
        return _waiting_state(facts)
    if facts.request.state is not RequestState.APPROVED:
        return _UNDECIDED[facts.request.state]
    if facts.observe:
        return CardState.OBSERVED
    if facts.request.extends is not None:
        return CardState.EXTENDED
    if facts.loan is None:
        return CardState.STARTING
    return _loan_state(facts, facts.loan)


def _waiting_state(facts: CardFacts) -> CardState:
    if facts.checking:
        return CardState.CHECKING
    if facts.worse:
        return CardState.WORSE
    return CardState.OFFERED if facts.offered else CardState.WAITING


def is_over(loan: Loan) -> bool:
    """Whether a loan has stopped wanting its amount."""
    return loan.ended_at is not None or loan.state in {LoanState.RETURNING, LoanState.CLOSED}


def _loan_state(facts: CardFacts, loan: Loan) -> CardState:
    standing = facts.standing
    if is_over(loan):
        if standing is not None and (standing.raised or standing.lowered):
            return CardState.NOT_LOWERED
        return CardState.RETURNED if loan.end_reason is LoanEnd.RETURNED else CardState.ENDED
    if loan.suspended is not None:
        return CardState.SUSPENDED
    if loan.state is LoanState.SCHEDULED and facts.request.decided_at and loan.start > facts.request.decided_at:
        return CardState.STARTS_LATER
    return _running_state(loan, standing)


def _running_state(loan: Loan, standing: LoanStanding | None) -> CardState:
    certain = standing is None or standing.blocker is not Blocker.AUTOMATED
    if certain and (standing is None or standing.raised >= loan.amount):
        return CardState.IN_FORCE if loan.in_force_at else CardState.STARTING
    if standing is not None and standing.blocker not in {None, Blocker.WAITS}:
        return CardState.BLOCKED
    return CardState.STARTING


def told(facts: CardFacts) -> Told:
    """The words of the state that these facts amount to."""
    says = _TELLERS[state_of(facts)](facts)
    return _of_series(says, facts.loan, facts.series) if facts.loan and facts.series else says


def _of_series(says: Told, loan: Loan, series: SeriesFacts) -> Told:
    """Which of its times that is, and what is still to come."""
    which = f"{which_time(series)}: "
    more = to_come(series)
    if is_over(loan) or not more:
        return replace(says, state=line(which, says.state), short=line(which, says.short))
    return replace(says, state=line(which, says.state), short=line(which, says.short), lines=(more, *says.lines))


def waiting_count(facts: CardFacts) -> str:
    """How many of the approvals are there: "0 of 2 approvals"."""
    needed = sum(step.count for step in facts.steps)
    return f"{len(facts.approvals):,} of {counted(needed, 'approval')}"


def _waiting(facts: CardFacts) -> Told:
    count = waiting_count(facts)
    short = line(f"waiting, {count}")
    state = line(f"Waiting: {count}", _escalated(facts))
    return Told(Symbol.WAITS, state, short, tuple(_given(one) for one in facts.approvals))


def _escalated(facts: CardFacts) -> Line:
    """Who may decide too, since when and why."""
    also = facts.escalated
    if also is None:
        return ()
    who = also.group if also.group is not None else Theirs(also.label)
    return line(", since ", Clock(also.at), " also with ", who, f" ({also.why})")


def _given(one: Given) -> Line:
    notes = [word for word, said in (("lends", one.lends), ("self-approved", one.self_approved)) if said]
    return line(Mention(one.who), " approved ", Clock(one.at), f" ({', '.join(notes)})" if notes else "")


def _checking(facts: CardFacts) -> Told:
    assert facts.checking
    by = facts.checking
    state = line("Checking the cluster, pressed by ", named(by.who), " ", Clock(by.at))
    return Told(Symbol.WAITS, state, line("checking the cluster"))


def _worse(facts: CardFacts) -> Told:
    assert facts.worse
    worse = facts.worse
    lines: list[Line] = []
    if worse.free:
        lines.append(line(f"Free: {worse.free[0]:,} -> {worse.free[1]:,}"))
    if worse.at_risk:
        lines.append(line("Becomes preemptible: ", named_work(worse.at_risk)))
    lines += [line(Theirs(one, 150)) for one in worse.other]
    lines += offer_lines(facts)
    lines.append(line("Not approved yet; pressed by ", named(worse.pressed.who), " ", Clock(worse.pressed.at)))
    given = tuple(_given(one) for one in facts.approvals)
    state = line("Changed since ", Clock(worse.shown_at), ": look again")
    return Told(Symbol.LOOK, state, line("changed, look again"), (*lines, *given))


def _offered(facts: CardFacts) -> Told:
    given = tuple(_given(one) for one in facts.approvals)
    state, *why = offer_lines(facts)
    short = line("changed, waits for ", named(facts.requester))
    return Told(Symbol.WAITS, state, short, (*why, *given))


def _denied(facts: CardFacts) -> Told:
    request = facts.request
    why = line(": ", Reason(request.words)) if request.words else ()
    if rule := rule_of(facts):
        return Told(Symbol.DENIED, line("Denied by rule ", Theirs(rule), why), line("denied by rule ", Theirs(rule)))
    who = _by(facts)
    state = line("Denied", who, " ", _at(facts), why)
    return Told(Symbol.DENIED, state, line("denied", _by(facts, ping=False)))


def rule_of(facts: CardFacts) -> str | None:
    """Name of the policy rule that decided, if no person did."""
    by = facts.request.decided_by or ""
    return by.removeprefix("rule:") if by.startswith("rule:") else None


def _by(facts: CardFacts, *, ping: bool = True) -> Line:
    if facts.decider is None:
        return ()
    return line(" by ", Mention(facts.decider) if ping else named(facts.decider))


def _at(facts: CardFacts) -> Line:
    return line(Clock(facts.request.decided_at)) if facts.request.decided_at else ()


def _withdrawn(facts: CardFacts) -> Told:
    return Told(Symbol.OVER, line("Withdrawn", _by(facts), " ", _at(facts)), line("withdrawn"))


def _lapsed(facts: CardFacts) -> Told:
    request = facts.request
    if request.extends is not None and request.decided_at and request.decided_at < request.lapses_at:
        over = line("Lapsed ", Moment(request.decided_at), f": {request.subject} is over")
        return Told(Symbol.OVER, over, line("lapsed"))
    if request.words and request.decided_at:
        why = line("Lapsed ", Moment(request.decided_at), ": ", Theirs(request.words, 150), ". Nothing changed")
        return Told(Symbol.OVER, why, line("lapsed"))
    waited = lasting(request.lapses_at - request.created_at)
    state = line("Lapsed ", Moment(request.lapses_at), f": nobody decided in {waited}. Nothing changed")
    return Told(Symbol.OVER, state, line("lapsed"))


def _observed(facts: CardFacts) -> Told:
    words = "approved in observe mode: nothing was written"
    return Told(Symbol.IN_FORCE, line(words.capitalize()), line(words), approved_by(facts))


def _extended(facts: CardFacts) -> Told:
    assert facts.request.ask.until
    state = line("Extended until ", Moment(facts.request.ask.until))
    return Told(Symbol.IN_FORCE, state, line("extended"), approved_by(facts))


def _starts_later(facts: CardFacts) -> Told:
    assert facts.loan
    state = line("Approved, starts ", Moment(facts.loan.start), ", ends ", Moment(facts.loan.end))
    return Told(Symbol.WAITS, state, line("approved, starts later"), approved_by(facts))


def _starting(facts: CardFacts) -> Told:
    ends = line("; ends ", Moment(facts.loan.end)) if facts.loan else ()
    state = line("Approved ", _at(facts), ", being put in force", ends)
    return Told(Symbol.WAITS, state, line("approved, being put in force"), approved_by(facts))


def _blocked(facts: CardFacts) -> Told:
    assert facts.loan
    assert facts.standing
    loan, standing = facts.loan, facts.standing
    because = blocked_because(loan, standing, facts.last_try)
    state = line(_how_much(facts, loan, standing), because.cause)
    short = line("not in force" if not standing.raised else f"{standing.raised:,} of {loan.amount:,} in force")
    if standing.blocker is Blocker.PROPOSED:
        short = line(short, ": proposed, not merged yet")
    return Told(because.symbol, state, short, (*because.lines, *approved_by(facts)))


def _how_much(facts: CardFacts, loan: Loan, standing: LoanStanding) -> Line:
    """How much of it counts: none yet, none any more, or a part."""
    since = line(" since ", Clock(standing.since)) if standing.since and standing.blocker is Blocker.IN_QUESTION else ()
    if standing.raised >= loan.amount:  # in the number that is written, and Kueue counts another
        return line("May not be in force: ")
    if standing.raised:
        return line(f"Only {standing.raised:,} of {loan.amount:,} in force", since, ": ")
    if loan.in_force_at:
        return line("Not in force", since, ": ")
    return line("Approved ", _at(facts), ", not in force: ")


def _suspended(facts: CardFacts) -> Told:
    assert facts.loan
    why = Theirs(facts.loan.suspended or "", 150)
    lines = (line("Counts as not lent until it ends ", Moment(facts.loan.end)), line("Needed still: request again"))
    return Told(Symbol.LOOK, line("Suspended: ", why), line("suspended"), lines)


def _in_force(facts: CardFacts) -> Told:
    assert facts.loan
    loan, asked = facts.loan, facts.request.ask.amount
    ends = line(", ends ", Moment(loan.end))
    if loan.amount < asked:
        state = line(f"In force: {loan.amount:,} of {asked:,}", ends)
        short = line(f"{loan.amount:,} of {asked:,} in force")
    else:
        late = f", {lasting(facts.late.by)} late" if facts.late and facts.late.at < loan.end else ""
        state = line("In force since ", Clock(loan.in_force_at), late, ends) if loan.in_force_at else ends
        short = line("in force")
    back = tuple(
        line(f"{one.amount:,} returned by ", Mention(one.who), " ", Moment(one.at))
        for one in facts.returned[-_MOST_RETURNS:]
    )
    said = (*back, *extension_line(facts), *approved_by(facts), *quota_line(facts), *room_line(facts.standing))
    return Told(Symbol.IN_FORCE, state, short, said)


def _not_lowered(facts: CardFacts) -> Told:
    assert facts.loan
    assert facts.standing
    standing = facts.standing
    if standing.blocker is Blocker.AUTOMATED:
        because = blocked_because(facts.loan, standing)
        return Told(because.symbol, line(_over(facts), "; not returned: ", because.cause), line("ended, not returned"))
    if not standing.raised and standing.lender and standing.blocker is Blocker.PROPOSED:
        when = " back when that is merged in Git"
        gets = line("; quota is lowered, ", Theirs(standing.lender.queue), f" gets {standing.lowered:,}", when)
        return Told(Symbol.WAITS, line(_over(facts), gets), line("ended: proposed, not merged yet"))
    if not standing.raised and standing.lender:
        gets = line("; quota is lowered, ", Theirs(standing.lender.queue), f" gets {standing.lowered:,} back soon")
        return Told(Symbol.WAITS, line(_over(facts), gets), line("ended"))
    if standing.blocker in {None, Blocker.WAITS}:
        return Told(Symbol.WAITS, line(_over(facts), "; quota is being lowered"), line("ended"))
    if standing.blocker is Blocker.IN_QUESTION:
        left = f"{standing.borrower.after:,}" if standing.borrower.after is not None else "what it is"
        state = line(_over(facts), f"; quota left at {left}, because it is not clear what {left} means")
        return Told(Symbol.LOOK, state, line("ended, quota not lowered"))
    because = blocked_because(facts.loan, standing, facts.last_try)
    state = line(_over(facts), "; quota not lowered yet: ", because.cause)
    short = "ended: proposed, not merged yet" if standing.blocker is Blocker.PROPOSED else "ended, quota not lowered"
    return Told(because.symbol, state, line(short))


def _over(facts: CardFacts) -> Line:
    """How and when it was over: "Ended Sat 5 Dec 14:20", "Returned by @requester Thu 3 Dec 09:00, 53 h early"."""
    assert facts.loan
    loan = facts.loan
    at = loan.ended_at or loan.end
    if loan.end_reason is LoanEnd.RETURNED:
        if loan.in_force_at is None:
            return line("Withdrawn", _by(facts), " ", Moment(at))
        soon = f", {early(loan.end - at)} early" if at < loan.end else ""
        return line("Returned", _by(facts), " ", Moment(at), soon)
    who = _by(facts) if loan.end_reason is LoanEnd.ENDED_BY_ADMIN else ()
    if facts.late and facts.late.at >= at:
        return line("Ended", who, " ", Moment(facts.late.at), f", {lasting(facts.late.by)} late: {facts.late.why}")
    return line("Ended", who, " ", Moment(at))


def _ended(facts: CardFacts) -> Told:
    standing = facts.standing
    after: tuple[Line, ...] = ()
    if facts.clear_since:
        after = (line("Above quota: 0 since ", Clock(facts.clear_since)),)
    if facts.loan and standing is not None and runs_above(facts.loan, standing):
        state = line(_over(facts), ", quota lowered. ", above_line(facts.loan, standing, facts.unit))
    else:
        state = line(_over(facts), quota_lowered_line(facts))
    short = "returned" if facts.loan and facts.loan.end_reason is LoanEnd.RETURNED else "ended"
    return Told(Symbol.OVER, state, line(short), (*after, *room_left_line(facts.standing)))


_TELLERS: dict[CardState, Callable[[CardFacts], Told]] = {
    CardState.WAITING: _waiting,
    CardState.CHECKING: _checking,
    CardState.WORSE: _worse,
    CardState.OFFERED: _offered,
    CardState.DENIED: _denied,
    CardState.WITHDRAWN: _withdrawn,
    CardState.LAPSED: _lapsed,
    CardState.OBSERVED: _observed,
    CardState.EXTENDED: _extended,
    CardState.STARTS_LATER: _starts_later,
    CardState.STARTING: _starting,
    CardState.BLOCKED: _blocked,
    CardState.SUSPENDED: _suspended,
    CardState.IN_FORCE: _in_force,
    CardState.NOT_LOWERED: _not_lowered,
    CardState.ENDED: _ended,
    CardState.RETURNED: _ended,
}
