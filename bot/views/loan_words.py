"""Sentences about a loan that more than one view says: what it moved, what blocks it, what runs on above quota.

Used by loan_state (for cards) and direct.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.core.durations import format_duration
from bot.core.impact import Move
from bot.core.loans import Loan, LoanKind
from bot.core.offers import Terms
from bot.core.requests import Ask, QuotaRequest
from bot.core.resource_quotas import is_resource_quota, kind_of
from bot.core.standing import Blocker, LoanStanding
from bot.views.amounts import Unit, devices, joined, number, of_flavor
from bot.views.facts import CardFacts
from bot.views.impact_lines import named_work
from bot.views.kit import Symbol, line
from bot.views.parts import VENDOR_LIMIT, Clock, Code, Line, Mention, Moment, Part, Reason, Theirs
from bot.views.series_words import how_often


def lasting(length: timedelta) -> str:
    """A length of time: "3 days", "53 h", "2 h 10 min"."""
    return format_duration(max(length, timedelta(0)))


def early(length: timedelta) -> str:
    """How much before its end: over a day in whole hours."""
    hour = timedelta(hours=1)
    return lasting(length if length < 24 * hour else length // hour * hour)


def what(ask: Ask) -> Line:
    """What was asked for: "8 a100 for vision"."""
    return line(of_flavor(ask.amount, ask.flavor), " for ", Theirs(ask.queue))


def how_long(ask: Ask | Terms) -> Line:
    """The asked length or end: "3 days", "until Fri 4 Dec 18:00"; of what repeats, how often and until when."""
    if isinstance(ask, Ask) and ask.series is not None:
        return how_often(ask.series)
    if ask.duration is not None:
        return line(lasting(ask.duration))
    assert ask.until
    return line("until ", Moment(ask.until))


def longer(request: QuotaRequest) -> str:
    """By how much, of an extension, to the minute: "2 days". (A chosen time has no seconds, the end of a loan has.)"""
    ask = request.ask
    assert ask.start
    assert ask.until
    minutes = round((ask.until - ask.start) / timedelta(minutes=1))
    return lasting(timedelta(minutes=max(1, minutes)))


def asked(request: QuotaRequest) -> Line:
    """What a request asks for: "8 a100 for vision", "+2 days for Q-142: 8 a100 for vision"."""
    if request.extends is None:
        return what(request.ask)
    return line(f"+{longer(request)} for {request.subject}: ", what(request.ask))


def extension_line(facts: CardFacts) -> tuple[Line, ...]:
    """On the loan's card, while one waits."""
    return (line(f"Extension by {longer(facts.extension)} is waiting"),) if facts.extension else ()


def offer_lines(facts: CardFacts) -> list[Line]:
    """On a card: what is offered and who must answer, then why; nothing if no offer is out."""
    if facts.offered is None:
        return []
    ask, offer = facts.request.ask, facts.offered.offer
    by = line("Changed by ", Mention(facts.offered.by), ": ", terms_line(ask.flavor, offer.terms))
    why = [line("Because: ", Reason(offer.words))] if offer.words else []
    return [line(by, ". Waiting for ", Mention(facts.requester)), *why]


def terms_line(flavor: str, terms: Terms) -> Line:
    """Terms in a clause: "4 a100, 2 days, transfer from nlp, starts Fri 4 Dec 18:00"."""
    lends = line(" from ", Theirs(terms.lender)) if terms.lender else ()
    starts = line(", starts ", Moment(terms.start)) if terms.start else ()
    return line(of_flavor(terms.amount, flavor), ", ", how_long(terms), f", {terms.kind.value}", lends, starts)


def approved_by(facts: CardFacts) -> tuple[Line, ...]:
    """Who approved: "Approved: @lead-nlp 14:12, @admin 14:20", or the rule."""
    by = facts.request.decided_by or ""
    if by.startswith("rule:"):
        return (line("Approved by rule ", Theirs(by.removeprefix("rule:"))),)
    given = [
        line(Mention(one.who), " ", Clock(one.at), " (self-approved)" if one.self_approved else "")
        for one in facts.approvals
    ]
    return (line("Approved: ", joined(given, last=", ")),) if given else ()


@dataclass(frozen=True, slots=True)
class Because:
    """Why a loan is not in the live numbers: a clause, and what comes of it."""

    symbol: Symbol
    cause: Line
    lines: tuple[Line, ...] = ()


