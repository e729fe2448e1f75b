"""Somebody pressed Approve or Deny: check everything again, record exactly one outcome, wake convergence.

Called by chat/buttons. Nothing that the card showed is trusted: who may decide, what the policy says and what the
loan means are looked up at the press. Nothing is written to a cluster here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.core.errors import AlreadyHandled, Refused, Stale
from bot.core.impact import Impact, from_json, to_json
from bot.core.limits import over_limits
from bot.core.loans import LoanKind
from bot.core.membership import Groups, NotAllowed, groups_of_steps, may_approve, may_deny, open_step, stuck
from bot.core.news import WorseNews, worse
from bot.core.notices import NoticeDraft
from bot.core.offers import OfferState
from bot.core.overcommit import Overcommit
from bot.core.people import Person
from bot.core.policy import Policy
from bot.core.request_facts import RequestFacts
from bot.core.requests import Approval, AuditEntry, QuotaRequest, RequestState
from bot.core.verdict import Outcome, evaluate_again
from bot.flows.audited import refusals_audited
from bot.flows.cards import ask_next, owe_line, refresh_cards, refresh_copies, tell_requester
from bot.flows.close_offer import close_offer
from bot.flows.gather import has_left, look_up_groups, person_of, request_facts, request_of
from bot.flows.grant_extension import grant, live_loan
from bot.flows.overcommit_tick import TICKED, hold_numbers, judged_to_overcommit, tick_note
from bot.flows.read_cluster import NotRead
from bot.flows.still_possible import check_policy_names, impact_if_possible
from bot.flows.waiting_request import already, waiting_request
from bot.flows.who_may_decide import as_asked_now
from bot.flows.world import World
from bot.views.kinds import NoticeKind
from bot.views.thread_lines import EventKind

_SELF, _BLIND = "self-approved", "without live figures"


@dataclass(frozen=True, slots=True)
class Press:
    """One press of a button on a card."""

    number: int
    revision: int
    """Of the picture that was pressed."""
    user: str
    origin: str
    """Inbox key."""
    ticked: bool = False
    """Whether the approver said that more may be promised than exists (flows/overcommit_tick)."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was looked up for this press."""

    press: Press
    person: Person
    policy: Policy
    request: QuotaRequest
    may: QuotaRequest
    """The same with those who may give its steps too, since nobody answered."""
    groups: Groups
    now: datetime


def approve(world: World, press: Press) -> str:
    """What to tell the one who pressed. Raises Refused with the sentence for them; both are in the audit."""
    return _decide(world, press, "approve")


def deny(world: World, press: Press, words: str) -> str:
    """As approve; `words` go to the requester as they are."""
    return _decide(world, press, "deny", words)


def _decide(world: World, press: Press, what: str, words: str = "") -> str:
    request = request_of(world, press.number)
    with refusals_audited(world, press.user, request.verb(what), request.subject):
        try:
            seen = _look(world, press)
            return _approve(world, seen) if what == "approve" else _deny(world, seen, words)
        except AlreadyHandled:
            raise
        except Stale:
            # Somebody was faster between our look and our write: say who, and what it came to.
            raise already(world, request_of(world, press.number)) from None


def _look(world: World, press: Press) -> _Seen:
    person = person_of(world, press.user)
    policy = world.policies.policy
    now = world.clock()
    request = waiting_request(world, press.number, now)
    may = as_asked_now(world, policy, request)
    groups = look_up_groups(world, groups_of_steps(policy, may.steps))
    return _Seen(press, person, policy, request, may, groups, now)


