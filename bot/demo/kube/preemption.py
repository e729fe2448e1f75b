"""Who must go so that a workload fits: Kueue's classical preemption. Pure on a quota tree, which it leaves as it
found it.

Fair sharing is not modelled.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bot.demo.kube.cohorts import FlavorResource, Node, Usage
from bot.demo.kube.workloads import is_true, priority

Obj = dict[str, Any]
IN_QUEUE, RECLAIM, WHILE_BORROWING = "InClusterQueue", "InCohortReclamation", "InCohortReclaimWhileBorrowing"
WORDS = {
    IN_QUEUE: "prioritization in the ClusterQueue",
    RECLAIM: "reclamation within the cohort",
    WHILE_BORROWING: "reclamation within the cohort while borrowing",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A workload that holds quota: `node` its queue, `since` the order of its reservation, `born` of its creation."""

    workload: Obj
    node: Node
    usage: Usage
    since: int
    born: int


@dataclass(frozen=True, slots=True)
class Preemptor:
    workload: Obj
    node: Node
    spec: Obj
    usage: Usage
    contested: frozenset[FlavorResource]
    born: int


@dataclass(frozen=True, slots=True)
class Victim:
    candidate: Candidate
    reason: str


def victims(preemptor: Preemptor, holding: Iterable[Candidate]) -> list[Victim]:
    """The fewest victims in Kueue's order, or none when room cannot be made."""
    candidates = [held for held in holding if _eligible(preemptor, held)]
    candidates.sort(key=lambda held: _order(preemptor, held))
    own = [held for held in candidates if held.node is preemptor.node]
    if len(own) == len(candidates):
        return _fewest(preemptor, own, borrowing=True, below=None)
    under = all(preemptor.node.used(at) < preemptor.node.quota(at).nominal for at in preemptor.contested)
    below = _threshold(preemptor)
    if below is not None:
        if not under:
            candidates = [held for held in candidates if held in own or priority(held.workload) < below]
        return _fewest(preemptor, candidates, borrowing=True, below=below)
    if under and (found := _fewest(preemptor, candidates, borrowing=False, below=None)):
        return found
    return _fewest(preemptor, own, borrowing=True, below=None)


def _eligible(preemptor: Preemptor, held: Candidate) -> bool:
    if not any(held.usage.get(at) for at in preemptor.contested):
        return False
    preemption = preemptor.spec.get("preemption", {})
    lower = priority(held.workload) < priority(preemptor.workload)
    if held.node is preemptor.node:
        policy = preemption.get("withinClusterQueue", "Never")
        newer = priority(held.workload) == priority(preemptor.workload) and held.born > preemptor.born
        return policy != "Never" and (lower or (newer and policy == "LowerOrNewerEqualPriority"))
    if preemptor.node.parent is None or held.node.root is not preemptor.node.root:
        return False
    policy = preemption.get("reclaimWithinCohort", "Never")
    return _borrowing(held.node, preemptor.contested) and (policy == "Any" or (policy == "LowerPriority" and lower))


def _borrowing(node: Node, contested: Iterable[FlavorResource]) -> bool:
    return any(node.used(at) > node.quota(at).nominal for at in contested)


def _order(preemptor: Preemptor, held: Candidate) -> tuple[bool, bool, int, int]:
    """Already evicted first, then other queues, lower priority, most recently reserved."""
    evicted = is_true(held.workload, "Evicted")
    return not evicted, held.node is preemptor.node, priority(held.workload), -held.since


def _threshold(preemptor: Preemptor) -> int | None:
    """Below this priority, others may be preempted for a workload that borrows; None: never."""
    policy = preemptor.spec.get("preemption", {}).get("borrowWithinCohort", {})
    if policy.get("policy", "Never") == "Never":
        return None
    own, most = priority(preemptor.workload), policy.get("maxPriorityThreshold")
    return own if most is None else min(own, most + 1)


def _fewest(preemptor: Preemptor, candidates: list[Candidate], *, borrowing: bool, below: int | None) -> list[Victim]:
    """Take candidates until it fits, then give back those that were not needed."""
    taken: list[Victim] = []
    fits = False
    for held in candidates:
        foreign = held.node is not preemptor.node
        if foreign and not _borrowing(held.node, preemptor.contested):
            continue
        reason = RECLAIM if foreign else IN_QUEUE
        if foreign and below is not None:
            if priority(held.workload) < below:
                reason = WHILE_BORROWING
            else:
                borrowing = False
        held.node.take(held.usage, -1)
        taken.append(Victim(held, reason))
        if fits := _fits(preemptor, borrowing=borrowing):
            break
    kept = _given_back(preemptor, taken, borrowing=borrowing) if fits else []
    for victim in kept if fits else taken:
        victim.candidate.node.take(victim.candidate.usage)
    return kept


def _given_back(preemptor: Preemptor, taken: list[Victim], *, borrowing: bool) -> list[Victim]:
    kept = [taken[-1]]
    for victim in reversed(taken[:-1]):
        victim.candidate.node.take(victim.candidate.usage)
        if not _fits(preemptor, borrowing=borrowing):
            victim.candidate.node.take(victim.candidate.usage, -1)
            kept.insert(0, victim)
    return kept


def _fits(preemptor: Preemptor, *, borrowing: bool) -> bool:
    node = preemptor.node
    for at, units in preemptor.usage.items():
        if units > node.available(at):
            return False
        if not borrowing and node.parent is not None and node.used(at) + units > node.quota(at).nominal:
            return False
    return True
