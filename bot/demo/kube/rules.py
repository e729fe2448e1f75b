"""Rules between the fields of a ClusterQueue or Cohort: the schema's expressions (422) and Kueue's validating webhook
(403).

`expressions` and `webhook` return every broken rule; the caller (writes.py) decides what that means. Numbers R1 to
R15 are those of the reference on Kueue.
"""

from collections.abc import Iterator
from typing import Any

from bot.demo.kube.quantity import canonical, parse
from bot.demo.kube.status import Cause, bad_value, duplicate, rule_broken

Obj = dict[str, Any]
_LIMITS = ("borrowingLimit", "lendingLimit")
_SAME_COUNT = "flavors must have the same number of resources as the coveredResources"
_NO_RECLAIM = "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"


def expressions(kind: str, spec: Obj) -> list[Cause]:
    """The schema's own expressions: R1 to R4."""
    causes: list[Cause] = []
    if kind == "ClusterQueue":
        causes += _cluster_queue_expressions(spec)
    if kind in ("ClusterQueue", "Cohort"):
        for at, group in enumerate(spec.get("resourceGroups", [])):
            covered = len(group["coveredResources"])
            if any(len(flavor["resources"]) != covered for flavor in group["flavors"]):
                causes.append(rule_broken(f"spec.resourceGroups[{at}]", _SAME_COUNT))
    return causes


def _cluster_queue_expressions(spec: Obj) -> Iterator[Cause]:
    if not spec.get("cohortName"):
        quotas = (quota for _, _, quota in _quotas(spec))
        if any("borrowingLimit" in quota for quota in quotas):
            yield rule_broken("spec", "borrowingLimit must be nil when cohort is empty")
    preemption = spec.get("preemption", {})
    lends = preemption.get("borrowWithinCohort", {}).get("policy", "Never")
    if preemption.get("reclaimWithinCohort", "Never") == "Never" and lends != "Never":
        yield rule_broken("spec.preemption", _NO_RECLAIM)
    fungible = spec.get("flavorFungibility", {})
    both = fungible.get("whenCanBorrow") == fungible.get("whenCanPreempt") == "TryNextFlavor"
    if fungible.get("preference") and not both:
        text = "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor"
        yield rule_broken("spec.flavorFungibility", text)


def immutable(kind: str, old: Obj, new: Obj) -> list[Cause]:
    """What an update may not change: a LocalQueue's ClusterQueue (schema)."""
    if kind == "LocalQueue" and old.get("clusterQueue") != new.get("clusterQueue"):
        return [rule_broken("spec.clusterQueue", "field is immutable")]
    return []


def webhook(kind: str, spec: Obj, old: Obj | None = None) -> list[Cause]:
    """Kueue's validating webhook on a ClusterQueue or Cohort: R7 to R15. `old` is the spec before an update."""
    parent = "cohort" if kind == "ClusterQueue" else "parent"
    joined = bool(spec.get("cohortName") if kind == "ClusterQueue" else spec.get("parentName"))
    causes = list(_names(spec))
    for path, _, quota in _quotas(spec):
        causes += _quota(path, quota, "" if joined else parent, lending_capped=kind == "ClusterQueue")
    causes += _sizes(spec)
    causes += _weight(spec)
    if kind == "ClusterQueue":
        causes += _checks(spec)
        causes += _concurrent(spec, old)
    return causes


def _quotas(spec: Obj) -> Iterator[tuple[str, str, Obj]]:
    """(path, flavor, quota) for every quota in the spec."""
    for g, group in enumerate(spec.get("resourceGroups", [])):
        for f, flavor in enumerate(group["flavors"]):
            for r, quota in enumerate(flavor["resources"]):
                yield f"spec.resourceGroups[{g}].flavors[{f}].resources[{r}]", flavor["name"], quota


def _quota(path: str, quota: Obj, alone: str, *, lending_capped: bool) -> Iterator[Cause]:
    """R7, R8, R9. `alone` names the missing cohort or parent, empty when there is one."""
    for name in ("nominalQuota", *_LIMITS):
        if name in quota and parse(quota[name]) < 0:
            yield bad_value(f"{path}.{name}", canonical(quota[name]), "must be greater than or equal to 0")
    for name in _LIMITS:
        if name in quota and alone:
            yield bad_value(f"{path}.{name}", canonical(quota[name]), f"must be nil when {alone} is empty")
    if lending_capped and "lendingLimit" in quota and parse(quota["lendingLimit"]) > parse(quota["nominalQuota"]):
        limit = canonical(quota["lendingLimit"])
        yield bad_value(f"{path}.lendingLimit", limit, "must be less than or equal to the nominalQuota")


