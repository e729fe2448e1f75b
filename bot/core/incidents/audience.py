"""Who is told of an incident: its owner, else its team, else whoever runs the platform. Pure; asked by observe_work."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.core.incidents.facts import What
from bot.core.incidents.stories import Audience
from bot.core.policy import Policy
from bot.core.policy.alerts import Mute, Route

OWNER = "gpu-quota-bot.io/owner"
TELL = "gpu-quota-bot.io/alerts"
"""Annotation; `dm` asks for direct messages instead of the channel."""
_PERSON = re.compile(r"[UW][A-Z0-9]{2,20}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Trail:
    """Where a name may stand, the nearest first."""

    cluster: str
    namespace: str
    kind: str
    """Of the work."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Annotations of the object."""
    owner_notes: Mapping[str, str] = field(default_factory=dict)
    """Of what stands above it."""
    namespace_notes: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    queue: str | None = None


def audience(trail: Trail, what: What, policy: Policy) -> Audience:
    """Where the alert goes, and whose it is."""
    person, found_by = _person(trail, policy)
    team = _team(trail, policy)
    if person is None and team is not None:
        found_by = team[1]
    name = team[0] if team else None
    channel = _channel(trail, what, name, policy)
    wants_dm = person is not None and _note(trail, TELL) == "dm"
    to = person if person is not None and (wants_dm or channel is None) else channel
    return Audience(to or policy.approvals.platform_channel, person, name, found_by)


def is_muted(trail: Trail, what: What, team: str | None, policy: Policy) -> bool:
    """Whether policy says that this is never told."""
    return any(_matches(mute, trail, what, team) for mute in policy.alerts.mutes)


def _person(trail: Trail, policy: Policy) -> tuple[str | None, str]:
    places = (
        (trail.notes, f"annotation on {trail.kind}"),
        (trail.owner_notes, f"annotation on {trail.kind}"),
        (trail.namespace_notes, "annotation on the namespace"),
    )
    for notes, where in places:
        if _PERSON.fullmatch(notes.get(OWNER, "")):
            return notes[OWNER], where
    for label in policy.alerts.owner_labels:
        if _PERSON.fullmatch(trail.labels.get(label, "")):
            return trail.labels[label], f"label {label}"
    return None, ""


def _team(trail: Trail, policy: Policy) -> tuple[str, str] | None:
    for label in policy.alerts.team_labels:
        name = trail.labels.get(label, "")
        if policy.team(name) is not None:
            return name, f"label {label}"
    for name, team in policy.teams.teams.items():
        if trail.namespace in team.namespaces:
            return name, "namespace"
    owner = policy.team_of(trail.cluster, trail.queue) if trail.queue else None
    return (owner, "ClusterQueue") if owner else None


def _note(trail: Trail, key: str) -> str | None:
    return next((notes[key] for notes in (trail.notes, trail.owner_notes, trail.namespace_notes) if key in notes), None)


def _channel(trail: Trail, what: What, name: str | None, policy: Policy) -> str | None:
    for route in policy.alerts.routes:
        if _matches(route, trail, what, name):
            return route.to
    team = policy.team(name) if name else None
    return team.channel if team else None


def _matches(one: Route | Mute, trail: Trail, what: What, team: str | None) -> bool:
    return (
        (one.incidents is None or what.value in one.incidents)
        and (one.teams is None or team in one.teams)
        and (one.namespaces is None or trail.namespace in one.namespaces)
    )
