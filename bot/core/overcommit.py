"""Whether an extra loan promises more than the nodes have: the only kind of loan that makes quota from nowhere.

`overcommit` sets what all queues promise of a flavor against what its nodes have. Used by flows/live_impact for the
card, and again at the click; the facts come from the cluster adapter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.core.convergence.annotation import Standing, read
from bot.core.convergence.facts import FieldKey, FieldName, FieldRecord
from bot.core.kueue import ClusterPicture, FlavorResource, QueueSnapshot
from bot.core.loans import Loan, LoanKind, LoanState, at_once
from bot.core.resource_quotas import hard_field, is_resource_quota


@dataclass(frozen=True, slots=True)
class NodeSnapshot:
    """One node, as far as quota is concerned."""

    name: str
    labels: Mapping[str, str]
    allocatable: int
    """Devices of the resource that was asked for."""
    in_service: bool = True
    """False if no new pod can start there: cordoned, not ready, being removed. A taint that pods may tolerate (GPU
    nodes often have one) takes nothing away."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """The nodes of a cluster with one resource, and which of them each ResourceFlavor means."""

    flavors: Mapping[str, Mapping[str, str]]
    """nodeLabels by ResourceFlavor; a flavor without any means every node."""
    nodes: Sequence[NodeSnapshot]


@dataclass(frozen=True, slots=True)
class Overcommit:
    """What is promised of a flavor with the loan, against what the nodes have. Devices are whole."""

    promised: int
    """nominalQuota of all queues and cohorts without loans, all extra loans that are not over, and this one."""
    capacity: int | None
    """Allocatable on nodes of the flavor that are in service; None if that is not known."""
    aside: int = 0
    """Allocatable on nodes of the flavor that are not in service."""
    why: str = ""
    """Why the capacity is not known: a clause such as "the bot may not list nodes"."""
    on_loan: int = 0
    """Of `promised`: other extra loans."""

    @property
    def over(self) -> int:
        """How many more are promised than there are; 0 if none, or if that is not known."""
        return 0 if self.capacity is None else max(0, self.promised - self.capacity)

    @property
    def needs_tick(self) -> bool:
        """Whether an approver must say in so many words that more may be promised than exists."""
        return self.capacity is None or self.over > 0

    def in_words(self, flavor: str) -> str:
        """For the audit and the card: "72 of 60 a100 promised: 12 more than the nodes have"."""
        if self.capacity is None:
            return f"{self.promised:,} {flavor} promised, of how many is not known"
        more = f": {self.over:,} more than the nodes have" if self.over else ""
        return f"{self.promised:,} of {self.capacity:,} {flavor} promised{more}"


@dataclass(frozen=True, slots=True)
class Lent:
    """What the bot has lent on a cluster: its open loans, and its records of the numbers that they are in."""

    loans: Sequence[Loan]
    records: Mapping[FieldKey, FieldRecord]
    install: str
    """Whose annotations count."""


def overcommit(picture: ClusterPicture, entry: FlavorResource, amount: int, known: Lent) -> Overcommit:
    """With `amount` more; the capacity is not known yet (see `against`)."""
    lent = on_extra_loan(known.loans, entry)
    queues = sum(_base(queue, entry, known) for queue in picture.queues.values())
    cohorts = sum(one.quotas[entry].nominal for one in picture.cohorts.values() if entry in one.quotas)
    return Overcommit(queues + cohorts + lent + amount, None, on_loan=lent)


def quota_overcommit(picture: ClusterPicture, entry: FlavorResource, amount: int, known: Lent) -> Overcommit:
    """The same for a ResourceQuota, which knows no flavors: all that is promised of the resource, by whatever name."""
    entries = {one for queue in picture.queues.values() for one in queue.quotas if one.resource == entry.resource}
    entries |= {one for cohort in picture.cohorts.values() for one in cohort.quotas if one.resource == entry.resource}
    each = [overcommit(picture, one, 0, known) for one in entries | {entry}]
    return Overcommit(sum(one.promised for one in each) + amount, None, on_loan=sum(one.on_loan for one in each))


def against(found: Overcommit, hardware: Hardware, entry: FlavorResource) -> Overcommit:
    """The same with what the nodes have."""
    labels = hardware.flavors.get(entry.flavor)
    if labels is None:
        return Overcommit(found.promised, None, 0, f"there is no ResourceFlavor {entry.flavor}", found.on_loan)
    nodes = list(_matching(hardware, labels))
    usable = sum(node.allocatable for node in nodes if node.in_service)
    aside = sum(node.allocatable for node in nodes if not node.in_service)
    return Overcommit(found.promised, usable, aside, "", found.on_loan)


def on_extra_loan(loans: Sequence[Loan], entry: FlavorResource) -> int:
    """Devices on extra loans of a flavor that are not over, whether or not they are in the queues yet: the most of them
    at one moment."""
    return at_once([loan for loan in loans if _counts(loan) and (loan.flavor, loan.resource) == entry])


def _counts(loan: Loan) -> bool:
    return loan.kind is LoanKind.EXTRA and loan.state is not LoanState.CLOSED and loan.suspended is None


def _base(queue: QueueSnapshot, entry: FlavorResource, known: Lent) -> int:
    """nominalQuota without the bot's loans: a transfer of which one half has landed would make the sum too small.

    What somebody else wrote over the bot's number counts as it stands.
    """
    quota = queue.quotas.get(entry)
    if quota is None:
        return 0
    standing, noted = read(queue, known.install)
    key = FieldKey(queue.cluster, queue.name, *entry, FieldName.NOMINAL)
    if is_resource_quota(queue.name):
        key = hard_field(queue.cluster, queue.name, entry.resource)
    field = noted.fields.get((key.flavor_resource, key.name)) if noted and standing is Standing.OURS else None
    record = known.records.get(key)
    for found in (field, record if record and record.uid == queue.uid else None):
        if found is not None and found.base is not None and found.wrote == quota.nominal:
            return found.base
    return quota.nominal


def _matching(hardware: Hardware, labels: Mapping[str, str]) -> Iterator[NodeSnapshot]:
    return (node for node in hardware.nodes if labels.items() <= node.labels.items())
