"""What happened to work, why, and what comes next, in words: a row for each reason that is known. Used by views/alerts.

A reason that nobody knows yet is quoted, and the rest of the message is as it always is.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from bot.core.incidents.facts import What
from bot.core.incidents.stories import Incident
from bot.views.amounts import GPU, Unit, counted, devices, joined, of_flavor
from bot.views.kit import line
from bot.views.loan_words import lasting
from bot.views.parts import Code, Line, Reason, Theirs

_PREEMPTED: Mapping[str, tuple[str, str]] = {
    "InClusterQueue": (
        "Kueue made room for another workload of the same queue, of higher or equal priority",
        "",
    ),
    "InCohortReclaimWhileBorrowing": (
        "Another queue needed GPUs while borrowing itself, for work of higher priority",
        "A higher priority class or a transfer protects it",
    ),
    "InCohortReclamation": (
        "Kueue reclaimed what the queue had borrowed",
        "Only a transfer keeps borrowed GPUs from being reclaimed",
    ),
    "InCohortFairSharing": (
        "Kueue evened out shares (Fair Sharing): the queue was above its share",
        "It runs again when the queue's share falls",
    ),
}
"""By the start of Kueue's reason: what it did, and what helps."""
_EVICTED: Mapping[str, tuple[str, str, str]] = {
    "PodsReadyTimeout": ("not all pods were ready in time", "Kueue waits for all pods together", "It tries again"),
    "AdmissionCheck": ("an admission check asks to retry", "", "It waits for the check"),
    "ClusterQueueStopped": (
        "its ClusterQueue was stopped",
        "An admin stopped it (HoldAndDrain)",
        "It comes back when the queue is started",
    ),
    "LocalQueueStopped": (
        "its LocalQueue was stopped",
        "Somebody stopped it (HoldAndDrain)",
        "It comes back when the queue is started",
    ),
    "NodeFailures": ("a node failed", "", "It goes back to the queue by itself"),
    "DeactivatedDueToRequeuingLimitExceeded": (
        "switched off after too many tries",
        "Kueue gave up requeueing it",
        "It does not come back by itself",
    ),
    "DeactivatedDueToMaximumExecutionTimeExceeded": (
        "switched off, it ran its longest time",
        "",
        "It does not come back by itself",
    ),
    "Deactivated": ("switched off", "It was set inactive", "It does not come back by itself"),
}
_REMOVED: Mapping[str, tuple[str, str]] = {
    "PreemptionByScheduler": (
        "pods removed for a higher-priority pod",
        "By kube-scheduler, not by Kueue's quota",
    ),
    "EvictionByEvictionAPI": ("pods evicted", "A node is drained, or somebody asked for it"),
    "DeletionByTaintManager": ("pods removed from a node", "The node got a taint that they do not tolerate"),
    "DeletionByPodGC": ("pods removed, their node is gone", ""),
    "TerminationByKubelet": ("pods ended by their node", "It ran out of something, or shuts down"),
}


_SMALLER = "Ask for more quota, or submit it smaller"


def amount(facts: Mapping[str, Any], unit: Unit = GPU) -> Line:
    """What the work asks for: "8 a100", "8 GPUs"."""
    flavors, asked = facts.get("flavors") or {}, facts.get("devices") or {}
    each = [of_flavor(n, flavors[name]) if name in flavors else line(devices(n, unit)) for name, n in asked.items()]
    return joined(each)


def what_happened(incident: Incident, unit: Unit) -> Line:
    """The rest of line 1, after the work's name."""
    facts, why = incident.facts, incident.why
    match incident.what:
        case What.PREEMPTED if incident.times > 1:
            span = lasting(max(incident.at - incident.began, timedelta(minutes=1)))
            return line(f" preempted {incident.times:,} times in {span}")
        case What.PREEMPTED:
            size = amount(facts, unit)
            return line(" preempted", ": " if size else "", size)
        case What.EVICTED:
            known = _starting(_EVICTED, why)
            return line(" evicted: ", known[0] if known else line("Kueue says ", Theirs(why)))
        case What.REMOVED:
            return line(": ", _REMOVED.get(why, ("pods removed", ""))[0])
        case What.NEVER:
            return _never(facts)
        case What.WAITING:
            return _waits(facts)
        case What.REFUSED:
            over = max(int(facts.get("used", 0)) + int(facts.get("asked", 0)) - int(facts.get("most", 0)), 0)
            return line(": pods refused, ", devices(over, unit), " too many")
        case _:
            return _placed_nowhere(incident)


def _never(facts: Mapping[str, Any]) -> Line:
    if "most" in facts and "flavor" in facts:
        asked = of_flavor(int(facts["asked"]), facts["flavor"])
        return line(" can never start: asks ", asked, f", most is {int(facts['most']):,}")
    return line(" can never start as it was submitted")


