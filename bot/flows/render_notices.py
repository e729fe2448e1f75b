"""A stored notice as the message it is now: one small function per kind. Called by flows/deliver_notices.

What a notice's facts do not have is read from the database when it is rendered, so an update that waited says what is
true at its delivery.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.core.membership import is_group, people_of
from bot.core.messages import Message
from bot.core.notices import Notice
from bot.core.people import Person
from bot.core.requests import RequestState
from bot.flows.card_facts import card_facts, offered, stored, unit_of
from bot.flows.deliver_notices import NotSaid, Render
from bot.flows.edit_facts import edit_facts
from bot.flows.eviction_facts import extension_of
from bot.flows.gather import person_or_id
from bot.flows.idle_facts import idle_facts
from bot.flows.incident_facts import render_alert, render_line, render_storm
from bot.flows.propose_changes import proposal_facts
from bot.flows.reminder_facts import endings
from bot.flows.render_ask_back import render_ask_back
from bot.flows.render_escalation import render_escalation
from bot.flows.render_for_admins import FOR_ADMINS
from bot.flows.world import World
from bot.views import direct, evictions, loan_trouble, offers, proposals, reminders, series
from bot.views.edit_question import edit_question
from bot.views.facts import CardFacts, Offered, Surface
from bot.views.idle_loan import idle_loan
from bot.views.kinds import NoticeKind
from bot.views.lost_names import in_place_of
from bot.views.parts import Channel, Group, Theirs
from bot.views.request_card import card
from bot.views.request_card import next_step as open_step
from bot.views.thread_lines import Asked, EventKind, ThreadEvent, next_step, thread_line

_DIRECT: Mapping[NoticeKind, Callable[[CardFacts], Message]] = {
    NoticeKind.LOAN_IN_FORCE: direct.in_force,
    NoticeKind.LOAN_WAITS: direct.waits,
    NoticeKind.LOAN_IN_FORCE_LATER: direct.in_force_later,
    NoticeKind.SERIES_APPROVED: series.approved,
    NoticeKind.SERIES_STOPPED: series.stopped,
    NoticeKind.DENIED: direct.denied,
    NoticeKind.LAPSED: direct.lapsed,
    NoticeKind.WITHDRAWN: direct.withdrawn,
    NoticeKind.NOT_IN_FORCE: direct.not_in_force,
    NoticeKind.LOAN_EXTENDED: direct.extended,
    NoticeKind.LOAN_RETURNED: direct.returned,
    NoticeKind.LOAN_ENDED: direct.ended,
    NoticeKind.LENDER_LENT: direct.lent,
    NoticeKind.LENDER_BACK: direct.back,
    NoticeKind.LENDER_WAITS: direct.lender_waits,
}
_OFFERS: Mapping[NoticeKind, Callable[[CardFacts, Offered], Message]] = {
    NoticeKind.COUNTER_OFFER: offers.counter_offer,
    NoticeKind.OFFER_ANSWERED: offers.offer_answered,
    NoticeKind.OFFER_VOID: offers.offer_void,
}


_EVICTIONS: Mapping[NoticeKind, Callable[[evictions.EvictionFacts], Message]] = {
    NoticeKind.EVICTION_ANNOUNCED: evictions.announced,
    NoticeKind.WORK_EVICTED: evictions.evicted,
    NoticeKind.EVICTION_UNDONE: evictions.undone,
}


def renderer(world: World) -> Render:
    """What the deliverer renders with."""

    def render(notice: Notice) -> Message:
        message, facts = _as_it_is(world, notice), notice.draft.facts
        if whom := facts.get("instead_of"):
            person = whom.startswith(("U", "W"))
            place = Theirs(person_or_id(world, whom).name) if person else Channel(whom, "another channel")
            return in_place_of(message, place, facts["instead_why"])
        return message

    return render


def _as_it_is(world: World, notice: Notice) -> Message:
    kind = NoticeKind(notice.draft.kind)
    facts = notice.draft.facts
    if kind is NoticeKind.REQUEST_CARD:
        return card(_facts(world, facts), Surface(facts["surface"]))
    if kind in _DIRECT:
        return _DIRECT[kind](_facts(world, facts))
    return _OTHERS[kind](world, notice)


def _facts(world: World, facts: Mapping[str, Any]) -> CardFacts:
    with world.store.read() as uow:
        found = stored(uow, facts["request"])
    if found is None:
        raise NotSaid(f"there is no Q-{facts['request']} any more")
    known = card_facts(world, found, {name: facts[name] for name in ("standing", "late") if facts.get(name)})
    until = datetime.fromisoformat(facts["returned_at"]) if facts.get("returned_at") else None
    # A message about one return does not speak of those after it.
    return replace(known, returned=tuple(one for one in known.returned if until is None or one.at <= until))


def _line(world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    who: Person | None = person_or_id(world, facts["who"]) if facts.get("who") else None
    return thread_line(
        ThreadEvent(
            EventKind(facts["kind"]),
            datetime.fromisoformat(facts["at"]),
            who,
            facts.get("note") or "",
            facts.get("words") or "",
        )
    )


def _next_step(world: World, notice: Notice) -> Message:
    """Nobody is pinged for a step that has been decided meanwhile, or of terms that were changed."""
    facts = _facts(world, notice.draft.facts)
    index, terms = notice.draft.facts["step"], notice.draft.facts.get("terms", 0)
    as_asked = facts.request.state is RequestState.WAITING and facts.request.terms == terms
    if not as_asked or index >= len(facts.steps) or facts.steps[index] is not open_step(facts):
        raise NotSaid("this step is decided")
    who = people_of(world.policies.policy, facts.request.steps[index].who)
    people = tuple(person_or_id(world, one) for one in who if not is_group(one))
    group = next((Group(one, facts.steps[index].label) for one in who if is_group(one)), None)
    return next_step(facts, Asked(facts.steps[index], people, group))


def _offer(world: World, notice: Notice) -> Message:
    with world.store.read() as uow:
        offer = uow.offers.get(notice.draft.facts["offer"])
    if offer is None:
        raise NotSaid("there is no such offer")
    view = _OFFERS[NoticeKind(notice.draft.kind)]
    return view(_facts(world, notice.draft.facts), offered(world, offer))


def _question(world: World, notice: Notice) -> Message:
    return edit_question(edit_facts(world, notice))


def _proposal(world: World, notice: Notice) -> Message:
    return proposals.proposal(proposal_facts(world, notice))


def _proposal_waits(world: World, notice: Notice) -> Message:
    return proposals.proposal_waits(proposal_facts(world, notice))


def _suspended(world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    with world.store.read() as uow:
        loan = uow.loans.get(facts["request"])
    if loan is None:
        raise NotSaid("the loan is gone")
    return loan_trouble.suspended(loan, facts["words"], datetime.fromisoformat(facts["since"]))


def _short(world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    with world.store.read() as uow:
        loan = uow.loans.get(facts["request"])
    if loan is None or loan.ended_at is not None:
        raise NotSaid("the loan is over")
    raised = int(facts["words"].partition(" ")[0])
    return loan_trouble.short(loan, raised, None)


def _ending(world: World, notice: Notice) -> Message:
    """Only of ends that are still to come: a loan may have been extended, given back or ended meanwhile."""
    ends = endings(world, notice.draft.facts)
    if not ends:
        raise NotSaid("none of these ends is to come any more")
    return (reminders.day_before if notice.draft.kind == NoticeKind.ENDS_IN_A_DAY else reminders.hour_before)(ends)


def _idle(world: World, notice: Notice) -> Message:
    return idle_loan(idle_facts(world, notice))


def _eviction(world: World, notice: Notice) -> Message:
    with world.store.read() as uow:
        found = uow.evictions.get(notice.draft.facts["loan"])
        extension = extension_of(uow, found) if found else None
    if found is None:
        raise NotSaid("there is no such eviction")
    unit = unit_of(world.policies.policy, found.cluster, found.entry.resource)
    number = extension.request.id if extension else None
    extended = extension is not None and extension.request.state is RequestState.APPROVED
    return _EVICTIONS[NoticeKind(notice.draft.kind)](evictions.EvictionFacts(found, unit, number, extended))


def _answer(_world: World, notice: Notice) -> Message:
    """An answer that could not be given where it was asked."""
    return Message(notice.draft.facts["text"], tuple(notice.draft.facts["blocks"]))


_OTHERS: Mapping[NoticeKind, Callable[[World, Notice], Message]] = {
    NoticeKind.CARD_THREAD_LINE: _line,
    NoticeKind.NEXT_STEP: _next_step,
    **FOR_ADMINS,
    **dict.fromkeys(_OFFERS, _offer),
    **dict.fromkeys(_EVICTIONS, _eviction),
    NoticeKind.STEP_REMINDED: render_escalation,
    NoticeKind.STEP_ESCALATED: render_escalation,
    NoticeKind.NOBODY_REACHABLE: render_escalation,
    NoticeKind.ASKED_BACK: render_ask_back,
    NoticeKind.ASK_BACK_ANSWERED: render_ask_back,
    NoticeKind.OUTSIDE_EDIT: _question,
    NoticeKind.PROPOSAL: _proposal,
    NoticeKind.PROPOSAL_WAITS: _proposal_waits,
    NoticeKind.LOAN_SUSPENDED: _suspended,
    NoticeKind.LOAN_SHORT: _short,
    NoticeKind.ENDS_IN_A_DAY: _ending,
    NoticeKind.ENDS_SOON: _ending,
    NoticeKind.IDLE_LOAN: _idle,
    NoticeKind.ANSWER: _answer,
    NoticeKind.ALERT: render_alert,
    NoticeKind.ALERT_LINE: render_line,
    NoticeKind.ALERT_STORM: render_storm,
}
