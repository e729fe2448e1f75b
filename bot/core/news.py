"""Whether the picture got worse between a card and the click on it. Only worse news asks again; better is just shown.

Used by flows/record_decision with the impact that the card showed and one assessed at the click.
"""

from dataclasses import dataclass

from bot.core.impact import AtRisk, Impact, Move
from bot.core.loans import LoanKind


@dataclass(frozen=True, slots=True)
class WorseNews:
    """What an approver must see before approving. `lines` has all of it in words."""

    free: tuple[int, int] | None
    """Free then and now, if it fell below what is asked."""
    at_risk: tuple[AtRisk, ...]
    """Workloads that would become preemptible and were not on the card."""
    other: tuple[str, ...]
    """The rest, each a full line."""

    @property
    def lines(self) -> tuple[str, ...]:
        """One line per piece of news."""
        free = (f"Free: {self.free[0]:,} -> {self.free[1]:,}",) if self.free else ()
        named = ", ".join(f"{one.name} ({one.amount:,})" for one in self.at_risk)
        return (*free, *((f"Becomes preemptible: {named}",) if named else ()), *self.other)


def worse(shown: Impact, now: Impact) -> WorseNews | None:
    """What got worse since the card was shown; None if nothing did. Both are of the same request."""
    fell = shown.free >= now.amount > now.free and now.kind is not LoanKind.EXTRA
    free = (shown.free, now.free) if fell else None
    known = {one.name for one in shown.at_risk}
    at_risk = tuple(one for one in now.at_risk if one.name not in known)
    other = (
        *_numbers(shown, now),
        *_promises(shown, now),
        *_preemptible(shown, now, at_risk),
        *_queues(shown, now),
    )
    return WorseNews(free, at_risk, other) if free or at_risk or other else None


def _numbers(shown: Impact, now: Impact) -> tuple[str, ...]:
    """Quota that changed under the request: it would lead to other numbers than those on the card."""
    field = "borrowingLimit" if now.kind is LoanKind.BORROW else "nominalQuota"
    lines = [*_moved(shown.borrower, now.borrower, field)]
    if shown.lender is not None and now.lender is not None:
        lines += _moved(shown.lender, now.lender, "nominalQuota")
        if _short(now.lender) and not _short(shown.lender):
            lines.append(f"{now.lender.queue} has {now.lender.before or 0:,}, not {now.amount:,} to lend")
    if shown.cohort != now.cohort:
        lines.append(f"{now.borrower.queue} is in {now.cohort or 'no cohort'} now, was in {shown.cohort or 'none'}")
    return tuple(lines)


def _promises(shown: Impact, now: Impact) -> tuple[str, ...]:
    """More is promised beyond what the nodes have than was seen; or what they have is not known any more."""
    then, found = shown.overcommit, now.overcommit
    if found is None or not found.needs_tick:
        return ()
    if found.capacity is None:
        known = then is None or then.capacity is not None
        return (f"What the nodes have is not known now: {found.why}",) if known else ()
    if then is not None and then.capacity is not None and then.over >= found.over:
        return ()
    return (found.in_words(now.flavor),)


def _moved(shown: Move, now: Move, field: str) -> tuple[str, ...]:
    """Loans that came or went meanwhile are no news: only a base that somebody changed leads elsewhere."""
    before, after = _base(shown), _base(now)
    return () if before == after else (f"{now.queue} {field}: {_set(before)} -> {_set(after)}",)


def _base(move: Move) -> int | None:
    return move.before if move.base is None else move.base


def _set(value: int | None) -> str:
    return "not set" if value is None else f"{value:,}"


def _short(lender: Move) -> bool:
    return lender.after is not None and lender.after < 0


def _preemptible(shown: Impact, now: Impact, named: tuple[AtRisk, ...]) -> tuple[str, ...]:
    lines = []
    if now.preemptible > shown.preemptible and not named:
        lines.append(f"Preemptible: {shown.preemptible:,} -> {now.preemptible:,}")
    if now.borrowed_is_reclaimable and not shown.borrowed_is_reclaimable:
        lines.append("Kueue may reclaim what is borrowed: another queue is set to now")
    return tuple(lines)


def _queues(shown: Impact, now: Impact) -> tuple[str, ...]:
    stopped = [f"{name} is stopped: nothing is admitted now" for name in now.stopped if name not in shown.stopped]
    managed = [
        f"{name} is managed by {tool} now" for name, tool in now.managed_by if (name, tool) not in shown.managed_by
    ]
    return (*stopped, *managed)
