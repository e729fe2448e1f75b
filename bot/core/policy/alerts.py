"""What alerts.yaml may say: which incidents are told, when, where, and whom they mention."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bot.core.policy.approvals import Hours
from bot.core.policy.scalars import LISTED, NOT_EMPTY, Channel, Count, Duration, KubernetesNames, Names, Strict

Incident: TypeAlias = Literal[
    "preempted", "evicted", "removed", "unschedulable", "no-room", "never", "waiting", "refused"
]
"""Values of core.incidents.facts.What that begin a story."""
Incidents = Annotated[tuple[Incident, ...], *LISTED]
Preemptor: TypeAlias = Literal["hidden", "team", "queue"]
Label = Annotated[str, Field(min_length=1, max_length=317)]


class Grace(Strict):
    """How long a trouble lasts before it is told."""

    unschedulable: Duration = timedelta(minutes=5)
    """Also of work that was admitted and finds no room."""
    never: Duration = timedelta(minutes=1)
    waiting: Duration = timedelta(hours=1)
    """For quota."""
    refused: Duration = timedelta(minutes=1)


class Storm(Strict):
    """When many alerts of one kind for one place become one message."""

    more_than: Count = 5
    within: Duration = timedelta(minutes=5)


class Route(Strict):
    """Another channel for some of them. The first that matches counts."""

    incidents: Annotated[tuple[Incident, ...], *LISTED, NOT_EMPTY] | None = None
    teams: Names | None = None
    namespaces: Annotated[KubernetesNames, NOT_EMPTY] | None = None
    to: Channel


class Mute(Strict):
    """What is never told."""

    incidents: Annotated[tuple[Incident, ...], *LISTED, NOT_EMPTY] | None = None
    teams: Names | None = None
    namespaces: Annotated[KubernetesNames, NOT_EMPTY] | None = None


class AlertsFile(Strict):
    """The whole of alerts.yaml. The file may be left out: then all of it is as it starts."""

    grace: Grace = Grace()
    gather: Duration = timedelta(minutes=1)
    """An alert waits for so long, so that what happens together is told together."""
    fold_within: Duration = timedelta(hours=2)
    """What happens to the same work again within it changes its message instead of making another."""
    storm: Storm = Storm()
    mention: Incidents = ("preempted", "evicted", "removed", "unschedulable", "never", "refused")
    """The others are posted and ping nobody."""
    preemptor: Preemptor = "hidden"
    """How whoever preempted is named to others: not at all, by team, or by ClusterQueue. Its job never is."""
    owner_labels: Annotated[tuple[Label, ...], *LISTED] = ()
    """Labels whose value is a Slack user id."""
    team_labels: Annotated[tuple[Label, ...], *LISTED] = ()
    """Labels whose value is a team of teams.yaml."""
    quiet_hours: Hours | None = None
    """Alerts of these hours wait for their end, and then say what is true."""
    routes: tuple[Route, ...] = ()
    mutes: tuple[Mute, ...] = ()

    def graces(self) -> Mapping[str, timedelta]:
        """By incident, for core.incidents.classify; what happens at one moment has none."""
        grace = self.grace
        return {
            "unschedulable": grace.unschedulable,
            "no-room": grace.unschedulable,
            "never": grace.never,
            "waiting": grace.waiting,
            "refused": grace.refused,
        }
