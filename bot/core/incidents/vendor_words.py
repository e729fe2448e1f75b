"""What Kueue, kube-scheduler and the quota admission write in messages, as values. Used by core/incidents/looks.

Their wording changes between releases: what is not understood is left out, and the message itself is kept.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

Facts = dict[str, Any]
"""JSON values."""

PREVIOUSLY = "Previously: "
_PREEMPTION = re.compile(
    r"UID: (?P<uid>[^,)\s]+)(?:, JobUID: (?P<job_uid>[^)\s]+))?\) due to (?P<why>[^;]+)"
    r"(?:; preemptor path: (?P<by>\S+); preemptee path: (?P<of>[^;\s]+))?"
)
_WHY = {
    "prioritization in the ClusterQueue": "InClusterQueue",
    "reclamation within the cohort while borrowing": "InCohortReclaimWhileBorrowing",
    "reclamation within the cohort": "InCohortReclamation",
    "Fair Sharing within the cohort": "InCohortFairSharing",
}
_NEEDED = re.compile(r"insufficient unused quota for (\S+) in flavor ([^,\s]+), (\d+) more needed")
_TOO_MUCH = re.compile(r"insufficient quota for (\S+) in flavor ([^,\s]+), ([^;]*?maximum capacity \([^)]*\))")
_NUMBER = re.compile(r"\d+")
_IN_BRACKETS = re.compile(r"\(([\d >]+)\)")
_NODES = re.compile(r"\d+/(\d+) nodes are available: (.*)", re.DOTALL)
_REST = re.compile(r"\.?,? ?(?:no new claims to deallocate|preemption: ).*", re.DOTALL)
_TAINT = re.compile(r"untolerated taint(?:\(s\)| (\{[^}]*\}))")
_QUOTA = re.compile(r"exceeded quota: ([^,\s]+), requested: (\S+), used: (\S+), limited: (\S+)")


def preemption(message: str) -> Facts:
    """Who preempted: `by_queue`, `cohort` (the root), `by_uid`, `why` where the message says so."""
    found = _PREEMPTION.search(message)
    if found is None:
        return {}
    path = [part for part in (found["by"] or "").rstrip(",").split("/") if part]
    facts = {
        "by_uid": found["uid"],
        "by_queue": path[-1] if path else None,
        "cohort": path[0] if len(path) > 1 else None,
        "why": _WHY.get(found["why"].strip().rstrip(".")),
    }
    return {key: value for key, value in facts.items() if value}


def shortage(message: str, accelerators: Collection[str]) -> Facts:
    """How much quota is missing: `resource`, `flavor`, `needed`. Of accelerators first."""
    found = [(one[1], one[2], int(one[3])) for one in _NEEDED.finditer(message)]
    found.sort(key=lambda one: one[0] not in accelerators)
    return dict(zip(("resource", "flavor", "needed"), found[0], strict=True)) if found else {}


def too_much(message: str, accelerators: Collection[str]) -> Facts:
    """That it can never fit: `resource`, `flavor`, `asked`, `most`; nothing if the message does not say so."""
    found = sorted(_TOO_MUCH.finditer(message), key=lambda one: one[1] not in accelerators)
    if not found:
        return {}
    numbers = [int(number) for part in _IN_BRACKETS.findall(found[0][3]) for number in _NUMBER.findall(part)]
    facts: Facts = {"resource": found[0][1], "flavor": found[0][2]}
    return facts | ({"asked": sum(numbers[:-1]), "most": numbers[-1]} if len(numbers) > 1 else {})


def placement(message: str) -> Facts:
    """Why no node takes a pod: `nodes` (how many there are) and `causes`, the most nodes first.

    A cause is [nodes, word, detail]: short (of a resource), taint (which, or empty), affinity, closed (cordoned), else.
    """
    found = _NODES.match(message)
    if found is None:
        return {}
    causes: list[tuple[int, str, str]] = []
    for part in re.split(r", (?=\d)", _REST.sub("", found[2]).rstrip(". ")):
        count, _, text = part.partition(" ")
        if count.isdigit() and text:
            causes.append((int(count), *_cause(text)))
    causes.sort(key=lambda one: (-one[0], one[1:]))
    return {"nodes": int(found[1]), "causes": [list(one) for one in causes]}


def _cause(text: str) -> tuple[str, str]:
    if text.startswith("Insufficient "):
        return "short", text.removeprefix("Insufficient ")
    if taint := _TAINT.search(text):
        return "taint", taint[1] or ""
    if "affinity" in text or "selector" in text:
        return "affinity", ""
    if "were unschedulable" in text:
        return "closed", ""
    return "else", text.removeprefix("node(s) ")[:200]


def refusal(message: str, accelerators: Collection[str]) -> Facts | None:
    """What a ResourceQuota refused: `quota`, `resource`, `asked`, `used`, `most`. None: it is about no accelerator."""
    found = _QUOTA.search(message)
    if found is None:
        return None
    asked, used, most = (_amounts(found[group].rstrip(",")) for group in (2, 3, 4))
    for key in asked:
        resource = key.removeprefix("requests.")
        if resource in accelerators:
            return {
                "quota": found[1],
                "resource": resource,
                "asked": asked[key],
                "used": used.get(key, 0),
                "most": most.get(key, 0),
            }
    return None


def _amounts(text: str) -> Mapping[str, int]:
    pairs = (part.partition("=") for part in text.split(","))
    return {key: int(value) for key, _, value in pairs if value.isdigit()}
