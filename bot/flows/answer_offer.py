"""The requester accepts a counter-offer, or keeps what they asked for. Called by chat/offers.

Accepting is a decision like an approval, so everything is looked up again at the press:

- the offered terms become the request's terms, judged by the policy and the facts of now; what policy refuses now is
  refused in words, and the request waits on as it was;
- the offerer's own approval counts if they may still give it, in whichever step that is; if it was the only one that
  was missing, or if a rule approves such terms, the loan is made in the same transaction;
- it does not count if the cluster got worse since the offer, or cannot be read, or if an extra loan may promise more
  than the nodes have: nobody approved that. The terms are the request's then as well, and the card asks the approvers
  with the figures of now;
- whoever made the offer cannot answer it for the team, though its lead may otherwise answer for the requester.

Keeping leaves the request as it is, with the approvals it has. Whatever else happens to the request or the offer at the
same moment changes a version that is compared here: one wins, and the other reads again and is told how it was.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.core.errors import Refused, Rejected, Stale, Unavailable
from bot.core.impact import from_json, to_json
from bot.core.membership import Allowed, Unknown, groups_of_steps, may_approve, open_step, step_words
from bot.core.news import worse
from bot.core.offers import Offer, OfferState, described, taken_up, terms_of, with_terms
from bot.core.overcommit import Overcommit
from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.requests import Approval, Ask, AuditEntry, QuotaRequest
from bot.core.verdict import Outcome, Verdict, evaluate
from bot.flows.audited import refusals_audited
from bot.flows.cards import ask_next, owe_cards, owe_line, refresh_cards
from bot.flows.close_offer import settle_offer, tell_offerer
from bot.flows.gather import check_theirs, look_up_groups, person_of, request_facts, request_of
from bot.flows.grant_loan import grant_loan
from bot.flows.overcommit_tick import hold_numbers
from bot.flows.read_cluster import NotRead
from bot.flows.still_possible import check_policy_names, impact_if_possible
from bot.flows.submit_request import may_overcommit
from bot.flows.waiting_request import waiting_request
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.thread_lines import EventKind


@dataclass(frozen=True, slots=True)
class OfferPress:
    """One press of a button under an offer."""

    offer: int
    user: str
    origin: str
    """Inbox key."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was looked up for this press."""

    press: OfferPress
    policy: Policy
    offer: Offer
    request: QuotaRequest
    now: datetime

    def answered(self, state: OfferState) -> Offer:
        """The offer as it was read, settled by this press."""
        return replace(self.offer, state=state, settled_by=self.press.user, settled_at=self.now)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What the offered terms come to now."""

    ask: Ask
    verdict: Verdict
    picture: str | None
    overcommit: Overcommit | None
    """Of an extra loan, as far as it is known."""
    step: int | None
    """The step that the offerer's approval is for; None if it does not count."""
    why_not: str = ""
    """In words for the requester, if it does not count."""
    is_worse: bool = False


def accept_offer(world: World, press: OfferPress) -> str:
    """What to tell the one who pressed. Raises Refused; both are in the audit."""
    offer = _offer(world, press)
    with refusals_audited(world, press.user, "accept", f"Q-{offer.request}"):
        seen = _look(world, press, offer)
        said = _accept(world, seen, _judge(world, seen))
    world.wake_delivery()
    world.wake_convergence()
    return said


def keep_request(world: World, press: OfferPress) -> str:
    """The requester keeps what they asked for. Raises Refused; both are in the audit."""
    offer = _offer(world, press)
    with refusals_audited(world, press.user, "keep", f"Q-{offer.request}"):
        seen = _look(world, press, offer)
        number, now = seen.request.id, seen.now
        with world.store.begin() as uow:
            uow.inbox.done(press.origin)
            stored = uow.requests.update(replace(seen.request, revision=seen.request.revision + 1))
            tell_offerer(uow, stored, settle_offer(uow, stored, seen.answered(OfferState.KEPT)), now)
            uow.audit.add(AuditEntry(now, press.user, "keep", f"Q-{number}", "ok"))
            owe_line(uow, seen.policy, number, EventKind.KEPT, now, str(offer.id), who=press.user)
            refresh_cards(uow, number, now)
            uow.commit()
    world.wake_delivery()
    return f"Q-{number} waits on as it was asked."


