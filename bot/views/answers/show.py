"""The answer to `show QUEUE`: who uses, lends and borrows what, and how much the queue can really get."""

from dataclasses import dataclass
from datetime import datetime

from bot.core.kueue import QueueSnapshot
from bot.core.messages import Message
from bot.core.pause import Pause
from bot.core.wording.request_ids import format_request_id
from bot.views.amounts import GPU, Unit, counted, devices, number, of_flavor, up_to
from bot.views.ids import NEW, Action
from bot.views.kit import actions, button, context, line, message, rich
from bot.views.parts import Clock, Code, Line, Moment, Reason, Theirs
from bot.views.pause import paused_line


@dataclass(frozen=True, slots=True)
class LoanPart:
    """One loan's part in a queue's numbers."""

    id: int
    amount: int
    """Signed: what it adds to this queue; negative where this queue lends."""
    other: str | None
    """The other queue; None for a borrow."""
    end: datetime
    in_force: bool = True


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """A request for the queue that waits."""

    id: int
    amount: int
    given: int
    needed: int


@dataclass(frozen=True, slots=True)
class FlavorFigures:
    """One flavor of the queue, in whole devices."""

    flavor: str
    nominal: int
    base: int
    """Quota without loans."""
    reserved: int
    borrowing_limit: int | None
    lending_limit: int | None
    waiting: int | None
    """Devices that waiting workloads ask for; None if that is not known."""
    most: int | None
    """The most the queue can ever get, with all it may borrow; None if that is not known."""
    free: int | None = None
    """Free by quota in the cohort."""
    unit: Unit = GPU
    loans: tuple[LoanPart, ...] = ()
    requests: tuple[OpenRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class ShowFacts:
    """One queue as it is now."""

    queue: QueueSnapshot
    flavors: tuple[FlavorFigures, ...]
    read_at: datetime
    fair_sharing: bool = False
    """Whether Kueue's Fair Sharing is on, where known."""
    may_request: bool = True
    waiting_unknown: str | None = None
    """Why it is not known what the waiting workloads ask for: a clause such as "the bot may not list workloads"."""
    pause: Pause | None = None
    in_git: bool = False
    """The bot does not write it."""
    proposed: tuple[tuple[str, str, str], ...] = ()
    """(flavor, number now, number proposed), our words for unset; for a borrowingLimit the flavor says so."""


_MOST_LOANS, _MOST_FLAVORS = 5, 4
_NEVER = "Never"


def show(facts: ShowFacts) -> Message:
    """Line 1 is the queue and its number; one block of lines per flavor."""
    lines: list[Line] = []
    for one in facts.flavors[:_MOST_FLAVORS]:
        lines += _flavor(facts, one)
    if len(facts.flavors) > _MOST_FLAVORS:
        rest = [line(Theirs(one.flavor)) for one in facts.flavors[_MOST_FLAVORS:]]
        lines.append(line("Name one of the others to see it: ", up_to(rest)))
    if not lines:
        lines = [line("No accelerators listed")]
    lines = [line(Theirs(facts.queue.name), ": ", lines[0]), *lines[1:], *_queue(facts)]
    if facts.pause:
        lines.append(paused_line(facts.pause))
    request = (button("Request", Action.OPEN_REQUEST, NEW),) if facts.may_request else ()
    blocks = (rich(*lines, bold_first=True), context("As of ", Clock(facts.read_at)), *actions(*request))
    return message(lines[0], *blocks)


def _flavor(facts: ShowFacts, one: FlavorFigures) -> list[Line]:
    borrowed = max(0, one.reserved - one.nominal)
    lent = f", {borrowed:,} of them borrowed" if borrowed else ""
    use = line(f"{one.reserved:,} of ", of_flavor(one.nominal, one.flavor), f" reserved{lent}")
    return [
        use,
        _base(one),
        *([_borrows(one, borrowed)] if facts.queue.cohort else [line("In no cohort: borrows nothing, lends nothing")]),
        _waits(facts, one),
        *_loans(one),
        *_requests(one),
    ]


def _base(one: FlavorFigures) -> Line:
    on_loan = one.nominal - one.base
    sign, word = ("+", "on loan") if on_loan >= 0 else ("-", "lent by the bot")
    return line(f"Quota {one.nominal:,} = {one.base:,} base {sign} {abs(on_loan):,} {word}")


def _borrows(one: FlavorFigures, borrowed: int) -> Line:
    limit = Code("borrowingLimit")
    may: Line = line("May borrow without a limit (no ", limit, f"), uses {borrowed:,}")
    if one.borrowing_limit is not None:
        may = line(f"May borrow {one.borrowing_limit:,} (", limit, f"), uses {borrowed:,}")
    if one.lending_limit is None:
        return line(may, "; lends what is unused")
    return line(may, f"; lends at most {one.lending_limit:,} (", Code("lendingLimit"), ")")


def _waits(facts: ShowFacts, one: FlavorFigures) -> Line:
    waiting = "nothing"
    if one.waiting or facts.queue.pending_workloads:
        asked = f", {devices(one.waiting, one.unit)}" if one.waiting else ""
        asked = f", {one.unit.many} not known" if one.waiting is None else asked
        waiting = counted(facts.queue.pending_workloads, "workload") + asked
    free = f". Free by quota at this moment: {one.free:,}" if one.free is not None else ""
    most = f". Most it can ever get: {number(one.most)}" if one.most is not None else ""
    return line(f"Waiting: {waiting}{free}{most}")


def _loans(one: FlavorFigures) -> list[Line]:
    shown = [_loan(loan) for loan in one.loans[:_MOST_LOANS]]
    more = len(one.loans) - _MOST_LOANS
    return [*shown, line(f"and {more:,} more: /gpu-quota list")] if more > 0 else shown


def _loan(loan: LoanPart) -> Line:
    name = format_request_id(loan.id)
    state = "" if loan.in_force else ", not in force"
    ends = line(", ends ", Moment(loan.end), state)
    if loan.other is None:
        return line(f"{name} lets it borrow {loan.amount:,} more", ends)
    if loan.amount < 0:
        return line(f"{name} lends {-loan.amount:,} to ", Theirs(loan.other), ends)
    return line(f"{name} brings {loan.amount:,} from ", Theirs(loan.other), ends)


def _requests(one: FlavorFigures) -> list[Line]:
    if not one.requests:
        return []
    asked = [
        line(f"{format_request_id(each.id)} ({each.amount:,}, waiting {each.given:,} of {each.needed:,})")
        for each in one.requests
    ]
    return [line("Requests: ", up_to(asked, _MOST_LOANS))]


def _queue(facts: ShowFacts) -> list[Line]:
    queue = facts.queue
    stop = "none" if queue.stop_policy == "None" else queue.stop_policy
    reclaims = queue.preemption.reclaim_within_cohort
    lines = [
        line(
            "Stop policy: ", Theirs(stop), ". Reclaims from others: ", "no" if reclaims == _NEVER else Theirs(reclaims)
        )
    ]
    if queue.fair_weight is not None:
        off = "" if facts.fair_sharing else " (counts only if Fair Sharing is on)"
        lines.append(line("Fair sharing weight: ", Theirs(queue.fair_weight), off))
    if not queue.active:
        lines.append(line("Not active: Kueue admits nothing here now"))
    if facts.waiting_unknown:
        lines.append(line("What waits is not known: ", Reason(facts.waiting_unknown)))
    if facts.in_git:
        lines.append(line("Written in Git: the bot proposes changes, and sees when they are merged"))
    lines += [
        line("Proposed, not merged yet: ", Theirs(flavor), f" {was} -> {will}") for flavor, was, will in facts.proposed
    ]
    if queue.managed_by:
        lines.append(line("Managed by ", Theirs(queue.managed_by)))
    return lines
