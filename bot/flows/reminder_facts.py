"""What a reminder says at its delivery: the loans whose end is still to come. Called by flows/render_notices."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.core.impact import AtRisk
from bot.core.reminders import is_reminded
from bot.flows.card_facts import unit_of
from bot.flows.world import World
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
                found.append(Ending(loan, _above(known), unit_of(policy, loan.cluster, loan.resource)))
    return found


def _above(known: Mapping[str, Any]) -> Above | None:
    if "above" not in known:
        return None
    return Above(known["above"], tuple(AtRisk(name, amount) for name, amount in known["work"]))
