"""Quota arithmetic of cohort trees: what is free, what a queue can get now, and the most it can ever get.

Kueue's own recursion over ClusterQueues and Cohort objects with lending and borrowing limits, from reserved amounts,
for one flavor and resource. Read by proposals, impacts and the answers to `show` and `who`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bot.core.kueue import ClusterPicture, FlavorResource, Quota


class Node(NamedTuple):
    """A ClusterQueue or a cohort; the two may have the same name."""

    name: str
    is_cohort: bool = False


@dataclass(frozen=True, slots=True)
class QuotaTree:
    """All trees of a picture for one flavor and resource. Amounts are whole devices.

    A queue that is in no cohort is a tree of its own. A queue whose cohorts form a cycle, or that is not in the
    picture, can get nothing: Kueue disables it.
    """

    entry: FlavorResource
    quotas: Mapping[Node, Quota]
    """Of the queues that list the entry and of the Cohort objects that add to it."""
    roots: Mapping[Node, Node]
    """Each node's root. Nodes of a cycle are in none of these mappings."""
    subtree: Mapping[Node, int]
    """Quota that a node stands for: its own and what its children let go."""
    usage: Mapping[Node, int]
    """Reserved of it."""
    availables: Mapping[Node, int]
    potentials: Mapping[Node, int]

    def cohort(self, queue: str) -> str | None:
        """Root cohort of the queue's tree; None if it is in none."""
        root = self.roots.get(Node(queue))
        return root.name if root and root.is_cohort else None

    def available(self, queue: str) -> int:
        """What the queue could reserve at this moment; negative if more is reserved than there is quota."""
        return self.availables[Node(queue)] if self._lists(queue) else 0

    def potential(self, queue: str) -> int:
        """The most the queue can ever hold, if all others held nothing: a larger workload never fits."""
        return self.potentials[Node(queue)] if self._lists(queue) else 0

    def pool_free(self, queue: str) -> int:
        """Free at the root of the queue's tree; negative if more is reserved than there is quota."""
        root = self.roots.get(Node(queue))
        return self.availables[root] if root else 0

    def free(self, queue: str) -> int:
        """What people are told is free: at the root of the queue's tree, never below 0."""
        return max(0, self.pool_free(queue))

    def nominal(self, queue: str) -> int:
        """Sum of nominalQuota over the queue's whole tree, Cohort objects included."""
        root = self.roots.get(Node(queue))
        return sum(quota.nominal for node, quota in self.quotas.items() if root and self.roots.get(node) == root)

    def members(self, queue: str) -> tuple[str, ...]:
        """The queues of the queue's tree, itself included, whether or not they list the entry."""
        root = self.roots.get(Node(queue))
        return tuple(node.name for node, top in self.roots.items() if top == root and not node.is_cohort)

    def _lists(self, queue: str) -> bool:
        return Node(queue) in self.quotas and Node(queue) in self.roots


def quota_tree(picture: ClusterPicture, entry: FlavorResource) -> QuotaTree:
    """The trees of a picture with their balances, each node visited once."""
    parents = _parents(picture)
    order = tuple(_top_down(parents))
    quotas = dict(_quotas(picture, entry))
    reserved = {Node(name): queue.reserved.get(entry, 0) for name, queue in picture.queues.items()}
    subtree, usage = _balances(order, parents, quotas, reserved)
    roots: dict[Node, Node] = {}
    for node in order:
        parent = parents[node]
        roots[node] = roots[parent] if parent else node
    availables = _availables(order, parents, quotas, subtree, usage)
    potentials = _potentials(order, parents, quotas, subtree)
    return QuotaTree(entry, quotas, roots, subtree, usage, availables, potentials)


def _parents(picture: ClusterPicture) -> dict[Node, Node | None]:
    """Each node's parent. A cohort that is only named has no object and no parent."""
    parents: dict[Node, Node | None] = {}
    for name, queue in picture.queues.items():
        parents[Node(name)] = Node(queue.cohort, is_cohort=True) if queue.cohort else None
    for name, cohort in picture.cohorts.items():
        parents[Node(name, is_cohort=True)] = Node(cohort.parent, is_cohort=True) if cohort.parent else None
    for parent in tuple(parents.values()):
        if parent is not None:
            parents.setdefault(parent, None)
    return parents


def _top_down(parents: Mapping[Node, Node | None]) -> Iterator[Node]:
    """Nodes after their parents, from the roots; what hangs on a cycle is never reached."""
    children: dict[Node | None, list[Node]] = {}
    for node, parent in parents.items():
        children.setdefault(parent, []).append(node)
    waiting = list(children.get(None, ()))
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children.get(node, ()))


def _quotas(picture: ClusterPicture, entry: FlavorResource) -> Iterator[tuple[Node, Quota]]:
    for name, queue in picture.queues.items():
        if entry in queue.quotas:
            yield Node(name), queue.quotas[entry]
    for name, cohort in picture.cohorts.items():
        if entry in cohort.quotas:
            yield Node(name, is_cohort=True), cohort.quotas[entry]


def _kept(quota: Quota | None, subtree: int) -> int:
    """The part that a node never shows to its parent."""
    if quota is None or quota.lending_limit is None:
        return 0
    return max(0, subtree - quota.lending_limit)


def _balances(
    order: tuple[Node, ...],
    parents: Mapping[Node, Node | None],
    quotas: Mapping[Node, Quota],
    reserved: Mapping[Node, int],
) -> tuple[dict[Node, int], dict[Node, int]]:
    """Quota and usage that each node stands for, children first. What a queue uses of an unlisted entry is lost."""
    subtree = {node: quotas[node].nominal if node in quotas else 0 for node in order}
    usage = {node: reserved.get(node, 0) if node in quotas and not node.is_cohort else 0 for node in order}
    for node in reversed(order):
        parent = parents[node]
        if parent is not None:
            kept = _kept(quotas.get(node), subtree[node])
            subtree[parent] += subtree[node] - kept
            usage[parent] += max(0, usage[node] - kept)
    return subtree, usage


def _availables(
    order: tuple[Node, ...],
    parents: Mapping[Node, Node | None],
    quotas: Mapping[Node, Quota],
    subtree: Mapping[Node, int],
    usage: Mapping[Node, int],
) -> dict[Node, int]:
    available: dict[Node, int] = {}
    for node in order:
        parent, quota = parents[node], quotas.get(node)
        if parent is None:
            available[node] = subtree[node] - usage[node]
            continue
        kept = _kept(quota, subtree[node])
        from_parent = available[parent]
        if quota is not None and quota.borrowing_limit is not None:
            in_parent = subtree[node] - kept - max(0, usage[node] - kept)
            from_parent = min(from_parent, in_parent + quota.borrowing_limit)
        available[node] = max(0, kept - usage[node]) + from_parent
    return available


def _potentials(
    order: tuple[Node, ...],
    parents: Mapping[Node, Node | None],
    quotas: Mapping[Node, Quota],
    subtree: Mapping[Node, int],
) -> dict[Node, int]:
    potential: dict[Node, int] = {}
    for node in order:
        parent, quota = parents[node], quotas.get(node)
        if parent is None:
            potential[node] = subtree[node]
            continue
        potential[node] = _kept(quota, subtree[node]) + potential[parent]
        if quota is not None and quota.borrowing_limit is not None:
            potential[node] = min(potential[node], subtree[node] + quota.borrowing_limit)
    return potential
