"""Which flavors a workload would get from its queue now, and the words for it when there are none. Called by
scheduler.py.

The messages are Kueue's, to the letter: the bot reads them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.demo.kube.cohorts import FlavorResource, Node, Usage
from bot.demo.kube.quantity import printed
from bot.demo.kube.workloads import Resources, requests, spec_of

Obj = dict[str, Any]
FIT, PREEMPT, NO_FIT = 2, 1, 0


@dataclass(slots=True)
class Assignment:
    """`mode` FIT: may be admitted; PREEMPT: would fit if others made room; NO_FIT: neither. `never`: above what
    could ever be free.
    """

    mode: int = FIT
    borrows: bool = False
    never: bool = False
    unmatched: bool = False
    flavors: dict[str, dict[str, str]] = field(default_factory=dict)
    usage: Usage = field(default_factory=dict)
    contested: set[FlavorResource] = field(default_factory=set)
    message: str = ""


@dataclass(slots=True)
class _Try:
    """One flavor for one pod set's share of a resource group."""

    flavor: str
    mode: int = FIT
    borrows: bool = False
    never: bool = False
    unmatched: bool = False
    reasons: list[str] = field(default_factory=list)
    contested: set[FlavorResource] = field(default_factory=set)


def assign(node: Node, spec: Obj, workload: Obj, flavors: Mapping[str, Obj]) -> Assignment:
    """Flavors for every pod set of the workload in the queue with this node and spec; `flavors` are the
    ResourceFlavors by name.
    """
    result = Assignment()
    templates = {pods["name"]: pods["template"].get("spec", {}) for pods in spec_of(workload).get("podSets", [])}
    messages = []
    for pod_set, wanted in requests(workload):
        reasons = _pod_set(result, node, spec, (pod_set, wanted, templates[pod_set]), flavors)
        if reasons:
            messages.append(f"couldn't assign flavors to pod set {pod_set}: {', '.join(sorted(reasons))}")
    result.message = "; ".join(messages)
    return result


def _pod_set(
    result: Assignment, node: Node, spec: Obj, pods: tuple[str, Resources, Obj], flavors: Mapping[str, Obj]
) -> list[str]:
    name, wanted, template = pods
    reasons: list[str] = []
    chosen = result.flavors.setdefault(name, {})
    left = dict(wanted)
    for group in spec.get("resourceGroups", []):
        share = {resource: left.pop(resource) for resource in group["coveredResources"] if resource in left}
        if not share:
            continue
        best, said = _best(node, spec, group, (share, result.usage, template), flavors)
        reasons += said
        _adopt(result, best)
        for resource, units in share.items():
            chosen[resource] = best.flavor
            at = (best.flavor, resource)
            result.usage[at] = result.usage.get(at, 0) + units
    for resource in left:
        reasons.append(f"resource {resource} unavailable in ClusterQueue")
        result.mode = NO_FIT
        result.unmatched = True
    return reasons


def _adopt(result: Assignment, best: _Try) -> None:
    result.mode = min(result.mode, best.mode)
    result.borrows |= best.borrows
    result.never |= best.never
    result.unmatched |= best.unmatched
    result.contested |= best.contested


def _best(
    node: Node, spec: Obj, group: Obj, asked: tuple[Resources, Usage, Obj], flavors: Mapping[str, Obj]
) -> tuple[_Try, list[str]]:
    """The best flavor of the group in the order of the spec, and why the others (all, if it does not fit) were not."""
    fungible = spec.get("flavorFungibility", {})
    tries: list[_Try] = []
    for entry in group["flavors"]:
        attempt = _try(node, spec, entry["name"], asked, flavors)
        tries.append(attempt)
        stops = not attempt.borrows or fungible.get("whenCanBorrow", "MayStopSearch") == "MayStopSearch"
        if attempt.mode == FIT and stops:
            break
        if attempt.mode == PREEMPT and fungible.get("whenCanPreempt") == "MayStopSearch":
            break
    best = max(tries, key=lambda attempt: (attempt.mode, not attempt.borrows))
    best.never = all(attempt.never for attempt in tries)
    reasons = [] if best.mode == FIT else [reason for attempt in tries for reason in attempt.reasons]
    return best, reasons


def _try(node: Node, spec: Obj, name: str, asked: tuple[Resources, Usage, Obj], flavors: Mapping[str, Obj]) -> _Try:
    share, assumed, template = asked
    attempt = _Try(name)
    if name not in flavors:
        return _unmatched(attempt, f"flavor {name} not found")
    labels = flavors[name].get("spec", {}).get("nodeLabels", {})
    selector = template.get("nodeSelector", {})
    if any(selector[key] != value for key, value in labels.items() if key in selector):
        return _unmatched(attempt, f"flavor {name} doesn't match node affinity")
    for resource, units in share.items():
        _quota(attempt, node, spec, (resource, units, assumed.get((name, resource), 0)))
    return attempt


def _unmatched(attempt: _Try, reason: str) -> _Try:
    attempt.mode, attempt.unmatched = NO_FIT, True
    attempt.reasons.append(reason)
    return attempt


def _quota(attempt: _Try, node: Node, spec: Obj, asked: tuple[str, int, int]) -> None:
    resource, units, before = asked
    flavor, at = attempt.flavor, (attempt.flavor, resource)
    total, available, most = units + before, max(0, node.available(at)), node.potential(at)
    attempt.borrows |= node.used(at) + total > node.quota(at).nominal
    if total > most:
        attempt.mode, attempt.never = NO_FIT, True
        attempt.reasons.append(
            f"insufficient quota for {resource} in flavor {flavor}, previously considered podsets requests "
            f"({printed(resource, before)}) + current podset request ({printed(resource, units)}) > "
            f"maximum capacity ({printed(resource, most)})"
        )
    elif total > available:
        missing = printed(resource, total - available)
        attempt.reasons.append(f"insufficient unused quota for {resource} in flavor {flavor}, {missing} more needed")
        attempt.contested.add(at)
        lends = spec.get("preemption", {}).get("borrowWithinCohort", {}).get("policy", "Never") != "Never"
        may = total <= node.quota(at).nominal or lends
        attempt.mode = min(attempt.mode, PREEMPT if may else NO_FIT)
