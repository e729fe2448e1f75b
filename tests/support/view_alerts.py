"""Alerts, the lines of their threads and storms: their part of the gallery."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.core.incidents.facts import What
from bot.core.incidents.stories import Audience, Incident
from bot.core.messages import Message, Modal
from bot.core.people import Person
from bot.views.alerts import AlertFacts, LineFacts, StormFacts, alert, alert_line, storm
from tests.support.view_facts import Names, at

WHYS = {
    What.PREEMPTED: (
        "InClusterQueue",
        "InCohortReclamation",
        "InCohortFairSharing",
        "InCohortReclaimWhileBorrowing",
        "SomethingNew",
    ),
    What.EVICTED: (
        "PodsReadyTimeout",
        "AdmissionCheck",
        "ClusterQueueStopped",
        "LocalQueueStopped",
        "NodeFailures",
        "Deactivated",
        "DeactivatedDueToRequeuingLimitExceeded",
        "DeactivatedDueToMaximumExecutionTimeExceeded",
        "SomethingNew",
    ),
    What.REMOVED: (
        "PreemptionByScheduler",
        "EvictionByEvictionAPI",
        "DeletionByTaintManager",
        "DeletionByPodGC",
        "TerminationByKubelet",
        "SomethingNew",
    ),
}
CAUSES: dict[str, list[list[Any]]] = {
    "short": [[12, "short", "nvidia.com/gpu"]],
    "taint": [[12, "taint", "{gpu-class: h100}"]],
    "unknown taint": [[1, "taint", ""]],
    "affinity": [[3, "affinity", ""]],
    "mixed": [
        [8, "short", "nvidia.com/gpu"],
        [4, "closed", ""],
        [2, "else", "had volume trouble"],
        [1, "affinity", ""],
    ],
}


def incident(names: Names, what: What, why: str = "", **changes: Any) -> Incident:
    """A Job of vision at 11:42; `facts` are added to the usual ones."""
    facts = {
        "devices": {"nvidia.com/gpu": 8},
        "flavors": {"nvidia.com/gpu": names.flavor},
        "ran": 11_400,
        "nodes": 12,
        **changes.pop("facts", {}),
    }
    made = Incident(
        7, "k", "default", names.queue, "Job", names.work, what, at("11:42"), at("11:42"), at("11:42"), why, facts=facts
    )
    usual = {"audience": Audience("CVISION", "UOWNER", names.queue, "annotation on Job"), "message": names.vendor}
    return replace(made, **{**usual, **changes})


def every_story(names: Names) -> Iterator[tuple[str, Incident]]:
    """Each incident with each of its reasons."""
    for what, whys in WHYS.items():
        yield from ((f"{what} {why}", incident(names, what, why)) for why in whys)
    for name, causes in CAUSES.items():
        yield f"unschedulable {name}", incident(names, What.UNSCHEDULABLE, facts={"causes": causes})
        yield f"no room {name}", incident(names, What.NO_ROOM, facts={"causes": causes})
    too_much = {"flavor": names.flavor, "asked": 28, "most": 20}
    yield "never", incident(names, What.NEVER, facts=too_much)
    yield "never, misconfigured", incident(names, What.NEVER)
    yield "waiting", incident(names, What.WAITING, facts={"flavor": names.flavor, "needed": 2})
    yield "waiting, no number", incident(names, What.WAITING, message="")
    refused = {"quota": names.vendor, "asked": 8, "used": 4, "most": 8}
    yield "refused", incident(names, What.REFUSED, facts=refused)


def alerts_gallery(names: Names) -> Iterator[tuple[str, Message | Modal]]:
    """All of them once, and how a story goes on."""
    owner = Person("UOWNER", names.requester)
    for name, one in every_story(names):
        yield f"alert {name}", alert(AlertFacts(one, owner, mention=True))
    lost = incident(names, What.PREEMPTED, "InCohortReclamation")
    for stage in (What.QUEUED, What.ADMITTED, What.RUNNING, What.OVER):
        after = replace(lost, stage=stage, stage_at=at("12:20"), stage_why=names.manager, open=stage is What.ADMITTED)
        yield f"alert {stage}", alert(AlertFacts(after, owner))
    placed = replace(incident(names, What.UNSCHEDULABLE), stage=What.ADMITTED, stage_at=at("12:20"))
    yield "alert placed", alert(AlertFacts(placed, owner, pods=8))
    yield "alert repeated", alert(AlertFacts(replace(lost, times=6, at=at("13:42")), owner, late=True))
    saved = AlertFacts(lost, owner, names.queue, saved_at=at("11:02"), cluster=names.tool)
    yield "alert, who and where", alert(saved)
    yield "alert, team", alert(AlertFacts(replace(lost, audience=Audience("C", None, names.queue, "namespace"))))
    yield "alert, nobody", alert(AlertFacts(replace(lost, audience=Audience("C"), kind="Pod", what=What.REMOVED)))
    for what in What:
        ping = owner if what is What.PREEMPTED else None
        yield f"thread alert {what}", alert_line(LineFacts(lost, what, at("12:20"), names.manager, 3, ping))
    for what in (What.PREEMPTED, What.NO_ROOM, What.REFUSED):
        many = [replace(lost, id=n, stage=What.RUNNING if n % 2 else None) for n in range(23)]
        facts = StormFacts(what, at("14:00"), at("14:00") + timedelta(minutes=5), many, (owner, owner), names.tool)
        yield f"alert storm {what}", storm(facts)
