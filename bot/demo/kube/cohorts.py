"""Quota as Kueue computes it: nominal, lending and borrowing limits, over a tree of cohorts. Pure; built anew for
every pass.

All numbers are in Kueue's units (quantity.amount), per (flavor, resource).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.demo.kube.quantity import amount

Obj = dict[str, Any]
FlavorResource = tuple[str, str]
Usage = dict[FlavorResource, int]


@dataclass(frozen=True, slots=True)
class Quota:
    """None for `borrowing` is no limit, for `lending` all of nominal."""

    nominal: int = 0
    borrowing: int | None = None
    lending: int | None = None


NOTHING = Quota()


@dataclass(slots=True, eq=False)
class Node:
    """A ClusterQueue (no children, has usage of its own) or a cohort."""

    name: str
    quotas: dict[FlavorResource, Quota] = field(default_factory=dict)
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)
    usage: Usage = field(default_factory=dict)

    def quota(self, at: FlavorResource) -> Quota:
        return self.quotas.get(at, NOTHING)

    def subtree(self, at: FlavorResource) -> int:
        """What the node has to give: its own nominal and what its children let out."""
        return self.quota(at).nominal + sum(child.subtree(at) - child.local(at) for child in self.children)

    def local(self, at: FlavorResource) -> int:
        """The part the parent never sees."""
        lending = self.quota(at).lending
        return 0 if lending is None else max(0, self.subtree(at) - lending)

    def used(self, at: FlavorResource) -> int:
        return self.usage.get(at, 0) + sum(max(0, child.used(at) - child.local(at)) for child in self.children)

    def available(self, at: FlavorResource) -> int:
        """What can still be taken now; below zero where quota was taken away under running work."""
        subtree, used = self.subtree(at), self.used(at)
        if self.parent is None:
            return subtree - used
        local, borrowing = self.local(at), self.quota(at).borrowing
        from_parent = self.parent.available(at)
        if borrowing is not None:
            from_parent = min(from_parent, subtree - local - max(0, used - local) + borrowing)
        return max(0, local - used) + from_parent

    def potential(self, at: FlavorResource) -> int:
        """The most that could ever be taken, were everything else idle."""
        subtree = self.subtree(at)
        if self.parent is None:
            return subtree
        reach, borrowing = self.local(at) + self.parent.potential(at), self.quota(at).borrowing
        return reach if borrowing is None else min(subtree + borrowing, reach)

    def borrowed(self, at: FlavorResource) -> int:
        """Use above nominal, as the status of a queue in a cohort shows it."""
        return max(0, self.used(at) - self.quota(at).nominal) if self.parent else 0

    def take(self, usage: Usage, sign: int = 1) -> None:
        for at, units in usage.items():
            self.usage[at] = self.usage.get(at, 0) + sign * units

    @property
    def root(self) -> "Node":
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    @property
    def path(self) -> str:
        """'/root/.../name', as preemption messages give it."""
        return f"{self.parent.path if self.parent else ''}/{self.name}"


@dataclass(frozen=True, slots=True)
class Tree:
    """Every ClusterQueue's node by name; `cyclic` are queues whose cohorts run in a circle: they admit nothing."""

    queues: dict[str, Node]
    cohorts: dict[str, Node]
    cyclic: frozenset[str]


def build(queues: Iterable[Obj], cohorts: Iterable[Obj], usage: Mapping[str, Usage]) -> Tree:
    """The tree of all queues. A cohort that is only named exists without quota; members of a circle stand alone."""
    parents: dict[str, str] = {}
    nodes: dict[str, Node] = {}
    for cohort in cohorts:
        name, spec = cohort["metadata"]["name"], cohort.get("spec", {})
        nodes[name] = Node(name, quotas(spec))
        if spec.get("parentName"):
            parents[name] = spec["parentName"]
    circles = {name for name in parents if _in_circle(name, parents)}
    for name, parent in parents.items():
        if name not in circles:
            _join(nodes[name], nodes.setdefault(parent, Node(parent)))
    leaves: dict[str, Node] = {}
    cyclic: set[str] = set()
    for queue in queues:
        name, spec = queue["metadata"]["name"], queue.get("spec", {})
        leaves[name] = Node(name, quotas(spec), usage=dict(usage.get(name, {})))
        parent = spec.get("cohortName")
        if parent in circles:
            cyclic.add(name)
        elif parent:
            _join(leaves[name], nodes.setdefault(parent, Node(parent)))
    return Tree(leaves, nodes, frozenset(cyclic))


def _join(child: Node, parent: Node) -> None:
    child.parent = parent
    parent.children.append(child)


def _in_circle(name: str, parents: Mapping[str, str]) -> bool:
    """Whether following parents from here never ends."""
    seen: set[str] = set()
    at: str | None = name
    while at is not None and at not in seen:
        seen.add(at)
        at = parents.get(at)
    return at is not None


def quotas(spec: Obj) -> dict[FlavorResource, Quota]:
    """The quotas of a ClusterQueue's or Cohort's spec."""
    found: dict[FlavorResource, Quota] = {}
    for group in spec.get("resourceGroups", []):
        for flavor in group["flavors"]:
            for entry in flavor["resources"]:
                resource = entry["name"]
                limits = [_limit(resource, entry.get(name)) for name in ("borrowingLimit", "lendingLimit")]
                found[flavor["name"], resource] = Quota(amount(resource, entry["nominalQuota"]), *limits)
    return found


def _limit(resource: str, value: int | str | None) -> int | None:
    return None if value is None else amount(resource, value)
