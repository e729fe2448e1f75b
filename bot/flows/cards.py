"""Owe a request's messages: every copy of its card, the lines in its thread, what its people must hear.

Called by the flows inside the transaction that changes what they speak of. Cards are one notice per reader for the
request's whole life; `refresh` makes each copy change.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.core.membership import people_of
from bot.core.notices import NoticeDraft, Priority
from bot.core.policy import Policy
from bot.core.requests import QuotaRequest
from bot.core.still_possible import lenders_team_gone
from bot.ports.store import UnitOfWork
from bot.views.facts import Surface
from bot.views.kinds import NoticeKind
from bot.views.thread_lines import EventKind


def card_prefix(number: int) -> str:
    """What the keys of all copies of a request's card begin with."""
    return f"card:{number}:"


def channel_card(number: int, channel: str) -> str:
    """Key of the copy in the approvals channel, whose thread has the story."""
    return f"{card_prefix(number)}{channel}"


def owe_cards(uow: UnitOfWork, policy: Policy, request: QuotaRequest, at: datetime, facts: Mapping[str, Any]) -> None:
    """A copy for the approvals channel, the requester and each of the lender's leads that the policy names."""
    copies = {policy.approvals.approvals_channel: Surface.CHANNEL, request.ask.requester: Surface.REQUESTER}
    for lead in lender_leads(policy, request):
        copies.setdefault(lead, Surface.LEAD)
    for to, surface in copies.items():
        own = {**facts, "request": request.id, "surface": surface.value}
        draft = NoticeDraft(channel_card(request.id, to), NoticeKind.REQUEST_CARD, to, own, Priority.APPROVAL)
        uow.notices.owe_once(draft, at)


def owe_requesters_card(uow: UnitOfWork, request: QuotaRequest, at: datetime) -> None:
    """Only the requester's copy: what a rule denies does not go to the channel."""
    own = {"request": request.id, "surface": Surface.REQUESTER.value}
    to = request.ask.requester
    uow.notices.owe_once(NoticeDraft(channel_card(request.id, to), NoticeKind.REQUEST_CARD, to, own), at)


def refresh_cards(uow: UnitOfWork, number: int, at: datetime, facts: Mapping[str, Any] | None = None) -> None:
    """Every copy shows the state of now; `facts` are merged into what the copies know of this request."""
    of = card_number(uow.requests.get(number), number)
    own = facts if of == number or facts is None else {f"{name}@{number}": value for name, value in facts.items()}
    uow.notices.refresh(card_prefix(of), at, own)


def card_number(request: QuotaRequest | None, number: int) -> int:
    """Whose cards speak of a request: for one time of a series those of the series."""
    return number if request is None or request.series is None else request.series


def refresh_copies(
    uow: UnitOfWork, request: QuotaRequest, at: datetime, facts: Mapping[str, Any] | None = None
) -> None:
    """The cards of a request; of an extension those of its loan as well, which say that it waits."""
    refresh_cards(uow, request.id, at, facts)
    if request.extends is not None:
        refresh_cards(uow, request.extends, at)


def owe_line(
    uow: UnitOfWork, policy: Policy, number: int, event: EventKind, at: datetime, which: str = "", **facts: Any
) -> None:
    """One line in the thread of the channel's card; `which` tells several events of one kind apart."""
    channel = policy.approvals.approvals_channel
    of = card_number(uow.requests.get(number), number)
    if of != number:  # in the thread of a series: which of its times
        facts = {**facts, "note": ", ".join(filter(None, (f"Q-{number}", facts.get("note"))))}
    own = {**facts, "request": number, "kind": event.value, "at": at.isoformat()}
    thread = channel_card(of, channel)
    draft = NoticeDraft(
        f"line:{number}:{event.value}:{which}",
        NoticeKind.CARD_THREAD_LINE,
        channel,
        own,
        Priority.APPROVAL,
        thread_of=thread,
    )
    uow.notices.owe_once(draft, at)


def ask_next(uow: UnitOfWork, policy: Policy, request: QuotaRequest, step: int, at: datetime) -> None:
    """Ping whoever decides this step, once for the terms it has now, in the thread of the channel's card."""
    channel = policy.approvals.approvals_channel
    thread = channel_card(request.id, channel)
    draft = NoticeDraft(
        f"next:{request.id}:{step}" + (f":{request.terms}" if request.terms else ""),
        NoticeKind.NEXT_STEP,
        channel,
        {"request": request.id, "step": step, "terms": request.terms},
        Priority.APPROVAL,
        thread_of=thread,
    )
    uow.notices.owe_once(draft, at)


def tell_requester(
    uow: UnitOfWork, request: QuotaRequest, kind: NoticeKind, at: datetime, which: str = "", /, **facts: Any
) -> None:
    """A new direct message, once per kind and request; `which` tells several events of one kind apart.

    What there is to say of the times of a series goes into one thread, that of its card.
    """
    to = request.ask.requester
    key = f"{kind.value}:{request.id}:{to}" + (f":{which}" if which else "")
    draft = NoticeDraft(key, kind, to, {**facts, "request": request.id}, thread_of=series_thread(request, to))
    uow.notices.owe_once(draft, at)


def series_thread(request: QuotaRequest, to: str) -> str | None:
    """Key of the card in whose thread one time of a series is told of; None for any other request."""
    return channel_card(request.series, to) if request.series is not None else None


def tell_lender(
    uow: UnitOfWork, policy: Policy, request: QuotaRequest, kind: NoticeKind, at: datetime, facts: Mapping[str, Any]
) -> None:
    """The leads of a loan's lender, or its channel, once per kind; nobody if the loan has none."""
    if request.ask.lender is None:
        return
    for to in lender_leads(policy, request) or lender_channel(policy, request):
        thread = series_thread(request, to)
        card = thread if thread and uow.notices.get(thread) else None  # a channel has no card of its own
        own = {**facts, "request": request.id}
        uow.notices.owe_once(NoticeDraft(f"{kind.value}:{request.id}:{to}", kind, to, own, thread_of=card), at)


def lender_leads(policy: Policy, request: QuotaRequest) -> tuple[str, ...]:
    """User ids; user groups are not messaged one by one."""
    team = policy.team_of(request.ask.cluster, request.ask.lender) if request.ask.lender else None
    return tuple(lead for lead in people_of(policy, f"leads:{team}") if not lead.startswith("S")) if team else ()


def lender_channel(policy: Policy, request: QuotaRequest) -> tuple[str, ...]:
    """The lender's team channel, if there is such a team; the platform channel in place of a team that is gone."""
    team = policy.team_of(request.ask.cluster, request.ask.lender) if request.ask.lender else None
    found = policy.team(team) if team else None
    if found is None and lenders_team_gone(policy, request):
        return (policy.approvals.platform_channel,)
    return (found.channel,) if found else ()
