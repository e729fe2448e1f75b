"""What the requester's copy of a card knows of a loan: how it stood when its people were told last.

Read by flows/tell_loans and flows/card_facts. One time of a series has no card of its own: the series' card knows it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bot.core.notices import Notice
from bot.core.requests import QuotaRequest
from bot.core.standing import LoanStanding, from_json
from bot.flows.cards import card_number, channel_card
from bot.ports.store import UnitOfWork


def own_card(uow: UnitOfWork, number: int) -> Notice | None:
    """The copy, with what it knows of this loan as its facts; None if there is none."""
    request = uow.requests.get(number)
    if request is None:
        return None
    card = uow.notices.get(channel_card(card_number(request, number), request.ask.requester))
    return replace(card, draft=replace(card.draft, facts=_of(card.draft.facts, request))) if card else None


def _of(facts: Mapping[str, Any], request: QuotaRequest) -> Mapping[str, Any]:
    """Of one time of a series it stands beside what is known of the others (flows/cards.refresh_cards)."""
    if request.series is None:
        return facts
    mark = f"@{request.id}"
    return {name.removesuffix(mark): value for name, value in facts.items() if name.endswith(mark)}


def shown(card: Notice | None) -> LoanStanding | None:
    """What the cards know of how it stands."""
    known = card.draft.facts.get("standing") if card else None
    return from_json(known) if known else None
