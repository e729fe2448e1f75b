"""The oracle: what the numbers mean, kept from the design's words alone. It imports nothing of the planner.

It knows the truth that the bot may have lost: which patches landed, and what people decided. From that it tells the
base of every field, whether a field is in question, and how far each cohort tree is above what it may have (P1).
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace

from bot.core.convergence.facts import FieldKey, FieldName, FieldRecord, IntendedField
from bot.core.kueue import QueueSnapshot
from bot.core.loans import Loan, LoanKind

Tree = tuple[str, str, str]


class PromiseBroken(AssertionError):
    """P1, P2 or P3 does not hold."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What is of the bot in one field. Without legs the base is whatever stands there."""

    base: int | None
    legs: Mapping[str, int]
    mine: int | None
    """The number the bot wrote last, or that a person declared understood."""
    uid: str | None
    version: tuple[int, int] = (0, 0)
    """Life and resourceVersion of the object as this became true."""


def _number(queue: QueueSnapshot | None, key: FieldKey) -> int | None:
    if queue is None:
        return None
    for (flavor, resource), quota in queue.quotas.items():
        if (flavor, resource) == (key.flavor, key.resource):
            return quota.borrowing_limit if key.name is FieldName.BORROWING_LIMIT else quota.nominal
    return None


def _moment(queue: QueueSnapshot) -> tuple[int, int]:
    return int(queue.uid.rpartition(".")[2]), int(queue.resource_version)