def _waits(facts: Mapping[str, Any]) -> Line:
    if "needed" in facts and "flavor" in facts:
        needed = int(facts["needed"])
        return line(" waits for quota: ", f"{needed:,} more ", Theirs(facts["flavor"]), " needed")
    return line(" waits for quota")


def _placed_nowhere(incident: Incident) -> Line:
    before = ": admitted, and " if incident.what is What.NO_ROOM else ": "
    kinds = {cause[1] for cause in incident.facts.get("causes") or ()}
    if kinds == {"taint"}:
        return line(before, "no node lets it in")
    if kinds == {"affinity"}:
        return line(before, "no node matches its selector")
    return line(before, "no node has room" if kinds <= {"short"} and kinds else "no node fits")


def because(incident: Incident) -> tuple[Line, ...]:
    """Why, in a line or two; Kueue's or the scheduler's word where it is a new one."""
    facts, why = incident.facts, incident.why
    match incident.what:
        case What.PREEMPTED:
            known = _starting(_PREEMPTED, why)
            return (line(known[0]) if known else line("Kueue says: ", Theirs(why or "no reason")),)
        case What.EVICTED:
            known = _starting(_EVICTED, why)
            return (line(known[1]),) if known and known[1] else (_quoted(incident),)
        case What.REMOVED:
            said = _REMOVED.get(why)
            return (line(said[1]),) if said and said[1] else (_quoted(incident),)
        case What.UNSCHEDULABLE | What.NO_ROOM:
            return _causes(incident)
        case What.REFUSED:
            numbers = f": {facts['most']:,} allowed, {facts['used']:,} used, {facts['asked']:,} asked"
            return (line("ResourceQuota ", Theirs(facts["quota"]), numbers), line("A second limit, beside Kueue's"))
        case _:
            return (_quoted(incident),)


def _quoted(incident: Incident) -> Line:
    return line(Reason(incident.message)) if incident.message else ()


def _causes(incident: Incident) -> tuple[Line, ...]:
    nodes, causes = incident.facts.get("nodes"), incident.facts.get("causes")
    if not causes:
        return (_quoted(incident),)
    lines = [_cause(cause, nodes) for cause in causes[:3]]
    return (*lines, line(f"And {counted(len(causes) - 3, 'more cause')}")) if len(causes) > 3 else tuple(lines)


def _cause(cause: Any, nodes: Any) -> Line:
    count, kind, detail = cause
    these = f"{int(count):,} of {int(nodes):,} nodes "
    match kind:
        case "short":
            return line(these, "lack free ", Code(detail))
        case "taint":
            which = line(": ", Theirs(detail)) if detail else line(" (the scheduler does not say which)")
            return line(these, "have a taint it does not tolerate", which)
        case "affinity":
            return line(these, "do not match its node affinity or selector")
        case "closed":
            return line(these, "are cordoned")
        case _:
            return line(these, "say: ", Theirs(detail))


def helps(incident: Incident) -> Line:
    """What can be done, or what happens by itself."""
    match incident.what:
        case What.PREEMPTED:
            known = _starting(_PREEMPTED, incident.why)
            return line(known[1]) if known else ()
        case What.EVICTED:
            evicted = _starting(_EVICTED, incident.why)
            return line(evicted[2]) if evicted else ()
        case What.REMOVED if incident.kind == "Pod":
            return line("Nothing makes it again: it stood alone")
        case What.REMOVED:
            return line(Theirs(incident.kind), " makes new pods; the rest may hang until then")
        case What.UNSCHEDULABLE | What.NO_ROOM:
            return _finds_a_node(incident)
        case What.NEVER:
            too_much = "most" in incident.facts
            return line(_SMALLER if too_much else "Correct it and submit it again: waiting does not help")
        case What.REFUSED:
            return line("Ask for more of that ResourceQuota, or wait for its pods to end")
        case _:
            return ()


def _finds_a_node(incident: Incident) -> Line:
    kinds = {cause[1] for cause in incident.facts.get("causes") or ()}
    if kinds == {"taint"}:
        return line("Not a shortage: add the toleration, waiting does not help")
    if kinds == {"affinity"}:
        return line("Check the selector: waiting does not help")
    full = "It waits: quota is there, the nodes are full or have other work"
    return line(full if incident.what is What.NO_ROOM else "It waits for a free node")


def _starting(rows: Mapping[str, Any], why: str) -> Any:
    """The row of the longest known reason that this one begins with: newer Kueues append to them."""
    known = [reason for reason in rows if why.startswith(reason)]
    return rows[max(known, key=len)] if known else None
