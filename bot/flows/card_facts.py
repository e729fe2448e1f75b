"""Everything a card, a direct message or a list row says of one request, gathered from the database and Slack.

Called by flows/render_notices at delivery and by flows/look_up for `status` and `list`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bot.core.escalations import Escalation, in_force
from bot.core.evictions import Eviction, grace_of
from bot.core.impact import from_json as impact_from_json
from bot.core.loans import Loan
from bot.core.membership import is_group, open_step, people_of, step_words
from bot.core.news import worse
from bot.core.offers import Offer, OfferState
from bot.core.past_use import LOOKS_BACK, PastUse, past_use
from bot.core.pause import Pause
from bot.core.policy import Policy
from bot.core.requests import Approval, ApprovalStep, AuditEntry, QuotaRequest, RequestState
from bot.core.standing import from_json
from bot.flows.gather import person_or_id
from bot.flows.own_card import own_card
from bot.flows.series import Times, times_of
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.amounts import GPU, Unit
from bot.views.facts import CardFacts, Escalated, Given, Late, Offered, Pressed, Returned, SeriesFacts, Step, Worse
from bot.views.parts import Group


@dataclass(frozen=True, slots=True)
class Stored:
    """One request as the database has it, read in one transaction."""

    request: QuotaRequest
    approvals: Sequence[Approval]
    loan: Loan | None
    audit: Sequence[AuditEntry]
    offers: Sequence[Offer]
    shown: Mapping[str, Any]
    """What the requester's copy of the card knows: the standing, what got worse, what came late."""
    extension: QuotaRequest | None = None
    """One of its loan that waits for a decision."""
    pause: Pause | None = None
    past: PastUse | None = None
    """What its people used of earlier loans, while it waits."""
    extended: Sequence[QuotaRequest] = ()
    """Extensions of its loan that were approved."""
    eviction: Eviction | None = None
    times: Times | None = None
    """Of a series, or of the one that it is a time of."""
    escalations: Sequence[Escalation] = ()


def stored(uow: UnitOfWork, number: int) -> Stored | None:
    """None if there is no such request."""
    request = uow.requests.get(number)
    if request is None:
        return None
    times = _times(uow, request)
    loan = times.shown if times and request.ask.series is not None else uow.loans.get(request.number)
    of = loan.id if loan is not None and times is not None else number
    card = own_card(uow, of)
    waiting = uow.requests.find(states={RequestState.WAITING}, extends=of)
    return Stored(
        request,
        uow.requests.approvals(request.series or number),
        loan,
        uow.audit.of(request.subject if of == number else f"Q-{of}"),
        uow.offers.of(number),
        {**_of_all(uow, request), **(card.draft.facts if card else {})},
        waiting[0] if waiting else None,
        uow.pauses.get(),
        _past(uow, request) if request.state is RequestState.WAITING else None,
        uow.requests.find(states={RequestState.APPROVED}, extends=of),
        uow.evictions.get(of),
        times,
        uow.escalations.of(number),
    )


def _past(uow: UnitOfWork, request: QuotaRequest) -> PastUse | None:
    """Of the same team's loans of the flavor; of more time the loan itself is one of them."""
    return past_use(uow.uses.like(request.ask, request.created_at - LOOKS_BACK), request.ask.requester)


def _times(uow: UnitOfWork, request: QuotaRequest) -> Times | None:
    """Of a series, or of the one that a request is a time of; None if nothing repeats."""
    series = request if request.ask.series is not None else None
    if request.series is not None:
        series = uow.requests.get(request.series)
    return times_of(uow, series) if series is not None else None


def _of_all(uow: UnitOfWork, request: QuotaRequest) -> Mapping[str, Any]:
    """What the card knows of the decision, whichever time of a series is shown."""
    card = own_card(uow, request.id) if request.ask.series is not None else None
    return card.draft.facts if card else {}


def card_facts(world: World, found: Stored, more: Mapping[str, Any] | None = None) -> CardFacts:
    """`more` goes before what the card knows: facts of the notice that is rendered."""
    facts = {**found.shown, **(more or {})}
    policy, request = world.policies.policy, _as_it_is(found)
    return CardFacts(
        request=request,
        requester=person_or_id(world, request.ask.requester),
        steps=tuple(_step(policy, request, step) for step in request.steps),
        approvals=tuple(_given(world, request, approval) for approval in found.approvals),
        impact=impact_from_json(request.picture) if request.picture else None,
        decider=_decider(world, found),
        worse=_worse(world, request, facts.get("worse")),
        offered=next((offered(world, one) for one in found.offers if one.state is OfferState.OPEN), None),
        asked_first=next((one.instead for one in found.offers if one.state is OfferState.ACCEPTED), None),
        loan=found.loan,
        standing=from_json(facts["standing"]) if facts.get("standing") else None,
        last_try=_instant(facts.get("tried")),
        returned=tuple(_returned(world, found)),
        late=_late(facts.get("late")),
        unit=unit_of(policy, request.ask.cluster, request.ask.resource),
        cluster=request.ask.cluster if len(policy.clusters.clusters) > 1 else None,
        observe=world.observe_only,
        end_words=_end_words(found),
        notes=tuple(facts.get("notes") or ()),
        unreachable=facts.get("unreachable"),
        extension=found.extension,
        pause=found.pause,
        past=found.past,
        grace=found.eviction.grace if found.eviction else grace_of(policy, request, found.extended),
        series=_series(found),
        escalated=_escalated(policy, found),
    )