@dataclass(slots=True)
class Ghost:
    """The truth about all fields."""

    truths: dict[FieldKey, Truth] = field(default_factory=dict)
    loans: dict[str, Loan] = field(default_factory=dict)
    unknown: set[FieldKey] = field(default_factory=set)
    """Fields of which only another queue's annotation tells, after the database was lost."""
    started: set[str] = field(default_factory=set)
    """Loans that were approved once."""
    disturbed: set[str] = field(default_factory=set)
    """Objects that an outsider has changed, or that refused a write, at any time."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """Queue -> the ResourceQuota that goes up before it and down after it."""

    def copy(self) -> "Ghost":
        return Ghost(
            dict(self.truths), dict(self.loans), set(self.unknown), set(self.started), set(self.disturbed), self.beside
        )

    def asked(self, key: FieldKey, queue: QueueSnapshot | None) -> bool:
        """Whether an outside edit of this field waits for an answer."""
        number = _number(queue, key)
        if queue is None or number is None:
            return False
        if key in self.unknown:
            return True
        truth = self.truths.get(key)
        return truth is not None and bool(truth.legs) and (truth.mine, truth.uid) != (number, queue.uid)

    def bot_wrote(
        self,
        objects: Mapping[str, QueueSnapshot],
        parts: Iterable[IntendedField],
        after: QueueSnapshot,
        *,
        overtaken: bool = False,
    ) -> None:
        """A patch of the bot lands: check the promises, and note what it did.

        If an outsider changed another queue after the patch was planned (`overtaken`), P1 cannot hold for this moment:
        no transaction spans two objects (section 10). The next plan takes back what is too much.
        """
        before = self.excess(objects)
        life, version = _moment(after)
        for part in parts:
            queue = objects[part.key.queue]
            if self.asked(part.key, queue):
                raise PromiseBroken(f"P3: wrote {part.wrote} to {part.key}, which is in question")
            self._check_claims(part, queue)
            self._check_room(part, objects)
            legs = dict(part.legs)
            self.truths[part.key] = Truth(part.base, legs, part.wrote, after.uid, (life, version + 1))
        now = self.excess({**objects, after.name: after})
        for tree, above in now.items():
            if not overtaken and above > max(0, before.get(tree, 0)):
                raise PromiseBroken(f"P1: {tree} is {above} above its bound, was {before.get(tree, 0)}")

    def _check_claims(self, part: IntendedField, queue: QueueSnapshot) -> None:
        truth = self.truths.get(part.key)
        base = truth.base if truth is not None and truth.legs else _number(queue, part.key)
        if truth is not None and not truth.legs and (truth.mine, truth.uid) == (_number(queue, part.key), queue.uid):
            base = truth.base
        if part.base != base:
            raise PromiseBroken(f"P2: {part.key} has base {base}, the bot takes it for {part.base}")
        if part.base is None or part.wrote != part.base + sum(part.legs.values()):
            raise PromiseBroken(f"P2: {part.key} written as {part.wrote}, not {part.base} + {dict(part.legs)}")
        for leg, size in part.legs.items():
            loan = self.loans[leg]
            least = -loan.amount if part.key.queue == loan.lender else 0
            most = loan.amount if part.key.queue in (loan.borrower, self.beside.get(loan.borrower)) else 0
            if not least <= size <= most:
                raise PromiseBroken(f"P2: {part.key} has {size} of {loan}")

    def _check_room(self, part: IntendedField, objects: Mapping[str, QueueSnapshot]) -> None:
        """What a queue gets, its ResourceQuota has had before; and has as long as the queue has it."""
        before = self.truths[part.key].legs if part.key in self.truths else {}
        for leg in {*part.legs, *before}:
            loan = self.loans[leg]
            beside = self.beside.get(loan.borrower)
            if beside is None:
                continue
            name = FieldName.BORROWING_LIMIT if loan.kind is LoanKind.BORROW else FieldName.NOMINAL
            queue = FieldKey(loan.cluster, loan.borrower, loan.flavor, loan.resource, name)
            quota = FieldKey(loan.cluster, beside, "", loan.resource, FieldName.HARD)
            if part.key == queue and part.legs.get(leg, 0) > before.get(leg, 0):
                self._check_enough(quota, queue, leg, part.legs.get(leg, 0), objects)
            if part.key == quota and part.legs.get(leg, 0) < before.get(leg, 0):
                now = self.truths[queue].legs.get(leg, 0) if queue in self.truths else 0
                if now > part.legs.get(leg, 0) and not self.excused(queue, objects):
                    raise PromiseBroken(f"{beside} is lowered below what {queue} has of {leg}")

    def _check_enough(
        self, quota: FieldKey, queue: FieldKey, leg: str, size: int, objects: Mapping[str, QueueSnapshot]
    ) -> None:
        held = self.truths[quota].legs.get(leg, 0) if quota in self.truths else 0
        if held < size and not self.excused(quota, objects):
            raise PromiseBroken(f"{queue} gets {size} of {leg} before {quota.queue} has it")

    def excused(self, key: FieldKey, objects: Mapping[str, QueueSnapshot]) -> bool:
        """Whether a field cannot be counted on: it is not there, was touched by others, or the bot may not write it."""
        queue = objects.get(key.queue)
        return _number(queue, key) is None or self.asked(key, queue) or key.queue in self.disturbed

    def seen(
        self,
        read: Mapping[str, QueueSnapshot],
        wants: Mapping[str, int],
        legless: Set[FieldKey],
        closing: Set[tuple[FieldKey, int | None]],
    ) -> None:
        """The bot stored what it saw: what was gone is void, what was given back by somebody else is closed.

        `legless` are the fields in which the bot keeps no leg now. `closing` are numbers that a patch of its own was to
        write as its last: nobody can tell them from the same number typed by hand (section 10).
        """
        for key, truth in list(self.truths.items()):
            queue = read.get(key.queue)
            number = _number(queue, key)
            if queue is None or number is None:
                self.truths[key] = replace(truth, base=None, legs={}, mine=None)
                continue
            if not truth.legs and number != truth.mine and key in legless:
                self.truths[key] = replace(truth, base=number, mine=number, uid=queue.uid)  # base follows
                continue
            given_back = number == truth.base and not any(wants.get(leg) for leg in truth.legs)
            later = _moment(queue) >= truth.version
            if truth.legs and later and key in legless and (given_back or (key, number) in closing):
                self.truths[key] = replace(truth, base=number, legs={}, mine=number, uid=queue.uid)
        self.unknown = {key for key in self.unknown if _number(read.get(key.queue), key) is not None}

    def answered(self, record: FieldRecord) -> None:
        """A person said what a number means."""
        legs = {leg: size for leg, size in record.legs.items() if size}
        old = self.truths.get(record.key)
        version = (0, 0) if old is None else old.version
        self.truths[record.key] = Truth(record.base, legs, record.wrote, record.uid, version)
        self.unknown.discard(record.key)

    def forget(self, objects: Mapping[str, QueueSnapshot]) -> None:
        """The database was lost and rebuilt: only what annotations say is known."""
        self.truths, self.unknown = {}, set()
        named: set[FieldKey] = set()
        for queue in objects.values():
            note = json.loads(queue.annotations.get("gpu-quota-bot.io/loans", "{}"))
            if note.get("uid") != queue.uid:
                continue
            for path, entry in note["f"].items():
                flavor, resource, name = path.split("|")
                key = FieldKey(queue.cluster, queue.name, flavor, resource, FieldName(name))
                if _number(queue, key) is None:
                    continue
                legs = {leg: facts["d"] for leg, facts in entry["legs"].items()}
                base, wrote = (None if entry[x] is None else int(entry[x]) for x in ("base", "wrote"))
                uid = None if entry.get("guess") else queue.uid
                self.truths[key] = Truth(base, legs, wrote, uid, _moment(queue))
                others = (facts["o"] for facts in entry["legs"].values() if facts["o"] is not None)
                named.update(FieldKey(queue.cluster, other, flavor, resource, FieldName.NOMINAL) for other in others)
        self.unknown = {key for key in named - self.truths.keys() if _number(objects.get(key.queue), key) is not None}

    def excess(self, objects: Mapping[str, QueueSnapshot]) -> Mapping[Tree, int]:
        """How far the sum of nominalQuota of each tree, flavor and resource is above its bound."""
        above: dict[Tree, int] = defaultdict(int)
        for queue in objects.values():
            for flavor, resource in queue.quotas:
                tree = (queue.cohort or f"queue {queue.name}", flavor, resource)
                key = FieldKey(queue.cluster, queue.name, flavor, resource, FieldName.NOMINAL)
                above[tree] += self._above(key, queue)
        return above

    def _above(self, key: FieldKey, queue: QueueSnapshot) -> int:
        truth, number = self.truths.get(key), _number(queue, key)
        if truth is None or truth.base is None or number is None:
            return 0
        if not truth.legs:
            same = (truth.mine, truth.uid) == (number, queue.uid)
            return number - truth.base if same else 0
        received = {leg: size for leg, size in truth.legs.items() if size > 0}
        extra = sum(size for leg, size in received.items() if self.loans[leg].kind is LoanKind.EXTRA)
        bound = truth.base + extra
        if self.asked(key, queue):
            bound = max(bound, number - sum(received.values()) + extra)
        return number - bound