def _names(spec: Obj) -> Iterator[Cause]:
    """R10 and R11: the order of resources, and nothing twice across groups."""
    resources: set[str] = set()
    flavors: set[str] = set()
    for g, group in enumerate(spec.get("resourceGroups", [])):
        path = f"spec.resourceGroups[{g}]"
        for c, name in enumerate(group["coveredResources"]):
            if name in resources:
                yield duplicate(f"{path}.coveredResources[{c}]", name)
            resources.add(name)
        for f, flavor in enumerate(group["flavors"]):
            if flavor["name"] in flavors:
                yield duplicate(f"{path}.flavors[{f}].name", flavor["name"])
            flavors.add(flavor["name"])
            for r, (quota, name) in enumerate(zip(flavor["resources"], group["coveredResources"], strict=True)):
                if quota["name"] != name:
                    at = f"{path}.flavors[{f}].resources[{r}].name"
                    yield bad_value(at, quota["name"], "must match the name in coveredResources")


def _sizes(spec: Obj) -> Iterator[Cause]:
    """R12."""
    groups = spec.get("resourceGroups", [])
    flavors = sum(len(group["flavors"]) for group in groups)
    covered = sum(len(group["coveredResources"]) for group in groups)
    for name, count in (("flavors", flavors), ("covered resources", covered)):
        if count > 256:
            text = f"total number of {name} across all resourceGroups must be \u2264 256, got {count}"
            yield bad_value("spec.resourceGroups", count, text)
    for g, group in enumerate(groups):
        pairs = len(group["flavors"]) * len(group["coveredResources"])
        if pairs > 512:
            text = f"number of flavor-resource combinations in a resourceGroup must be \u2264 512, got {pairs}"
            yield bad_value(f"spec.resourceGroups[{g}]", pairs, text)


def _weight(spec: Obj) -> Iterator[Cause]:
    """R13: 0, or more than a billionth."""
    weight = spec.get("fairSharing", {}).get("weight")
    if weight is None:
        return
    if parse(weight) < 0:
        yield bad_value("spec.fairSharing", canonical(weight), "must be greater than or equal to 0")
    elif parse(weight) != 0 and parse(weight) <= parse("1n"):
        yield bad_value("spec.fairSharing", canonical(weight), "must be either 0, or greater than 10^-9")


def _checks(spec: Obj) -> Iterator[Cause]:
    """R14: admission checks name listed flavors."""
    listed = {flavor["name"] for group in spec.get("resourceGroups", []) for flavor in group["flavors"]}
    for c, check in enumerate(spec.get("admissionChecksStrategy", {}).get("admissionChecks", [])):
        for f, flavor in enumerate(check.get("onFlavors", [])):
            if flavor not in listed:
                at = f"spec.admissionChecksStrategy.admissionChecks[{c}].onFlavors[{f}]"
                yield bad_value(at, flavor, "must be one of the flavors in the resourceGroups")


def _concurrent(spec: Obj, old: Obj | None) -> Iterator[Cause]:
    """R15: concurrentAdmissionPolicy never changes, and narrows what the queue may be."""
    field, policy = "spec.concurrentAdmissionPolicy", spec.get("concurrentAdmissionPolicy")
    if old is not None and old.get("concurrentAdmissionPolicy") != policy:
        yield bad_value(field, policy, "field is immutable")
    if policy is None:
        return
    groups = spec.get("resourceGroups", [])
    if len(groups) != 1:
        yield bad_value("spec.resourceGroups", len(groups), "must have exactly one resource group")
    elif len(groups[0]["flavors"]) > 16:
        text = f"Too many: {len(groups[0]['flavors'])}: must have at most 16 items"
        yield Cause("spec.resourceGroups[0].flavors", "FieldValueTooMany", text)
    if spec.get("queueingStrategy") == "StrictFIFO":
        yield bad_value("spec.queueingStrategy", "StrictFIFO", "is not supported with concurrentAdmissionPolicy")
