"""What is to be proposed now, and what becomes of what is proposed already. Called by the planner.

A proposal stands as long as its steps are the ones that would be taken: people read it, so it is not taken back because
another queue of the cohort moves for a moment. Legs that change and leave the number as it is need nobody: they are
booked in the database at once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.core.convergence.facts import FieldKey, FieldRecord, IntendedField
from bot.core.convergence.observe import Look, Meaning
from bot.core.convergence.order import Move
from bot.core.convergence.proposals import Proposal, ProposalEnd, ProposedField
from bot.core.convergence.steps import Step
from bot.core.convergence.views import QueueView
from bot.core.convergence.writes import Scribe
from bot.core.kueue import QueueSnapshot

Steps = Mapping[FieldKey, Step]


@dataclass(frozen=True, slots=True)
class NewProposal:
    """One to be posted."""

    queue: QueueSnapshot
    fields: tuple[ProposedField, ...]


@dataclass(frozen=True, slots=True)
class ProposalPlan:
    """What to store of proposals, with everything else of the plan."""

    new: tuple[NewProposal, ...] = ()
    ended: tuple[tuple[Proposal, ProposalEnd], ...] = ()
    booked: tuple[FieldRecord, ...] = ()
    """Records whose legs change while the number stays, of queues that are not written."""

    @property
    def is_news(self) -> bool:
        """Whether there is anything to store. The next plan leans on it."""
        return bool(self.new or self.ended or self.booked)

    @property
    def keys(self) -> set[FieldKey]:
        """Fields that must have a record from now on."""
        return {part.key for one in self.new for part in one.fields}


def settle_proposals(
    views: Iterable[QueueView],
    looks: Mapping[FieldKey, Look],
    steps: Steps,
    allowed: Sequence[tuple[Move, Step]],
    scribe: Scribe,
    wants: Mapping[str, int],
) -> ProposalPlan:
    """`steps` are those of all free fields, `allowed` those that may be taken now."""
    concerned = [view for view in views if view.proposes or view.proposal is not None]
    if not concerned:
        return ProposalPlan()
    fields: dict[str, list[Look]] = defaultdict(list)
    for look in looks.values():
        fields[look.key.queue].append(look)
    may = {step.look.key for move, step in allowed if move is not Move.NOTE}
    new, ended = [], []
    for view in concerned:
        wanted = _wanted(view, fields[view.name], steps, may, scribe, wants)
        if end := _end(view, fields[view.name], wanted):
            ended.append(end)
        if wanted and view.queue is not None and (view.proposal is None or end):
            new.append(NewProposal(view.queue, wanted))
    return ProposalPlan(tuple(new), tuple(ended), tuple(_booked(allowed)))


def _wanted(
    view: QueueView,
    looks: Sequence[Look],
    steps: Steps,
    may: set[FieldKey],
    scribe: Scribe,
    wants: Mapping[str, int],
) -> tuple[ProposedField, ...]:
    """What somebody should change in this queue as things are. What stands already stays as it was written."""
    if not view.proposes or not looks:  # an annotation that somebody put there may name no field
        return ()
    seq = 1 + max(scribe.highest(looks), *(look.proposed.after.seq if look.proposed else 0 for look in looks), 0)
    parts = []
    for look in looks:
        stands, step = look.proposed, steps.get(look.key)
        if step is None or look.frozen:
            if stands is not None and _may_wait(look, stands, wants):
                parts.append(stands)
            continue
        if step.number == look.live:
            continue
        part = _part(step, seq, scribe)
        if stands is not None and stands.comes_to(part):
            parts.append(stands)
        elif look.key in may:
            parts.append(part)
    return tuple(parts)


def _may_wait(look: Look, stands: ProposedField, wants: Mapping[str, int]) -> bool:
    """Of a field that is not to be changed now: until its number is explained, or can be read, if the loans still want
    what was proposed."""
    if look.meaning is Meaning.UNREAD:
        return True
    wanted = all(abs(size) <= wants.get(leg, 0) for leg, size in stands.after.legs.items())
    return look.meaning is Meaning.QUESTION and look.unwritable is None and wanted


def _part(step: Step, seq: int, scribe: Scribe) -> ProposedField:
    record = step.look.record
    before = IntendedField(
        record.key, record.seq, record.base, record.legs, record.wrote, record.lending_base, record.lending_wrote
    )
    return ProposedField(before, scribe.part(Move.UP, step, seq))


def _end(
    view: QueueView, looks: Sequence[Look], wanted: Sequence[ProposedField]
) -> tuple[Proposal, ProposalEnd] | None:
    """What becomes of the queue's open proposal; None if it stands, as a whole or as what is left of it."""
    proposal = view.proposal
    if proposal is None:
        return None
    left = {look.key: look.proposed for look in looks if look.proposed is not None}
    if left and list(left.values()) == list(wanted):
        return None
    records = {look.key: look.record for look in looks}
    if not left and all(part.key in records and part.is_in(records[part.key]) for part in proposal.fields):
        return proposal, ProposalEnd.MERGED
    return proposal, ProposalEnd.SUPERSEDED if wanted else ProposalEnd.WITHDRAWN


def _booked(allowed: Sequence[tuple[Move, Step]]) -> Iterable[FieldRecord]:
    for move, step in allowed:
        look = step.look
        if look.view.proposes and move is not Move.NOTE and step.number == look.live and step.legs_change:
            yield replace(look.record, legs=dict(step.legs), wrote=step.number)