def blocked_because(loan: Loan, standing: LoanStanding, last_try: datetime | None = None) -> Because:
    """The blocker in words; SUSPENDED, WAITS and none are states of their own."""
    since = line(" since ", Clock(standing.since)) if standing.since else ()
    match standing.blocker:
        case Blocker.API_DOWN:
            return _down(loan, last_try, line("the API server is not answering", since))
        case Blocker.KUEUE_DOWN:
            return _down(loan, last_try, line("Kueue's webhook is not answering", since))
        case Blocker.NO_RIGHT:
            name = standing.queue or loan.borrower
            cause = line(f"the bot may not write {kind_of(name)} ", Theirs(name))
            return Because(Symbol.LOOK, cause, _with_words(standing, line("Admins: allow patch on it")))
        case Blocker.CANNOT_READ:
            told = line("Admins see why in the platform channel")
            return Because(Symbol.LOOK, line("the bot cannot read the queues"), _with_words(standing, told))
        case Blocker.REFUSED:
            told = line("Admins see why in the platform channel")
            who = "the API server" if is_resource_quota(standing.queue or loan.borrower) else "Kueue"
            return Because(Symbol.LOOK, line(f"{who} refused the change"), _with_words(standing, told))
        case Blocker.AUTOMATED:
            queue = Theirs(standing.queue or loan.borrower)
            cause = line(queue, "'s quota is now written by Kueue itself (", Theirs(standing.words), ")")
            return Because(Symbol.LOOK, cause, (line("The bot writes nothing there until Kueue stops"),))
        case Blocker.PROPOSED:
            queue = Theirs(standing.queue or loan.borrower)
            cause = line("the change of ", queue, " is proposed, not merged in Git yet")
            where = line("The difference is in the platform channel; the bot sees when it is merged")
            return Because(Symbol.WAITS, cause, (where,))
        case Blocker.PAUSED:
            cause = line("quota changes are paused by ", Theirs(standing.words), since)
            return Because(Symbol.WAITS, cause, (line("Put in force when they go on; ends ", Moment(loan.end)),))
        case Blocker.SHORT:
            lender = Theirs(loan.lender or loan.borrower)
            follows = line("The rest follows by itself when ", lender, " has it")
            return Because(Symbol.LOOK, line(lender, " does not have that much for now"), (follows,))
        case _:
            return _in_question(loan, standing)


def _down(loan: Loan, last_try: datetime | None, cause: Line) -> Because:
    tried = line(". Last try ", Clock(last_try)) if last_try else ()
    when = line("Put in force when it is back; ends ", Moment(loan.end), " as approved", tried)
    return Because(Symbol.WAITS, cause, (when,))


def _with_words(standing: LoanStanding, told: Line) -> tuple[Line, ...]:
    return (line(Theirs(standing.words, VENDOR_LIMIT)), told) if standing.words else (told,)


def _in_question(loan: Loan, standing: LoanStanding) -> Because:
    """`standing.words` is the field manager that changed the number, empty if that is not known.

    The lender's number was changed if what it gave is gone from it; the bot then lowered the borrower by as much.
    """
    who: Part = Theirs(standing.words) if standing.words else "somebody"
    if loan.in_force_at is None:
        cause = line(who, " changed the quota outside the bot")
    elif standing.lender is not None and standing.lowered < loan.amount:
        lowered = line("; ", Theirs(loan.borrower), " was lowered with it")
        cause = line(_edited(who, standing.lender), lowered)
    else:
        cause = _edited(who, standing.borrower)
    stopped = line("The bot writes nothing here until an admin says what the number means. Not counted as lent")
    return Because(Symbol.LOOK, cause, (stopped,))


def _edited(who: Part, figure: Move) -> Line:
    """Who changed what: "argocd-controller set vision back to 16", "somebody changed nlp to 20"."""
    how = ("set ", " back to ") if figure.after == figure.before else ("changed ", " to ")
    return line(who, " ", how[0], Theirs(figure.queue), how[1], number(figure.after))


