"""The messages about a request that nobody answers, as they are at their delivery. Called by flows/render_notices."""

from datetime import datetime

from bot.core.escalations import Escalation, in_force
from bot.core.membership import is_group, people_of, step_words
from bot.core.messages import Message
from bot.core.notices import Notice
from bot.core.requests import ApprovalStep, RequestState
from bot.flows.card_facts import Stored, card_facts, stored
from bot.flows.deliver_notices import NotSaid
from bot.flows.gather import person_or_id
from bot.flows.world import World
from bot.views.escalation import Pinged, escalated, nobody_reachable, reminded
from bot.views.facts import CardFacts
from bot.views.kinds import NoticeKind
from bot.views.parts import Group
from bot.views.request_card import next_step


def render_escalation(world: World, notice: Notice) -> Message:
    """Nobody is pinged for a step that has been decided meanwhile, or of terms that were changed: NotSaid."""
    found, facts = _as_it_is(world, notice)
    index = notice.draft.facts["step"]
    asked, step = facts.request.steps[index].who, facts.steps[index]
    made = _escalation(world, found, index)
    if notice.draft.kind == NoticeKind.NOBODY_REACHABLE:
        label = _label(asked) if made is None else f"{_label(asked)}, {_label(made.to)}"
        admins = notice.draft.to == world.policies.policy.approvals.platform_channel
        return nobody_reachable(facts, label, for_admins=admins)
    if notice.draft.kind == NoticeKind.STEP_REMINDED:
        return reminded(facts, _pinged(world, asked), datetime.fromisoformat(notice.draft.facts["since"]))
    if made is None:
        raise NotSaid("the policy does not escalate it any more")
    return escalated(facts, _pinged(world, made.to), step, made.why)


def _as_it_is(world: World, notice: Notice) -> tuple[Stored, CardFacts]:
    known = notice.draft.facts
    with world.store.read() as uow:
        found = stored(uow, known["request"])
    if found is None:
        raise NotSaid(f"there is no Q-{known['request']} any more")
    facts = card_facts(world, found)
    as_asked = facts.request.state is RequestState.WAITING and facts.request.terms == known["terms"]
    if not as_asked or known["step"] >= len(facts.steps) or facts.steps[known["step"]] is not next_step(facts):
        raise NotSaid("this step is decided")
    return found, facts


def _escalation(world: World, found: Stored, step: int) -> Escalation | None:
    made = in_force(world.policies.policy, found.request, found.escalations)
    return next((one for one in made if one.step == step), None)


def _pinged(world: World, who: str) -> Pinged:
    listed, label = people_of(world.policies.policy, who), _label(who)
    people = tuple(person_or_id(world, one) for one in listed if not is_group(one))
    return Pinged(label, people, tuple(Group(one, label) for one in listed if is_group(one)))


def _label(who: str) -> str:
    return step_words(ApprovalStep(who))
