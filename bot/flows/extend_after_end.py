"""More time for a loan that is over, while the eviction of its work is announced: a request of its own for the same.

Called by flows/extend_loan. The row of the eviction knows which requests these are: once one of them is in force there
is room again, and what was evicted meanwhile is set active again (flows/evict_work).
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.core.drafts import Draft, Question
from bot.core.errors import Refused
from bot.core.evictions import Eviction, EvictionState
from bot.core.loans import Loan
from bot.core.people import Person
from bot.core.requests import QuotaRequest
from bot.flows.eviction_facts import extension_of
from bot.flows.gather import check_theirs, request_of
from bot.flows.submit_request import Submitted, submit_request
from bot.flows.tell_evictions import tell_changed
from bot.flows.world import World
from bot.ports.store import UnitOfWork


@dataclass(frozen=True, slots=True)
class AfterEnd:
    """What somebody asks for. Exactly one of `by` and `until` is set."""

    number: int
    """Of the loan."""
    by: timedelta | None
    until: datetime | None
    reason: str


def evicted_after_end(world: World, number: int) -> Loan | None:
    """The loan, if it is over and its work is to be evicted and still can be saved; else None."""
    with world.store.read() as uow:
        return uow.loans.get(number) if _announced(uow, number, world.clock()) else None


def ask_after_end(world: World, wish: AfterEnd, person: Person, origin: str, arrival: str) -> Submitted:
    """The request for the same quota again, from its approval on. Raises Refused."""
    first = request_of(world, wish.number)
    check_theirs(world, person, first)
    draft = _draft(first, _remember(world, wish, origin), wish, person)
    submitted = submit_request(world, draft, origin, arrival)
    if isinstance(submitted, Question):
        raise Refused(submitted.sentence)
    with world.store.begin() as uow:
        eviction = uow.evictions.get(wish.number)
        if eviction is not None:
            tell_changed(uow, eviction, world.clock())
        uow.commit()
    world.wake_delivery()
    return submitted


def _announced(uow: UnitOfWork, number: int, now: datetime) -> Eviction | None:
    found = uow.evictions.get(number)
    announced = found is not None and found.state is EvictionState.ANNOUNCED
    return found if announced and found is not None and found.due is not None and found.due > now else None


def _remember(world: World, wish: AfterEnd, origin: str) -> Loan:
    """Before the request is there: a kill between the two must not lose what it is for. Raises Refused, Stale."""
    with world.store.begin() as uow:
        found, loan = _announced(uow, wish.number, world.clock()), uow.loans.get(wish.number)
        if found is None or loan is None:
            raise Refused(f"Q-{wish.number} is over already. To get it again make a new request.")
        waiting = extension_of(uow, found)
        if waiting is not None:
            raise Refused(f"{waiting.request.name} asks for that already. Nothing changed.")
        if origin not in found.extensions:
            uow.evictions.update(replace(found, extensions=(*found.extensions, origin)))
            uow.commit()
    return loan


def _draft(first: QuotaRequest, loan: Loan, wish: AfterEnd, person: Person) -> Draft:
    return Draft(
        requester=person.id,
        cluster=loan.cluster,
        team=first.ask.team,
        queue=loan.borrower,
        flavor=loan.flavor,
        resource=loan.resource,
        amount=loan.amount,
        kind=loan.kind,
        lender=loan.lender,
        duration=wish.by,
        until=wish.until,
        reason=wish.reason if wish.reason.strip() else first.ask.reason,
    )
