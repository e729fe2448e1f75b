"""Whose request it is and where: cluster, team and queue of a draft, from what was said and who said it.

The first half of completing a draft; it needs no cluster to be asked. A queue that a person may not see is answered
in the same words as one that does not exist.
"""

from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from typing import NamedTuple

from bot.core.drafts import AskField, Draft, Question
from bot.core.errors import Refused
from bot.core.membership import OUTSIDER, Roles, lookup_failed, may_request, visible_queues
from bot.core.people import Person
from bot.core.policy import Policy


class Place(NamedTuple):
    """A queue that a draft could be for."""

    cluster: str
    team: str
    queue: str


def place(draft: Draft, policy: Policy, person: Person, roles: Roles) -> Draft | Question:
    """The draft with cluster, team and queue set, or what must be asked. Raises Refused."""
    if not person.full_member:
        raise Refused(OUTSIDER)
    _known_cluster(draft, policy)
    places = _named_queue(draft, policy, roles) if draft.queue else _own_queues(draft, policy, roles)
    refused = [may_request(roles, person, one.team) for one in places]
    if all(refused):
        raise Refused(refused[0] or "", AskField.QUEUE)
    places = [one for one, why in zip(places, refused, strict=True) if why is None]
    if len(places) > 1:
        return _which(places)
    found = places[0]
    return replace(draft, cluster=found.cluster, team=found.team, queue=found.queue)


def no_such_queue(name: str, visible: Iterable[str], field: AskField = AskField.QUEUE) -> Refused:
    """For a queue that is not there or may not be seen."""
    near = get_close_matches(name, sorted(visible), n=3)
    hint = f" Near: {', '.join(near)}." if near else ""
    return Refused(f"No queue {name} that you can see.{hint}", field)


def _known_cluster(draft: Draft, policy: Policy) -> None:
    clusters = tuple(policy.clusters.clusters)
    if draft.cluster is not None and draft.cluster not in clusters:
        raise Refused(f"No cluster {draft.cluster}. There are: {', '.join(clusters)}.", AskField.CLUSTER)


def _all_places(draft: Draft, policy: Policy) -> list[Place]:
    clusters = [draft.cluster] if draft.cluster else list(policy.clusters.clusters)
    return [
        Place(cluster, name, queue)
        for name, team in policy.teams.teams.items()
        for cluster in clusters
        for queue in team.queues_on(cluster)
    ]


def _named_queue(draft: Draft, policy: Policy, roles: Roles) -> list[Place]:
    """Places of this queue that the person may see and, if a team was said, that are this team's."""
    everywhere = _all_places(draft, policy)
    visible = [one for one in everywhere if visible_queues(policy, roles, one.cluster, (one.queue,))]
    places = [one for one in visible if one.queue == draft.queue]
    if not places:
        if roles.unknown:
            raise Refused(lookup_failed(roles.unknown), AskField.QUEUE)
        raise no_such_queue(draft.queue or "", {one.queue for one in visible})
    theirs = [one for one in places if draft.team in (None, one.team)]
    if not theirs:
        raise Refused(f"{draft.queue} is not a queue of {draft.team}.", AskField.QUEUE)
    return theirs


def _own_queues(draft: Draft, policy: Policy, roles: Roles) -> list[Place]:
    """The queues of the team that was said, or of all teams of the person; for an admin in no team, of all teams."""
    everything = tuple(policy.teams.teams) if roles.admin else ()
    teams = (draft.team,) if draft.team else roles.teams or everything
    places = [one for one in _all_places(draft, policy) if one.team in teams]
    if places:
        return places
    if roles.unknown:
        raise Refused(lookup_failed(roles.unknown), AskField.QUEUE)
    if not roles.teams and not roles.admin:
        raise Refused("You are in no team: ask an admin.", AskField.QUEUE)
    where = f" on {draft.cluster}" if draft.cluster else ""
    raise Refused(f"No queue of {' or '.join(teams)}{where} that you can see.", AskField.QUEUE)


def _which(places: list[Place]) -> Question:
    queues = tuple(dict.fromkeys(one.queue for one in places))
    if len(queues) > 1:
        return Question(AskField.QUEUE, f"Which queue? You can request for {', '.join(queues)}.", queues)
    clusters = tuple(one.cluster for one in places)
    return Question(AskField.CLUSTER, f"Which cluster? {queues[0]} is on {', '.join(clusters)}.", clusters)
