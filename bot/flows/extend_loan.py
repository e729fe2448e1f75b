"""Somebody asks for a loan to end later: what that would be, the policy's word on it, and its card. Called by chat.

An extension is a request of its own, with approvals and a card like any other. Until it is approved the loan ends as it
was to end. Nothing is asked of the cluster: the quota stays where it is, only for longer.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.core.errors import Refused
from bot.core.loans import Loan
from bot.core.people import Person
from bot.core.requests import Ask
from bot.flows.audited import refusals_audited
from bot.flows.extend_after_end import AfterEnd, ask_after_end, evicted_after_end
from bot.flows.gather import check_theirs, person_of, request_of
from bot.flows.grant_extension import extendable
from bot.flows.series import loan_meant
from bot.flows.submit_request import Asked, Submitted, stored_from, submit
from bot.flows.world import World


@dataclass(frozen=True, slots=True)
class MoreTime:
    """What somebody asks for. Exactly one of `by` and `until` is set."""

    number: int
    """Of the loan."""
    by: timedelta | None = None
    until: datetime | None = None
    reason: str = ""
    """Empty: the reason of the loan."""


def extend_loan(world: World, wish: MoreTime, user: str, origin: str, arrival: str) -> Submitted:
    """`origin` makes it unique, `arrival` is the inbox key. Raises Refused; both are in the audit."""
    stored = stored_from(world, origin)
    if stored is not None:
        return Submitted(stored)
    with refusals_audited(world, user, "extend", f"Q-{wish.number}"):
        wish = replace(wish, number=loan_meant(world, wish.number))
        person = person_of(world, user)
        if evicted_after_end(world, wish.number) is not None:
            return ask_after_end(
                world, AfterEnd(wish.number, wish.by, wish.until, wish.reason), person, origin, arrival
            )
        ask, now = _ask(world, wish, person), world.clock()
        asked = Asked(
            ask=ask,
            person=person,
            policy=world.policies.policy,
            picture=None,  # more time moves no quota
            overcommit=None,
            notes=(),
            origin=origin,
            now=now,
            extends=wish.number,
        )
        return submit(world, asked, arrival)


def loan_to_extend(world: World, number: int) -> Loan:
    """Before it is asked how much longer. Raises Refused."""
    number = loan_meant(world, number)
    ended = evicted_after_end(world, number)
    if ended is not None:
        return ended
    with world.store.read() as uow:
        return extendable(uow, number, world.clock())


def _ask(world: World, wish: MoreTime, person: Person) -> Ask:
    """The loan's own quota, from its end on. Raises Refused if it is not theirs to extend, or not possible."""
    first = request_of(world, wish.number)
    check_theirs(world, person, first)
    loan = loan_to_extend(world, wish.number)
    return Ask(
        cluster=loan.cluster,
        team=first.ask.team,
        queue=loan.borrower,
        flavor=loan.flavor,
        resource=loan.resource,
        amount=loan.amount,
        kind=loan.kind,
        lender=loan.lender,
        start=loan.end,
        duration=None,
        until=_until(loan, wish),
        reason=wish.reason if wish.reason.strip() else first.ask.reason,
        requester=person.id,
    )


def _until(loan: Loan, wish: MoreTime) -> datetime:
    until = wish.until if wish.by is None else loan.end + wish.by
    if until is None or until <= loan.end:
        raise Refused(f"Q-{loan.id} does not end before that: say a later time, like extend Q-{loan.id} by 2d.")
    return until
