"""What alerts say at their delivery, from the stories as they are then. Called by flows/render_notices."""

from datetime import datetime

from bot.core.incidents.facts import What
from bot.core.incidents.stories import Incident
from bot.core.messages import Message
from bot.core.notices import Notice
from bot.core.policy import Policy
from bot.core.readiness.facts import CHECKPOINT_AT
from bot.flows.card_facts import unit_of
from bot.flows.deliver_notices import NotSaid
from bot.flows.gather import person_or_id
from bot.flows.world import World
from bot.views.alerts import AlertFacts, LineFacts, StormFacts, alert, alert_line, storm
from bot.views.amounts import GPU


def render_alert(world: World, notice: Notice) -> Message:
    """A card. One that became part of a storm before it was posted is not."""
    with world.store.read() as uow:
        one = uow.incidents.get(notice.draft.facts["incident"])
        pods = uow.memory.troubled(one.key)[0] if one else 0
    if one is None or (one.storm is not None and notice.ref is None):
        raise NotSaid("it is told with others")
    policy = world.policies.policy
    name, is_what = _preemptor(policy, one)
    resource = next(iter(one.facts.get("devices") or ()), one.facts.get("resource"))
    facts = AlertFacts(
        one,
        owner=person_or_id(world, one.audience.person) if one.audience.person else None,
        preemptor=name,
        preemptor_is=is_what,
        pods=pods if one.what in (What.UNSCHEDULABLE, What.NO_ROOM) else 0,
        cluster=_cluster(world, one),
        saved_at=_saved(one),
        late=one.late,
        unit=unit_of(policy, one.cluster, resource) if resource else GPU,
        mention=one.mention,
    )
    return alert(facts)


def render_line(world: World, notice: Notice) -> Message:
    """A line of a thread."""
    facts = notice.draft.facts
    with world.store.read() as uow:
        one = uow.incidents.get(facts["incident"])
    if one is None:
        raise NotSaid("there is no such story")
    pinged = person_or_id(world, one.audience.person) if facts["ping"] and one.audience.person else None
    at = datetime.fromisoformat(facts["at"])
    return alert_line(LineFacts(one, What(facts["what"]), at, facts["why"], facts["times"], pinged))


def render_storm(world: World, notice: Notice) -> Message:
    """A card for many."""
    with world.store.read() as uow:
        found = uow.storms.get(notice.draft.facts["storm"])
        incidents = uow.incidents.of_storm(found.id) if found else ()
    if found is None or not incidents:
        raise NotSaid("there is no such storm")
    people = dict.fromkeys(one.audience.person for one in incidents if one.mention and one.audience.person)
    owners = [person_or_id(world, one) for one in people if one and one != found.to]
    cluster = _cluster(world, incidents[0]) if len({one.cluster for one in incidents}) == 1 else None
    return storm(StormFacts(found.what, found.began, found.last, incidents, owners, cluster))


def _cluster(world: World, one: Incident) -> str | None:
    there = one.facts.get("on_cluster")
    if there:
        return f"{one.cluster}, worker {there}"
    return one.cluster if len(world.clusters) > 1 else None


def _preemptor(policy: Policy, one: Incident) -> tuple[str | None, str]:
    """By team or queue, as policy has it; never by its job."""
    queue, how = one.facts.get("by_queue"), policy.alerts.preemptor
    if queue is None or how == "hidden":
        return None, "queue"
    if how == "team":
        return policy.team_of(one.cluster, queue), "team"
    return str(queue), "queue"


def _saved(one: Incident) -> datetime | None:
    try:
        at = datetime.fromisoformat((one.facts.get("notes") or {}).get(CHECKPOINT_AT, ""))
    except ValueError:
        return None
    return at if at.tzinfo is not None else None
