"""A lender asks for a loan back before its end: who may, and how often. Nothing is taken by it.

The borrower answers by returning quota or by keeping it; a day without an answer is said to the one who asked. Used by
flows/ask_back and flows/answer_ask_back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from bot.core.loans import Loan, LoanKind, LoanState
from bot.core.membership import OUTSIDER, Roles, lookup_failed
from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest

ANSWER_WITHIN: Final = timedelta(hours=24)
"""After that the one who asked hears that there was no answer, and a loan may be asked back again."""


class AskBackState(StrEnum):
    """What came of it."""

    OPEN = "open"
    """Waits for the borrower's answer."""
    KEPT = "kept"
    RETURNED = "returned"
    """All of it, or a part."""
    UNANSWERED = "unanswered"
    OVER = "over"
    """The loan ended without an answer."""


@dataclass(frozen=True, slots=True)
class AskBack:
    """One time that a loan was asked back."""

    id: int
    loan: int
    who: str
    """User id of the lender's lead."""
    at: datetime
    words: str = ""
    """Why, as they wrote it."""
    state: AskBackState = AskBackState.OPEN
    settled_by: str | None = None
    """User id; None: nobody yet, or time."""
    settled_at: datetime | None = None
    given: int | None = None
    """How many devices were returned in answer to it."""
    version: int = 0
    """For compare-and-set of the row."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, with what they are to the teams."""

    person: Person
    roles: Roles


def why_not(
    policy: Policy, asker: Asker, request: QuotaRequest, loan: Loan | None, before: Sequence[AskBack], now: datetime
) -> str | None:
    """Why this person may not ask for this loan back now; None if they may. `before` are the loan's, in order."""
    name = request.subject
    if not asker.person.full_member:
        return OUTSIDER
    if request.extends is not None:
        return f"That is more time for {name}. Ask for the loan itself: ask-back {name}"
    if loan is None:
        return f"There is no loan {name}."
    return _not_theirs(policy, asker, request, loan) or _not_now(loan, before, now)


def _not_theirs(policy: Policy, asker: Asker, request: QuotaRequest, loan: Loan) -> str | None:
    name, roles = request.subject, asker.roles
    if loan.kind is LoanKind.BORROW:
        return (
            f"Nobody lends {name}: it borrows what is free, and Kueue reclaims that where queues are set to. "
            f"{policy.approvals.admins} can end it."
        )
    if loan.lender is None:
        return f"Nobody lends {name}: it is extra quota. {policy.approvals.admins} can end it."
    if asker.person.id == request.ask.requester or request.ask.team in roles.leads:
        return f"{name} is your own team's loan: return {name} gives it back."
    team = policy.team_of(loan.cluster, loan.lender)
    if team is not None and team in roles.leads:
        return None
    if roles.unknown:
        return lookup_failed(roles.unknown)
    whose = f"the {team} lead" if team else "a lead of the lender"
    return f"Only {whose} can ask for {name} back. {policy.approvals.admins} can end it."


def _not_now(loan: Loan, before: Sequence[AskBack], now: datetime) -> str | None:
    if loan.state in {LoanState.RETURNING, LoanState.CLOSED} or loan.end <= now:
        return f"Q-{loan.id} is over already."
    last = before[-1] if before else None
    if last is None or last.at + ANSWER_WITHIN <= now:
        return None
    waits = "the answer is not there yet" if last.state is AskBackState.OPEN else f"it is {last.state.value}"
    hours = -(-(last.at + ANSWER_WITHIN - now) // timedelta(hours=1))
    return f"Q-{loan.id} was asked back already, and {waits}. Once in 24 h: again in {hours} h."
