"""What a reminder says at its delivery: the loans whose end is still to come. Called by flows/render_notices."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from bot.core.evictions import grace_of
from bot.core.impact import AtRisk
from bot.core.loans import Loan
from bot.core.policy import Policy
from bot.core.reminders import is_reminded
from bot.core.requests import RequestState
from bot.flows.card_facts import unit_of
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.reminders import Above, Ending


def endings(world: World, facts: Mapping[str, Any]) -> Sequence[Ending]:
    """`facts` are those of a notice that flows/remind_loans owes. Empty for one that only marks what another says."""
    now, policy = world.clock(), world.policies.policy
    found: list[Ending] = []
    with world.store.read() as uow:
        for known in facts.get("loans", ()):
            loan = uow.loans.get(known["request"])
            as_told = loan is not None and is_reminded(loan) and loan.end == datetime.fromisoformat(known["end"])
            if loan is not None and as_told and loan.end > now:
                unit = unit_of(policy, loan.cluster, loan.resource)
                found.append(Ending(loan, _above(known), unit, _grace(uow, policy, loan)))
    return found


def _grace(uow: UnitOfWork, policy: Policy, loan: Loan) -> timedelta | None:
    request = uow.requests.get(loan.id)
    extensions = uow.requests.find(states={RequestState.APPROVED}, extends=loan.id)
    return grace_of(policy, request, extensions) if request else None


def _above(known: Mapping[str, Any]) -> Above | None:
    if "above" not in known:
        return None
    return Above(known["above"], tuple(AtRisk(name, amount) for name, amount in known["work"]))