def _approve(world: World, seen: _Seen) -> str:
    request = seen.request
    check_policy_names(seen.policy, request)
    with world.store.read() as uow:
        approvals = uow.requests.approvals(request.id)
        facts = request_facts(uow, request.ask, seen.now, seen.policy, request.id, request.extends)
    facts = replace(facts, overcommits=judged_to_overcommit(request))
    allowed = may_approve(seen.policy, seen.person, seen.may, approvals, seen.groups)
    if isinstance(allowed, NotAllowed):
        if stuck(seen.policy, seen.may, approvals, seen.groups):
            _owe_no_approver(world, seen)
        raise Refused(allowed.sentence)
    if seen.press.revision != request.revision:
        _redraw(world, seen)
        raise Refused("This card was out of date. It is up to date now: look and press again.")
    _check_policy(world, seen, facts, begun=bool(approvals))
    moves = request.extends is None  # more time moves no quota
    impact = impact_if_possible(world, request.ask, request.name) if moves else None
    shown = from_json(request.picture) if request.picture else None
    if isinstance(impact, Impact):
        news = worse(shown, impact) if shown else None
        if news or shown is None:
            return _show_again(world, seen, impact, news)
    elif isinstance(impact, NotRead) and request.ask.kind is LoanKind.EXTRA and shown is not None:
        return _show_again(world, seen, impact, None)
    tick = tick_note(request.ask, impact, ticked=seen.press.ticked) if impact is not None else None
    approval = Approval(request.id, allowed.step, seen.person.id, seen.now, allowed.self_approved, request.terms)
    lent = facts.extends.amount if facts.extends else request.ask.amount
    notes = [*_notes(seen, approval, lent, blind=isinstance(impact, NotRead)), *([tick] if tick else [])]
    found = impact.overcommit if isinstance(impact, Impact) else None
    said = _record(world, seen, [*approvals, approval], notes, found)
    return f"{said} {impact.opening}: approved {_BLIND}." if isinstance(impact, NotRead) else said


def _record(
    world: World, seen: _Seen, approvals: list[Approval], notes: Sequence[str], found: Overcommit | None
) -> str:
    """One transaction: the last of the approvals, and if it completes them what they are for."""
    request, approval = seen.request, approvals[-1]
    step = open_step(request.steps, approvals)
    complete = step is None
    with world.store.begin() as uow:
        uow.inbox.done(seen.press.origin)
        hold_numbers(uow, request.ask, found)
        uow.requests.approve(approval)
        if step is None:
            request = grant(uow, seen.policy, request, seen.person.id, seen.now)
        else:
            if request.extends is not None:
                live_loan(uow, request.extends, seen.now)  # nobody else is asked for what nobody can give
            request = uow.requests.update(replace(request, revision=request.revision + 1))
            ask_next(uow, seen.policy, request, step, seen.now)
        void = close_offer(uow, request.id, OfferState.VOID, seen.person.id, seen.now)
        if void and not complete:  # of a complete approval the requester hears anyway
            tell_requester(uow, request, NoticeKind.OFFER_VOID, seen.now, str(void.id), offer=void.id)
        outcome = ", ".join(note for note in notes if note in (_SELF, _BLIND) or note.startswith(TICKED))
        uow.audit.add(AuditEntry(seen.now, seen.person.id, request.verb("approve"), request.subject, outcome or "ok"))
        who, note = seen.person.id, ", ".join(notes)
        key = f"{who}:{request.terms}" if request.terms else who
        owe_line(uow, seen.policy, request.id, EventKind.APPROVED, seen.now, key, who=who, note=note)
        refresh_cards(uow, request.id, seen.now, {"worse": None})
        pause = uow.pauses.get()
        uow.commit()
    world.wake_delivery()
    if complete:
        world.wake_convergence()
    waits = f" It waits: quota changes are paused by {pause.name}." if pause and request.extends is None else ""
    return f"{request.name} is approved.{waits}" if complete else f"Your approval of {request.name} counts."


def _notes(seen: _Seen, approval: Approval, lent: int, *, blind: bool) -> list[str]:
    """In brackets behind the approval in the thread."""
    ask, step = seen.request.ask, seen.request.steps[approval.step]
    lends = ask.lender is not None and step.who == f"leads:{seen.policy.team_of(ask.cluster, ask.lender)}"
    notes = [f"{ask.lender} lends {lent}"] if lends else []
    notes += [_SELF] if approval.self_approved else []
    return [*notes, _BLIND] if blind else notes


def _deny(world: World, seen: _Seen, words: str) -> str:
    request = seen.request
    barred = may_deny(seen.policy, seen.person, seen.may, seen.groups)
    if barred:
        raise Refused(barred.sentence)
    denied = replace(
        request,
        state=RequestState.DENIED,
        decided_by=seen.person.id,
        decided_at=seen.now,
        words=words,
        revision=request.revision + 1,
    )
    left = has_left(world, seen.policy, request)
    with world.store.begin() as uow:
        uow.inbox.done(seen.press.origin)
        stored = uow.requests.update(denied)
        close_offer(uow, request.id, OfferState.VOID, seen.person.id, seen.now)
        uow.audit.add(AuditEntry(seen.now, seen.person.id, request.verb("deny"), request.subject, "ok"))
        refresh_copies(uow, stored, seen.now, {"worse": None})
        if not left:
            tell_requester(uow, stored, NoticeKind.DENIED, seen.now)
        uow.commit()
    world.wake_delivery()
    return f"{request.name} is denied."


