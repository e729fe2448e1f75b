"""The messages about loans that lie idle, and past use on cards: their part of the gallery."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any

from bot.core.idle_loans import IdleOffer, IdleState
from bot.core.loans import LoanState
from bot.core.messages import Message, Modal
from bot.core.past_use import PastUse
from bot.core.requests import RequestState
from bot.views.answers import done
from bot.views.answers.explain import ExplainFacts, explained
from bot.views.details import DetailsFacts, details
from bot.views.facts import Surface
from bot.views.idle_loan import IdleFacts, idle_loan
from bot.views.request_card import card
from tests.support.view_facts import World, at

PAST = PastUse(3, Fraction(8), Fraction(21, 10), timedelta(days=9), by_requester=True)
DAY = timedelta(days=1)


def idle(world: World, **changes: Any) -> IdleFacts:
    """6 of the 8 were unused for 12 h, and 8 GPUs are waited for elsewhere in the cohort."""
    made = IdleOffer(7, 142, 1, 6, 8, timedelta(hours=12, minutes=4), at("15:00", 4), version=1)
    waiting = changes.pop("waiting", (world.names.cohort, 8))
    return IdleFacts(replace(made, **changes), world.loan(), DAY, waiting)


def answered(world: World, state: IdleState, left: int) -> IdleFacts:
    """What the requester did at 15:10."""
    facts = idle(world, state=state, settled_by=world.requester.id, settled_at=at("15:10", 4), left=left)
    return replace(facts, by=world.requester)


def idle_gallery(world: World) -> Iterator[tuple[str, Message | Modal]]:
    """All of them once."""
    yield "dm idle", idle_loan(idle(world))
    yield "dm idle, nobody waits", idle_loan(idle(world, waiting=None))
    for state, left in ((IdleState.RETURNED, 2), (IdleState.RETURNED, 0), (IdleState.KEPT, 8), (IdleState.USED, 8)):
        yield f"dm idle {state}, {left}", idle_loan(answered(world, state, left))
    yield "dm idle, over", idle_loan(replace(idle(world), loan=world.loan(state=LoanState.CLOSED)))
    yield "answer kept", done.loan_kept(world.loan(), DAY)
    for past in (PAST, replace(PAST, loans=1, used=Fraction(8), by_requester=False)):
        name = "requester" if past.by_requester else "team"
        yield f"card waiting, past use of {name}", card(world.card(past=past), Surface.CHANNEL)
        yield f"details past use of {name}", details(DetailsFacts(world.card(past=past)))
        yield f"answer explain past use of {name}", explained(ExplainFacts(world.card(past=past), ()))
    longer = world.card(world.extension(RequestState.WAITING), loan=world.loan(), past=PAST)
    yield "card waiting, past use, extension", card(longer, Surface.CHANNEL)