def _offer(world: World, press: OfferPress) -> Offer:
    with world.store.read() as uow:
        offer = uow.offers.get(press.offer)
    if offer is None:
        raise Refused("There is no such offer.")
    return offer


def _look(world: World, press: OfferPress, offer: Offer) -> _Seen:
    request, policy = request_of(world, offer.request), world.policies.policy
    check_theirs(world, person_of(world, press.user), request)
    if press.user == offer.who:
        raise Refused("This offer is yours: somebody else answers it.")
    now = world.clock()
    if offer.state is OfferState.ACCEPTED:
        raise Refused(f"This offer was accepted already: Q-{request.id} is {request.state.value}.")
    request = waiting_request(world, offer.request, now)
    if offer.state is not OfferState.OPEN:
        raise Refused(f"{_SETTLED[offer.state]} Q-{request.id} waits on as it is.")
    return _Seen(press, policy, offer, request, now)


_SETTLED = {
    OfferState.KEPT: "This offer was turned down already.",
    OfferState.REPLACED: "A newer offer replaced this one: answer that one.",
    OfferState.VOID: "This offer is void: somebody approved what was asked for.",
}


def _judge(world: World, seen: _Seen) -> _Judged:
    asked = seen.request.ask
    ask = with_terms(asked, taken_up(terms_of(asked), seen.offer.terms, seen.now))
    check_policy_names(seen.policy, seen.request)
    impact = impact_if_possible(world, ask, seen.request.name)
    found = None if isinstance(impact, NotRead) else impact.overcommit
    with world.store.read() as uow:
        verdict = _verdict(uow, seen, ask, found)
    step = _step(world, seen, ask, verdict)
    if isinstance(impact, NotRead):
        why = f"{impact.opening}, so an approver looks at it again."
        return _Judged(ask, verdict, seen.offer.picture, found, None, why)
    shown = from_json(seen.offer.picture) if seen.offer.picture else None
    picture = to_json(impact)
    if verdict.outcome is Outcome.STEPS and (shown is None or worse(shown, impact)):
        why = "The cluster changed since the offer, so an approver looks at it again."
        return _Judged(ask, verdict, picture, found, None, why, is_worse=shown is not None)
    if may_overcommit(ask, found):
        why = "It may promise more than the nodes have, so an approver says that they know it."
        return _Judged(ask, verdict, picture, found, None, why)
    why = "" if step is not None or verdict.outcome is Outcome.AUTO else _who_decides(verdict)
    return _Judged(ask, verdict, picture, found, step, why)


def _verdict(uow: UnitOfWork, seen: _Seen, ask: Ask, found: Overcommit | None) -> Verdict:
    facts = request_facts(uow, ask, seen.now, seen.policy, seen.request.id)
    verdict = evaluate(seen.policy, replace(facts, overcommits=may_overcommit(ask, found)))
    if verdict.outcome is Outcome.DENIED:
        by = f"rule {verdict.rule}" if verdict.rule else "the policy"
        waits = f"Q-{seen.request.id} waits on as it was asked."
        raise Refused(f"Not accepted: {by} says no to this now: {verdict.words.rstrip('.')}. {waits}")
    return verdict


def _step(world: World, seen: _Seen, ask: Ask, verdict: Verdict) -> int | None:
    """The first step that the offerer may give now. Raises Refused if it cannot be known: nothing is guessed."""
    groups = look_up_groups(world, groups_of_steps(seen.policy, verdict.steps))
    offerer = _offerer(world, seen.offer.who)
    for index, step in enumerate(verdict.steps):
        alone = replace(seen.request, ask=ask, steps=(step,))
        if isinstance(may_approve(seen.policy, offerer, alone, (), groups), Allowed):
            return index
    if any(isinstance(one, Unknown) for one in groups.values()):
        raise Refused(_NOT_KNOWN)
    return None