def _show_again(world: World, seen: _Seen, impact: Impact | NotRead, news: WorseNews | None) -> str:
    """The picture got worse since the card was drawn, came or went: nothing is approved, the card shows it."""
    changed = replace(seen.request, picture=None, revision=seen.request.revision + 1)
    if isinstance(impact, NotRead):
        _change(world, seen, changed, {"worse": None}, "no live figures: asked again")
        return f"{impact.opening}: what is promised cannot be checked. Not approved yet: look and press again."
    changed = replace(changed, picture=to_json(impact))
    if news is None:
        _change(world, seen, changed, {}, "live figures came: asked again")
        return "The card had no live figures and has them now. Not approved yet: look and press again."
    pressed = {"who": seen.person.id, "at": seen.now.isoformat(), "shown": seen.request.picture}
    _change(world, seen, changed, {"worse": pressed}, "changed since: asked again")
    return f"Changed since the card was drawn. {news.lines[0]}. Not approved yet: look and press again."


def _check_policy(world: World, seen: _Seen, facts: RequestFacts, *, begun: bool) -> None:
    """Raises Refused if the limits or a changed policy do not let it go on. What can never go on is closed."""
    request = seen.request
    over = over_limits(seen.policy, facts)
    if over:
        words = " ".join(one.sentence for one in over)
        if over_limits(seen.policy, replace(facts, loans=(), requests=())):
            _close(world, seen, "limits", words)
            raise Refused(f"Not approved: {words} {request.name} is closed.")
        raise Refused(f"Not approved: {words}")
    verdict = evaluate_again(seen.policy, facts, request.judged_at or request.created_at, request.rule)
    if verdict.outcome is Outcome.DENIED:
        _close(world, seen, verdict.rule or "none", verdict.words)
        by = f"rule {verdict.rule}" if verdict.rule else "the policy"
        raise Refused(f"Not approved: {by} says no now: {verdict.words.rstrip('.')}. {request.name} is closed.")
    if verdict.outcome is Outcome.AUTO or verdict.steps == request.steps:
        return
    if begun:
        words = "The policy changed after the first approval: other people decide this now. Ask again."
        _close(world, seen, verdict.rule or "none", words)
        raise Refused(f"{request.name} is closed. {words}")
    changed = replace(request, rule=verdict.rule, steps=verdict.steps, revision=request.revision + 1)
    _change(world, seen, changed, {}, "policy changed: asked again")
    raise Refused("The policy changed: other people decide this now. The card shows who.")


def _close(world: World, seen: _Seen, rule: str, words: str) -> None:
    """Nobody can approve it any more: it is denied by the policy, and whoever waits hears so."""
    request = seen.request
    denied = replace(request, state=RequestState.DENIED, decided_by=f"rule:{rule}", decided_at=seen.now, words=words)
    with world.store.begin() as uow:
        stored = uow.requests.update(replace(denied, revision=request.revision + 1))
        close_offer(uow, request.id, OfferState.VOID, "bot", seen.now)
        uow.audit.add(AuditEntry(seen.now, "bot", request.verb("close"), request.subject, words))
        refresh_copies(uow, stored, seen.now, {"worse": None})
        tell_requester(uow, stored, NoticeKind.DENIED, seen.now)
        uow.commit()
    world.wake_delivery()


def _change(world: World, seen: _Seen, changed: QuotaRequest, facts: dict[str, Any], outcome: str) -> None:
    with world.store.begin() as uow:
        uow.requests.update(changed)
        uow.audit.add(AuditEntry(seen.now, seen.person.id, changed.verb("approve"), changed.subject, outcome))
        refresh_cards(uow, changed.id, seen.now, facts)
        uow.commit()
    world.wake_delivery()


def _redraw(world: World, seen: _Seen) -> None:
    """The pressed picture was old: its copy missed an update."""
    with world.store.begin() as uow:
        refresh_cards(uow, seen.request.id, seen.now)
        uow.commit()
    world.wake_delivery()


def _owe_no_approver(world: World, seen: _Seen) -> None:
    team = seen.request.ask.team
    to = seen.policy.approvals.platform_channel
    with world.store.begin() as uow:
        draft = NoticeDraft(f"no_approver:{team}", NoticeKind.NO_APPROVER, to, {"team": team})
        uow.notices.owe_once(draft, seen.now)
        uow.commit()
    world.wake_delivery()
