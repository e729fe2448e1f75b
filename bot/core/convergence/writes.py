"""Turn the steps that may be taken now into patches: one per queue, with all its fields and the annotation.

Called by the planner; the flow turns a planned write into an intent and sends its change.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.core.convergence import annotation as notes
from bot.core.convergence.annotation import Annotation, NotedField, NotedKey, NotedLeg
from bot.core.convergence.changes import QueueChange
from bot.core.convergence.facts import FieldName, FieldRecord, IntendedField, Intent
from bot.core.convergence.intents import highest_seq
from bot.core.convergence.lending import lending_limit, received_by_transfer
from bot.core.convergence.observe import Look, Meaning, written
from bot.core.convergence.order import Move
from bot.core.convergence.steps import Step
from bot.core.kueue import FlavorResource, QueueSnapshot
from bot.core.loans import Loan


@dataclass(frozen=True, slots=True)
class PlannedWrite:
    """One patch that may be sent now. `fields` is empty for a fence, which needs no intent."""

    change: QueueChange
    move: Move
    """The latest kind of step in it; FENCE if there is none."""
    fields: tuple[IntendedField, ...] = ()

    def intent(self, intent_id: str, epoch: int, at: datetime) -> Intent:
        """The intent to commit before the patch is sent."""
        queue = self.change.queue
        rv, generation = queue.resource_version, queue.generation
        return Intent(intent_id, queue.cluster, queue.name, queue.uid, rv, generation, epoch, self.fields, at)


@dataclass(frozen=True, slots=True)
class Scribe:
    """What writing needs to know besides the steps."""

    install: str
    epoch: int
    loans: Mapping[str, Loan]

    def write(self, looks: Sequence[Look], moves: Sequence[tuple[Move, Step]]) -> PlannedWrite:
        """The patch of one queue. `looks` are all its fields; no moves make it a fence."""
        queue = looks[0].view.queue
        assert queue is not None
        fence: dict[str, str | None] = {notes.FENCE: str(notes.next_fence(queue, self.epoch))}
        if not moves:
            return PlannedWrite(QueueChange(queue, annotations=fence), Move.FENCE)
        seq = 1 + self.highest(looks)
        parts = tuple(self.part(move, step, seq) for move, step in moves)
        numbers = {part.key: part.wrote for part, (_, step) in zip(parts, moves, strict=True) if _differs(step)}
        limits = self._limits(queue, parts)
        annotations = self._annotations(queue, looks, parts, seq)
        if not numbers and not limits and not annotations:
            annotations = fence
        change = QueueChange(queue, numbers, limits, annotations)
        return PlannedWrite(change, max(move for move, _ in moves), parts)

    def tidied(self, looks: Sequence[Look]) -> PlannedWrite | None:
        """The patch that takes out of the annotation what it says of entries that are gone; None if it says nothing.

        Only once the record knows that they are: without a database the annotation is all there is. Nothing else of it
        changes, not even its number, so an answer that is lost leaves nothing to find out.
        """
        view = looks[0].view
        gone = {
            (look.key.flavor_resource, look.key.name)
            for look in looks
            if look.meaning is Meaning.GONE and look.before is not None and look.before.gone
        }
        if view.note is None or view.queue is None or view.unwritable is not None or not gone & view.note.fields.keys():
            return None
        fields = {key: noted for key, noted in view.note.fields.items() if key not in gone}
        text = notes.encode(replace(view.note, fields=fields)) if fields else None
        return PlannedWrite(QueueChange(view.queue, annotations={notes.LOANS: text}), Move.FENCE)

    def is_old(self, look: Look) -> bool:
        """Whether the annotation is the last write's and says something else of the field than the record now does.

        An annotation that is not there, or an older copy that somebody put back, is left until the next write.
        """
        noted = look.noted
        if noted is None or noted.seq != look.record.seq or look.frozen:
            return False
        record = look.record
        if (noted.base, noted.wrote, noted.lending_base, noted.guess) != (
            record.base,
            record.wrote,
            record.lending_base,
            False,
        ):
            return True
        known = {leg: size for leg, size in record.legs.items() if leg in self.loans or leg in noted.legs}
        return noted.legs.keys() != known.keys() or any(
            self._leg_is_old(leg, noted.legs[leg], size) for leg, size in known.items()
        )

    def _leg_is_old(self, leg: str, noted: NotedLeg, size: int) -> bool:
        loan = self.loans.get(leg)
        if loan is None:
            return noted.size != size
        return (noted.size, noted.amount, noted.start, noted.end) != (size, loan.amount, loan.start, loan.end)

    @staticmethod
    def highest(looks: Sequence[Look]) -> int:
        """Highest number that was ever taken by a write of this queue."""
        view = looks[0].view
        noted = 0 if view.note is None else view.note.seq
        return max(noted, highest_seq(view.intents), *(look.record.seq for look in looks))

    def part(self, move: Move, step: Step, seq: int) -> IntendedField:
        """What the field's record will be once this step is live."""
        record = step.look.record
        wrote = step.number
        limit = record.lending_wrote
        if record.key.name is FieldName.NOMINAL and move is not Move.NOTE:
            limit = lending_limit(record.lending_base, wrote, received_by_transfer(step.legs, self.loans))
        return IntendedField(record.key, seq, record.base, dict(step.legs), wrote, record.lending_base, limit)

    @staticmethod
    def _limits(queue: QueueSnapshot, parts: Iterable[IntendedField]) -> dict[FlavorResource, int | None]:
        return {
            part.key.flavor_resource: part.lending_wrote
            for part in parts
            if part.key.name is FieldName.NOMINAL
            and part.lending_wrote != queue.quotas[part.key.flavor_resource].lending_limit
        }

    def _annotations(
        self, queue: QueueSnapshot, looks: Sequence[Look], parts: Sequence[IntendedField], seq: int
    ) -> dict[str, str | None]:
        changed = {part.key: part for part in parts}
        fields: dict[NotedKey, NotedField] = {}
        for look in looks:
            part = changed.get(look.key)
            record = look.record if part is None else written(look.record, part, queue.uid)
            if record.legs or look.meaning is Meaning.QUESTION:
                fields[(look.key.flavor_resource, look.key.name)] = self._noted(look, record)
        text = notes.encode(Annotation(self.install, queue.uid, seq, fields)) if fields else None
        return {} if text == queue.annotations.get(notes.LOANS) else {notes.LOANS: text}

    def _noted(self, look: Look, record: FieldRecord) -> NotedField:
        legs = {leg: self._leg(look, leg, size) for leg, size in record.legs.items()}
        known = {leg: noted for leg, noted in legs.items() if noted is not None}
        uid = None if look.view.queue is None else look.view.queue.uid
        return NotedField(record.seq, record.base, record.wrote, record.lending_base, known, record.uid != uid)

    def _leg(self, look: Look, leg: str, size: int) -> NotedLeg | None:
        loan = self.loans.get(leg)
        if loan is None:
            noted = look.noted
            known = None if noted is None else noted.legs.get(leg)
            return None if known is None else replace(known, size=size)
        other = loan.lender if look.key.queue == loan.borrower else loan.borrower
        return NotedLeg(size, loan.kind, other, loan.amount, loan.start, loan.end)


def _differs(step: Step) -> bool:
    return step.number != step.look.live