def _series(found: Stored) -> SeriesFacts | None:
    times, loan = found.times, found.loan
    if times is None or loan is None or loan not in times.loans:
        return None
    to_come = [one for one in times.left if one.id != loan.id and one.start >= loan.start]
    last = to_come[-1] if to_come else loan if loan in times.left else times.loans[-1]
    return SeriesFacts(
        number=times.request.id,
        place=times.place(loan),
        times=len(times.loans),
        to_come=len(to_come),
        following=to_come[0].start if to_come else None,
        last_end=last.end,
    )


def _escalated(policy: Policy, found: Stored) -> Escalated | None:
    """Who may give the open step too, and since when."""
    step = open_step(found.request.steps, found.approvals)
    made = next((one for one in in_force(policy, found.request, found.escalations) if one.step == step), None)
    if made is None:
        return None
    label, listed = step_words(ApprovalStep(made.to)), people_of(policy, made.to)
    group = Group(listed[0], label) if len(listed) == 1 and is_group(listed[0]) else None
    return Escalated(label, made.at, made.why, group)


def _as_it_is(found: Stored) -> QuotaRequest:
    """More time is for what is still on loan: a part may have gone back since it was asked for."""
    request, loan = found.request, found.loan
    if request.extends is None or loan is None:
        return request
    return replace(request, ask=replace(request.ask, amount=loan.amount))


def unit_of(policy: Policy, cluster: str, resource: str) -> Unit:
    """What one device of a resource is called here."""
    known = policy.cluster(cluster)
    return Unit(known.unit(resource, 1), known.unit(resource, 2)) if known else GPU


def _step(policy: Policy, request: QuotaRequest, step: ApprovalStep) -> Step:
    label = step_words(ApprovalStep(step.who))
    return Step(label, step.count, _lends(policy, request, step))


def _lends(policy: Policy, request: QuotaRequest, step: ApprovalStep) -> bool:
    lender = request.ask.lender
    return lender is not None and step.who == f"leads:{policy.team_of(request.ask.cluster, lender)}"


def _given(world: World, request: QuotaRequest, approval: Approval) -> Given:
    policy = world.policies.policy
    lends = approval.step < len(request.steps) and _lends(policy, request, request.steps[approval.step])
    return Given(person_or_id(world, approval.who), approval.at, lends, approval.self_approved, approval.step)


def offered(world: World, offer: Offer) -> Offered:
    """An offer with the people of it."""
    by = offer.settled_by
    return Offered(offer, person_or_id(world, offer.who), person_or_id(world, by) if by and by != "bot" else None)


def _decider(world: World, found: Stored) -> Any:
    """Who ended it, if a person did; of an approved request that is over, who gave it back."""
    request = found.request
    by = request.decided_by
    if request.state is RequestState.APPROVED and request.extends is None:
        by = next((entry.who for entry in reversed(found.audit) if _gave_back(entry)), None)
    return person_or_id(world, by) if by and not by.startswith("rule:") else None


def _gave_back(entry: AuditEntry) -> bool:
    """Whether it was done: a return or withdrawal that was refused is in the audit as well, with its sentence."""
    return entry.what == "end" or (entry.what == "withdraw" and entry.outcome == "ok") or _is_return(entry)


def _is_return(entry: AuditEntry) -> bool:
    """One that counted has the amount for its outcome."""
    return entry.what == "return" and entry.outcome.isdecimal()


def _end_words(found: Stored) -> str:
    """Why an admin ended it, in their words."""
    said = [entry.outcome for entry in found.audit if entry.what == "end" and entry.outcome != "ok"]
    return said[-1] if said else ""


def _returned(world: World, found: Stored) -> list[Returned]:
    return [
        Returned(person_or_id(world, entry.who), entry.at, int(entry.outcome))
        for entry in found.audit
        if _is_return(entry)
    ]


def _worse(world: World, request: QuotaRequest, facts: Mapping[str, Any] | None) -> Worse | None:
    """What the last press found, compared again from the two pictures."""
    if not facts or not request.picture or not facts.get("shown"):
        return None
    shown, now = impact_from_json(facts["shown"]), impact_from_json(request.picture)
    news = worse(shown, now)
    if news is None:
        return None
    pressed = Pressed(person_or_id(world, facts["who"]), datetime.fromisoformat(facts["at"]))
    return Worse(pressed, shown.read_at, news.free, news.at_risk, news.other)


def _late(facts: Mapping[str, Any] | None) -> Late | None:
    if not facts:
        return None
    return Late(datetime.fromisoformat(facts["at"]), timedelta(seconds=facts["by"]), facts["why"])


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