def _who_decides(verdict: Verdict) -> str:
    """The offerer may have lost the right, or policy does not ask them about such terms."""
    return f"These terms take the approval of {', then '.join(step_words(step) for step in verdict.steps)}."


_NOT_KNOWN = "Slack did not say who may approve this. Nothing was changed. Try again in a minute."


def _offerer(world: World, user: str) -> Person:
    try:
        return world.chat.person(user)
    except (Unavailable, Rejected) as error:
        raise Refused(_NOT_KNOWN) from error


def _accept(world: World, seen: _Seen, judged: _Judged) -> str:
    """One transaction: the terms, the offerer's approval, and if nothing else is missing the loan."""
    with world.store.begin() as uow:
        # What the team has elsewhere must be what the verdict was about, also if it asks twice at this moment.
        uow.alone(f"team:{judged.ask.team}")
        again = _verdict(uow, seen, judged.ask, judged.overcommit)
        if (again.outcome, again.steps) != (judged.verdict.outcome, judged.verdict.steps):
            raise Stale(f"the verdict on Q-{seen.request.id}")
        uow.inbox.done(seen.press.origin)
        request = uow.requests.update(_changed(seen, judged))
        tell_offerer(uow, request, settle_offer(uow, request, seen.answered(OfferState.ACCEPTED)), seen.now)
        what = described(request.ask.flavor, seen.offer.terms)
        uow.audit.add(AuditEntry(seen.now, seen.press.user, "accept", f"Q-{request.id}", what))
        hold_numbers(uow, request.ask, judged.overcommit)
        said = _decide(uow, seen, judged, request)
        owe_line(uow, seen.policy, request.id, EventKind.ACCEPTED, seen.now, str(seen.offer.id), who=seen.press.user)
        notes = [*seen.offer.notes, *([judged.verdict.words] if judged.verdict.words else [])]
        owe_cards(uow, seen.policy, request, seen.now, {"notes": notes})  # another lender has other leads
        refresh_cards(uow, request.id, seen.now, {"notes": notes, "worse": _worse(seen, judged)})
        uow.commit()
    return said


def _changed(seen: _Seen, judged: _Judged) -> QuotaRequest:
    request = seen.request
    return replace(
        request,
        ask=judged.ask,
        rule=judged.verdict.rule,
        steps=judged.verdict.steps,
        picture=judged.picture,
        terms=request.terms + 1,
        judged_at=seen.now,
        revision=request.revision + 1,
    )


def _decide(uow: UnitOfWork, seen: _Seen, judged: _Judged, request: QuotaRequest) -> str:
    """What comes of the request on its new terms, in words for the one who accepted."""
    what, offerer = described(request.ask.flavor, terms_of(request.ask)), seen.offer.who
    if judged.verdict.outcome is Outcome.AUTO:
        grant_loan(uow, request, f"rule:{request.rule}", seen.now)
        return _approved(uow, request, what)
    given: list[Approval] = []
    if judged.step is not None:
        given.append(Approval(request.id, judged.step, offerer, seen.now, terms=request.terms))
        uow.requests.approve(given[0])
        uow.audit.add(AuditEntry(seen.now, offerer, "approve", f"Q-{request.id}", "by the offer that was accepted"))
    missing = open_step(request.steps, given)
    if missing is None:
        grant_loan(uow, request, offerer, seen.now)
        return _approved(uow, request, what)
    ask_next(uow, seen.policy, request, missing, seen.now)
    return f"Q-{request.id} asks for {what} now, and waits for approval. {judged.why_not}".rstrip()


def _approved(uow: UnitOfWork, request: QuotaRequest, what: str) -> str:
    pause = uow.pauses.get()
    waits = f" It waits: quota changes are paused by {pause.name}." if pause else ""
    return f"Q-{request.id} is approved: {what}.{waits}"


def _worse(seen: _Seen, judged: _Judged) -> dict[str, Any] | None:
    """For the card, which compares the two pictures."""
    if not judged.is_worse:
        return None
    return {"who": seen.press.user, "at": seen.now.isoformat(), "shown": seen.offer.picture}
