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
from bot.core.pause import Pause
from bot.core.people import Person
from bot.core.requests import RequestState
from bot.flows.card_facts import card_facts, offered, stored
from bot.flows.deliver_notices import NotSaid, Render
from bot.flows.edit_facts import edit_facts
from bot.flows.gather import person_or_id
from bot.flows.propose_changes import proposal_facts
from bot.flows.reminder_facts import endings
from bot.flows.world import World
from bot.views import direct, loan_trouble, offers, platform, proposals, reminders
from bot.views.edit_question import edit_question
from bot.views.facts import CardFacts, Offered, Surface
from bot.views.kinds import NoticeKind
from bot.views.loan_trouble import QueueTrouble
from bot.views.parts import Group
from bot.views.pause import Resumed, paused_notice, resumed_notice
from bot.views.platform import Outage, PolicyTrouble, Unreadable
from bot.views.request_card import card
from bot.views.request_card import next_step as open_step
from bot.views.thread_lines import Asked, EventKind, ThreadEvent, next_step, thread_line

_DIRECT: Mapping[NoticeKind, Callable[[CardFacts], Message]] = {
    NoticeKind.LOAN_IN_FORCE: direct.in_force,
    NoticeKind.LOAN_WAITS: direct.waits,
    NoticeKind.LOAN_IN_FORCE_LATER: direct.in_force_later,
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
_TROUBLES: Mapping[NoticeKind, Callable[[QueueTrouble], Message]] = {
    NoticeKind.ANNOTATION_STRIPPED: loan_trouble.annotation_stripped,
    NoticeKind.OTHER_INSTALL: loan_trouble.other_install,
    NoticeKind.MISSING_RIGHT: loan_trouble.missing_right,
    NoticeKind.WRITE_REFUSED: loan_trouble.write_refused,
    NoticeKind.NOT_WHOLE: loan_trouble.not_whole,
    NoticeKind.LENDING_LIMIT_MOVED: loan_trouble.lending_limit_moved,
    NoticeKind.KUEUE_WRITES_QUOTA: loan_trouble.kueue_writes_quota,
}
_OUTAGES: Mapping[NoticeKind, Callable[[Outage], Message]] = {
    NoticeKind.API_DOWN: platform.api_down,
    NoticeKind.API_BACK: platform.api_back,
    NoticeKind.KUEUE_DOWN: platform.kueue_down,
    NoticeKind.KUEUE_BACK: platform.kueue_back,
    NoticeKind.BOT_WAS_DOWN: platform.bot_was_down,
    NoticeKind.SLACK_BACK: platform.slack_back,
    NoticeKind.DATABASE_BACK: platform.database_back,
}


_OFFERS: Mapping[NoticeKind, Callable[[CardFacts, Offered], Message]] = {
    NoticeKind.COUNTER_OFFER: offers.counter_offer,
    NoticeKind.OFFER_ANSWERED: offers.offer_answered,
    NoticeKind.OFFER_VOID: offers.offer_void,
}


def renderer(world: World) -> Render:
    """What the deliverer renders with."""

    def render(notice: Notice) -> Message:
        kind = NoticeKind(notice.draft.kind)
        facts = notice.draft.facts
        if kind is NoticeKind.REQUEST_CARD:
            return card(_facts(world, facts), Surface(facts["surface"]))
        if kind in _DIRECT:
            return _DIRECT[kind](_facts(world, facts))
        if kind in _TROUBLES:
            return _TROUBLES[kind](_trouble(world, facts))
        if kind in _OUTAGES:
            return _OUTAGES[kind](_outage(world, facts))
        return _OTHERS[kind](world, notice)

    return render


def _facts(world: World, facts: Mapping[str, Any]) -> CardFacts:
    with world.store.read() as uow:
        found = stored(uow, facts["request"])
    if found is None:
        raise NotSaid(f"there is no Q-{facts['request']} any more")
    known = card_facts(world, found, {name: facts[name] for name in ("standing", "late") if facts.get(name)})
    until = datetime.fromisoformat(facts["returned_at"]) if facts.get("returned_at") else None
    # A message about one return does not speak of those after it.
    return replace(known, returned=tuple(one for one in known.returned if until is None or one.at <= until))


def _trouble(world: World, facts: Mapping[str, Any]) -> QueueTrouble:
    with world.store.read() as uow:
        loans = [loan for loan in uow.loans.find(queues={facts["queue"]}) if loan.ended_at is None]
    several = len(world.clusters) > 1
    return QueueTrouble(
        queue=facts["queue"],
        since=datetime.fromisoformat(facts["since"]),
        loans=tuple(loan.id for loan in loans),
        cluster=facts.get("cluster") if several else None,
        flavor=facts.get("flavor"),
        words=facts.get("words") or "",
        before=facts.get("wrote"),
        after=facts.get("live"),
    )


def _outage(world: World, facts: Mapping[str, Any]) -> Outage:
    return Outage(
        since=datetime.fromisoformat(facts["since"]),
        until=datetime.fromisoformat(facts["until"]),
        cluster=facts.get("cluster") if len(world.clusters) > 1 else None,
        ended_on_time=facts.get("ended_on_time"),
        messages=facts.get("messages"),
    )


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


def _pause(world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    pause = Pause(facts["who"], facts["name"], datetime.fromisoformat(facts["since"]), facts["reason"])
    if notice.draft.kind == NoticeKind.QUOTA_PAUSED:
        return paused_notice(pause, person_or_id(world, pause.who))
    by, at = person_or_id(world, facts["by"]), datetime.fromisoformat(facts["at"])
    return resumed_notice(Resumed(pause, by, at))


def _no_approver(_world: World, notice: Notice) -> Message:
    return platform.no_approver(notice.draft.facts["team"])


def _unreachable(_world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    return platform.channel_unreachable(facts["channel"], facts["code"], approvals=facts["approvals"])


def _cannot_read(world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    return platform.cannot_read(
        Unreadable(
            since=datetime.fromisoformat(facts["since"]),
            words=facts["words"],
            verb=facts["verb"],
            resource=facts["resource"],
            cluster=facts["cluster"] if len(world.clusters) > 1 else None,
        )
    )


def _policy_broken(_world: World, notice: Notice) -> Message:
    facts = notice.draft.facts
    good = facts.get("good_since")
    return platform.policy_broken(
        PolicyTrouble(
            facts["file"],
            facts["problem"],
            datetime.fromisoformat(facts["since"]),
            facts.get("line"),
            datetime.fromisoformat(good) if good else None,
        )
    )


def _answer(_world: World, notice: Notice) -> Message:
    """An answer that could not be given where it was asked."""
    return Message(notice.draft.facts["text"], tuple(notice.draft.facts["blocks"]))


_OTHERS: Mapping[NoticeKind, Callable[[World, Notice], Message]] = {
    NoticeKind.CARD_THREAD_LINE: _line,
    NoticeKind.NEXT_STEP: _next_step,
    **dict.fromkeys(_OFFERS, _offer),
    NoticeKind.OUTSIDE_EDIT: _question,
    NoticeKind.PROPOSAL: _proposal,
    NoticeKind.PROPOSAL_WAITS: _proposal_waits,
    NoticeKind.LOAN_SUSPENDED: _suspended,
    NoticeKind.LOAN_SHORT: _short,
    NoticeKind.ENDS_IN_A_DAY: _ending,
    NoticeKind.ENDS_SOON: _ending,
    NoticeKind.CHANNEL_UNREACHABLE: _unreachable,
    NoticeKind.NO_APPROVER: _no_approver,
    NoticeKind.QUOTA_PAUSED: _pause,
    NoticeKind.QUOTA_RESUMED: _pause,
    NoticeKind.CANNOT_READ: _cannot_read,
    NoticeKind.POLICY_BROKEN: _policy_broken,
    NoticeKind.ANSWER: _answer,
}
