"""What a loan means now, as the lines of a waiting card, of its details and of the form.

Every figure comes from core.impact; nothing is computed here but differences.
"""

from collections.abc import Collection, Iterable
from datetime import datetime

from bot.core.impact import AtRisk, Impact, Move
from bot.core.loans import LoanKind
from bot.core.overcommit import Overcommit
from bot.views.amounts import Unit, devices, number, up_to
from bot.views.kit import line
from bot.views.parts import Clock, Code, Line, Theirs

MOST_NAMED = 3
"""Workloads named on a card; the details name all."""


def impact_lines(impact: Impact, unit: Unit, *, most_named: int = MOST_NAMED) -> list[Line]:
    """One line per thing that an approver should know, the most important first."""
    if impact.kind is LoanKind.BORROW:
        lines = [_free(impact), _borrow(impact), _nobody_at_risk(impact, unit, most_named)]
    elif impact.kind is LoanKind.EXTRA:
        promised = promised_line(impact.overcommit, impact.flavor) if impact.overcommit else ()
        lines = [_moves(impact), promised]
    else:
        lines = [_moves(impact), _lender_work(impact, unit, most_named), _room(impact)]
    return [one for one in (*lines, *_limits(impact), *_stopped(impact), *_workers(impact), *_managed(impact)) if one]


def no_figures(since: datetime | None) -> Line:
    """Instead of the lines when the cluster cannot be read."""
    return line("No live figures since ", Clock(since)) if since else line("No live figures")


def named_work(work: tuple[AtRisk, ...], most_named: int = MOST_NAMED) -> Line:
    """Workloads with their amounts: "bert-large (4), eval-7 (2) and 3 more"."""
    return up_to([line(Theirs(one.name), f" ({one.amount:,})") for one in work], most_named)


def moved(move: Move) -> Line:
    """A number of a queue before and after: "vision 16 -> 24"."""
    return line(Theirs(move.queue), f" {number(move.before)} -> {number(move.after)}")


def _where(impact: Impact) -> Line:
    return line(Theirs(impact.cohort or impact.borrower.queue))


def _free(impact: Impact) -> Line:
    short = f", not {impact.amount:,}" if impact.free < impact.amount else ""
    read = (" at this moment", short, " (read ", Clock(impact.read_at), ")")
    return line(f"{impact.free:,} free by quota in ", _where(impact), *read)


def _borrow(impact: Impact) -> Line:
    limit = impact.borrower
    before = f" instead of {number(limit.before)}" if limit.before is not None else ""
    says = line(Theirs(limit.queue), f": may borrow {number(limit.after)}{before}; ")
    if impact.borrowed_is_reclaimable:
        return line(says, "Kueue may reclaim it")
    return line(says, "no queue here is set to reclaim: borrowed GPUs stay until the work ends")


def _nobody_at_risk(impact: Impact, unit: Unit, most_named: int) -> Line:
    if not impact.preemptible:
        return line("No running workload becomes preemptible")
    return line(_become(impact.preemptible, unit), _likely(impact, most_named))


def _become(amount: int, unit: Unit) -> str:
    return f"{devices(amount, unit)} {'becomes' if amount == 1 else 'become'} preemptible"


def _likely(impact: Impact, most_named: int) -> Line:
    return line(", likely ", named_work(impact.at_risk, most_named)) if impact.at_risk else ()


def _moves(impact: Impact) -> Line:
    pool = line("; ", _where(impact), f" stays {number(impact.cohort_nominal)}") if impact.cohort else ()
    if impact.lender is None:
        return line(moved(impact.borrower), "; nobody lends")
    lends = line(Theirs(impact.lender.queue), f" lends {impact.amount:,}: ")
    return line(
        lends, f"{number(impact.lender.before)} -> {number(impact.lender.after)}; ", moved(impact.borrower), pool
    )


