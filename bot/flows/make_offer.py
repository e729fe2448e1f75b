"""An approver offers other terms for a waiting request: try them as any request, store the offer, tell the requester.

Called by chat/offers. Why it is as it is stands in core/offers. Nothing of the request changes but its revision, which
is how an offer, an approval and a withdrawal at the same moment know of each other.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from bot.core.drafts import AskField, Draft, Question
from bot.core.errors import Refused
from bot.core.impact import Impact, to_json
from bot.core.limits import over_limits
from bot.core.offers import Offer, OfferState, Terms, as_of, check_differs, check_less, described, terms_of, with_terms
from bot.core.proposal import Proposal, propose
from bot.core.requests import AuditEntry, QuotaRequest
from bot.core.verdict import Outcome, evaluate
from bot.flows.audited import refusals_audited
from bot.flows.cards import owe_line, refresh_cards, tell_requester
from bot.flows.change_form import Offerer, may_offer, terms_of_values, visible_to_requester
from bot.flows.close_offer import close_offer, which
from bot.flows.gather import OPEN, request_facts
from bot.flows.live_impact import live_impact
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.try_change import try_change
from bot.flows.world import World
from bot.views.change_form import ChangeValues
from bot.views.kinds import NoticeKind
from bot.views.thread_lines import EventKind


@dataclass(frozen=True, slots=True)
class Change:
    """A filled form."""

    number: int
    revision: int
    """Of the request when the form was filled with its terms."""
    user: str
    origin: str
    """Inbox key."""
    values: ChangeValues


@dataclass(frozen=True, slots=True)
class _Tried:
    """Terms that policy and cluster would take."""

    terms: Terms
    picture: str | None
    notes: tuple[str, ...]


def make_offer(world: World, change: Change) -> Offer:
    """Raises Refused, on the field it is about; both are in the audit."""
    with refusals_audited(world, change.user, "offer", f"Q-{change.number}"):
        offerer = may_offer(world, change.number, change.user)
        if offerer.request.revision != change.revision:
            raise Refused(
                f"Q-{change.number} changed while the form was open. Look at its card and press Change again."
            )
        offer = _store(world, change, offerer, _try(world, change, offerer))
    world.wake_delivery()
    return offer


def _try(world: World, change: Change, offerer: Offerer) -> _Tried:
    """The terms, complete, as far as a request with them would get now: no further than it is refused."""
    ask, now = offerer.request.ask, offerer.now
    wanted = as_of(terms_of_values(change.values, ask, offerer.policy), now)
    check_less(terms_of(ask), wanted, now)
    proposal, notes = _proposed(world, offerer, wanted)
    terms = terms_of(proposal.ask)
    check_differs(terms_of(ask), terms, now)
    _check_policy(world, offerer, terms)
    impact = live_impact(world, proposal.ask)
    return _Tried(terms, to_json(impact) if isinstance(impact, Impact) else None, notes)


def _proposed(world: World, offerer: Offerer, wanted: Terms) -> tuple[Proposal, tuple[str, ...]]:
    ask, policy = with_terms(offerer.request.ask, wanted), offerer.policy
    picture = read_queues(world, ask.cluster)
    if isinstance(picture, NotRead):
        raise Refused(f"{picture.opening}, so nothing was offered. {picture.then}")
    with world.store.read() as uow:
        loans = [loan for loan in uow.loans.find(states=OPEN) if loan.cluster == ask.cluster]
    visible = visible_to_requester(world, policy, offerer.request.ask, picture)
    proposal = propose(_draft(offerer.request, wanted), picture, policy, loans=loans, visible=visible)
    if isinstance(proposal, Question):
        raise Refused(proposal.sentence, proposal.field)
    return proposal, (*proposal.notes, *try_change(world, proposal.ask, picture))


def _draft(request: QuotaRequest, wanted: Terms) -> Draft:
    ask = request.ask
    return Draft(
        requester=ask.requester,
        cluster=ask.cluster,
        team=ask.team,
        queue=ask.queue,
        flavor=ask.flavor,
        resource=ask.resource,
        amount=wanted.amount,
        kind=wanted.kind,
        lender=wanted.lender,
        start=wanted.start,
        duration=wanted.duration,
        until=wanted.until,
        reason=ask.reason,
    )


def _check_policy(world: World, offerer: Offerer, terms: Terms) -> None:
    """What nobody could approve is not offered."""
    request, policy = offerer.request, offerer.policy
    with world.store.read() as uow:
        facts = request_facts(uow, with_terms(request.ask, terms), offerer.now, policy, request.id)
    over = over_limits(policy, facts)
    if over:
        raise over[0]
    verdict = evaluate(policy, facts)
    if verdict.outcome is Outcome.DENIED:
        by = f"Rule {verdict.rule}" if verdict.rule else "The policy"
        raise Refused(f"{by} says no to this: {verdict.words}", AskField.KIND)


def _store(world: World, change: Change, offerer: Offerer, tried: _Tried) -> Offer:
    request, user, now = offerer.request, offerer.person.id, offerer.now
    with world.store.begin() as uow:
        uow.inbox.done(change.origin)
        stored = uow.requests.update(replace(request, revision=request.revision + 1))
        close_offer(uow, request.id, OfferState.REPLACED, user, now)
        offer = uow.offers.add(_offer(request, user, now, change.values.words, tried))
        what = described(request.ask.flavor, offer.terms)
        uow.audit.add(AuditEntry(now, user, "offer", f"Q-{request.id}", what))
        line = {"who": user, "note": what, "words": offer.words}
        owe_line(uow, offerer.policy, request.id, EventKind.OFFERED, now, str(offer.id), **line)
        tell_requester(uow, stored, NoticeKind.COUNTER_OFFER, now, which(offer), offer=offer.id)
        refresh_cards(uow, request.id, now, {"worse": None})
        uow.commit()
    return offer


def _offer(request: QuotaRequest, user: str, now: datetime, words: str, tried: _Tried) -> Offer:
    return Offer(
        id=0,
        request=request.id,
        terms=tried.terms,
        instead=terms_of(request.ask),
        who=user,
        at=now,
        words=words.strip(),
        picture=tried.picture,
        notes=tried.notes,
    )