def quota_line(facts: CardFacts) -> tuple[Line, ...]:
    """What a loan in force moved, and what is free; nothing without live figures."""
    loan, standing = facts.loan, facts.standing
    if loan is None or standing is None or standing.borrower.after is None:
        return ()
    now = standing.borrower.after
    before = now - standing.raised
    queue = Theirs(standing.borrower.queue)
    if loan.kind is LoanKind.BORROW:
        free = _free(standing, f"{standing.free or 0:,} free by quota")
        return (line(queue, f" may borrow {now:,} (was {before:,}), if free", line(": ", free) if free else ()),)
    lent = lender_move(standing, standing.lowered)
    free = _free(standing, f"{devices(standing.free or 0, facts.unit)} free by quota")
    return (line(queue, f" {before:,} -> {now:,}", lent, line(". This is quota: ", free) if free else ()),)


def _free(standing: LoanStanding, words: str) -> Line:
    if standing.free is None or standing.read_at is None:
        return ()
    return line(words, " at this moment (", Clock(standing.read_at), ")")


def lender_move(standing: LoanStanding, lent: int) -> Line:
    """The lender's part, ", nlp 24 -> 16": its number before and after giving `lent` (negative: getting back)."""
    if standing.lender is None or standing.lender.after is None:
        return ()
    after = standing.lender.after
    return line(", ", Theirs(standing.lender.queue), f" {after + lent:,} -> {after:,}")


def quota_lowered_line(facts: CardFacts) -> Line:
    """What the end moved, ". vision 24 -> 16, nlp 16 -> 24. Nothing runs above quota"; as much of it as is known."""
    loan, standing = facts.loan, facts.standing
    if loan is None or standing is None or standing.borrower.after is None or loan.in_force_at is None:
        return ()
    now = standing.borrower.after
    clear = ". Nothing runs above quota"
    queue = Theirs(standing.borrower.queue)
    if loan.kind is LoanKind.BORROW:
        return line(". ", queue, f" may borrow {now:,} again (was {now + loan.amount:,})", clear)
    return line(". ", queue, f" {now + loan.amount:,} -> {now:,}", lender_move(standing, -loan.amount), clear)


def runs_above(loan: Loan, standing: LoanStanding) -> int:
    """Devices in use above what the borrower may use without the loan: what it may borrow anyway does not count."""
    allowed = (standing.borrower.after or 0) if loan.kind is LoanKind.BORROW else 0
    return max(0, standing.above - allowed)


def above_line(loan: Loan, standing: LoanStanding, unit: Unit, verb: str = "stay in use above it") -> Line:
    """Who runs above quota: "8 GPUs stay in use above it, likely resnet-sweep (8)"."""
    above = runs_above(loan, standing)
    likely = line(", likely ", named_work(standing.above_workloads)) if standing.above_workloads else ()
    first, _, rest = verb.partition(" ")
    return line(f"{devices(above, unit)} {first}{'s' if above == 1 else ''} {rest}", likely)


def again_line(loan: Loan, standing: LoanStanding) -> Line:
    """What the borrower's number is after the end: "Quota of vision is 16 again"; empty if it is not known."""
    now = standing.borrower.after
    if now is None:
        return ()
    queue = Theirs(standing.borrower.queue)
    if loan.kind is LoanKind.BORROW:
        return line(queue, f" may borrow {now:,} again (was {now + loan.amount:,})")
    return line("Quota of ", queue, f" is {now:,} again")


def takes_back_line(loan: Loan, standing: LoanStanding) -> Line:
    """Who gets what runs on above quota, and whether Kueue does that at all."""
    if not standing.taken_back_by_kueue and standing.in_no_cohort:
        return line(Theirs(loan.borrower), " is in no cohort: nobody takes them back, they stay until the work ends")
    if not standing.taken_back_by_kueue:
        who: Line = (Theirs(loan.lender), " is not") if loan.lender else ("no queue here is",)
        never = line(" set to reclaim (", Code("reclaimWithinCohort: Never"), "): they stay until the work ends")
        return capital(line(who, never))
    if loan.lender is None:
        return line("Kueue takes them back when other queues need them and their policy allows")
    return line("Kueue takes them back when ", Theirs(loan.lender), " needs them and its policy allows")


def evicts_line(grace: timedelta) -> Line:
    """What becomes of work above quota where policy has it evicted."""
    return line(f"After a grace of {lasting(grace)} the bot evicts it: you hear which work, and when")


def capital(parts: Line) -> Line:
    """A clause as a sentence: its first letter becomes a capital if it is ours."""
    first = parts[0] if parts else ""
    return (first[:1].upper() + first[1:], *parts[1:]) if isinstance(first, str) else parts