def promised_line(found: Overcommit, flavor: str) -> Line:
    """What is promised with an extra loan: "With it 72 of 60 a100 promised: 12 more than the nodes have"."""
    what = Theirs(flavor)
    if found.capacity is None:
        return line(
            f"With it {found.promised:,} ", what, " promised; what the nodes have is not known: ", Theirs(found.why)
        )
    numbers = line(f"With it {found.promised:,} of {found.capacity:,} ", what, " promised")
    aside = f" ({found.aside:,} on nodes that are out of service do not count)" if found.aside else ""
    if not found.over:
        return line(numbers, ": the nodes have them", aside)
    pending = ". Jobs may be admitted and then sit Pending"
    return line(numbers, f": {found.over:,} more than the nodes have", aside, pending)


def _lender_work(impact: Impact, unit: Unit, most_named: int) -> Line:
    if impact.lender is None:
        return ()
    who = Theirs(impact.lender.queue)
    risk: Line = ("nothing of it becomes preemptible",)
    if impact.preemptible:
        risk = line(_become(impact.preemptible, unit), _likely(impact, most_named))
    waits = line("; ", who, f" has {devices(impact.lender_waiting, unit)} waiting") if impact.lender_waiting else ()
    return line(who, f" uses {impact.lender_reserved:,}: ", risk, waits)


def _room(impact: Impact) -> Line:
    """Whether the borrower's work finds room at once, and what happens if not."""
    free = f"{impact.free:,} free by quota at this moment"
    missing = impact.amount - impact.free
    if missing <= 0:
        return line(f"{free} (read ", Clock(impact.read_at), ")")
    who = Theirs(impact.borrower.queue)
    taken = min(missing, impact.preemptible)
    if impact.borrower_reclaims and taken:
        return line(f"{free}: ", who, f" would reclaim {taken:,}, or wait")
    if impact.lender is None:
        return line(f"{free}: ", who, " waits until work ends")
    return line(f"{free}: ", who, " waits until ", Theirs(impact.lender.queue), "'s work ends")


def _limits(impact: Impact) -> list[Line]:
    lines: list[Line] = []
    if low := impact.lender_lending_limit:
        lines.append(_follows(low, "lowered"))
    if high := impact.borrower_lending_limit:
        lines.append(_follows(high, "raised"))
    return lines


def _follows(limit: Move, how: str) -> Line:
    numbers = f" {number(limit.before)} is {how} to {number(limit.after)} with it"
    return line(Theirs(limit.queue), "'s ", Code("lendingLimit"), numbers)


def _stopped(impact: Impact) -> list[Line]:
    return [line(Theirs(queue), " is stopped: nothing is admitted now") for queue in impact.stopped]


def _workers(impact: Impact) -> list[Line]:
    if impact.workers is None:
        return []
    queue = Theirs(impact.workers.queue)
    if impact.workers.unknown:
        return [line("Whether worker clusters limit ", queue, " too is not known: ", Theirs(impact.workers.unknown))]
    return [line(queue, "'s work runs on worker clusters (MultiKueue): their quota limits it too")]


def _managed(impact: Impact) -> list[Line]:
    return managed_lines(impact.managed_by, impact.in_git)


def managed_lines(managed_by: Iterable[tuple[str, str]], in_git: Collection[str]) -> list[Line]:
    """Who else writes the queues of a loan, and what an approval does then."""
    warnings = [managed_warning(queue, tool) for queue, tool in managed_by if queue not in in_git]
    return [*(in_git_line(queue) for queue in in_git), *warnings]


def in_git_line(queue: str) -> Line:
    """Before an approval, of a queue that the bot does not write."""
    return line(
        *(Theirs(queue), " is written in Git: after approval the bot posts the change there is to make, "),
        "and the loan is in force when that is merged",
    )


def managed_warning(queue: str, tool: str) -> Line:
    """The GitOps warning, before an approval."""
    return line(
        *("Warning: ", Theirs(queue), " is managed by ", Theirs(tool), ": it may set the quota back within minutes. "),
        *("Tell it to ignore ", Code("resourceGroups"), " (how: Details), or let the bot propose changes for Git: "),
        *("admins set ", Code("write: propose"), " for it in the policy."),
    )
