"""Look at one field: whose is the live number (design: convergence, sections 3.A and 6).

The order of the questions matters: is it there at all, does the annotation know more than the database, is it our own
closing write, is it ours, is there nothing of ours in it; what is left is a question for people. Called by the planner.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from bot.core.convergence.annotation import NotedField
from bot.core.convergence.embodied import embodied_in_question
from bot.core.convergence.facts import FieldKey, FieldRecord, IntendedField, Question
from bot.core.convergence.intents import highest_seq, parts
from bot.core.convergence.lending import adopt_live, lending_limit, live_lending_limit
from bot.core.convergence.proposals import ProposedField
from bot.core.convergence.views import QueueView
from bot.core.convergence.wants import live_number
from bot.core.kueue import QueueSnapshot
from bot.core.loans import LoanKind


class Meaning(StrEnum):
    """What the live number is."""

    OURS = "ours"
    FOLLOWS = "follows"
    """Nothing of ours in it: base is the live number."""
    QUESTION = "question"
    CLOSED = "closed"
    """Our own closing write, or given back by somebody else: nothing of ours in it any more."""
    AUTOMATED = "automated"
    """Kueue itself writes it: what it means is asked, if at all, when that is over."""
    GONE = "gone"
    UNREAD = "unread"


@dataclass(frozen=True, slots=True)
class Look:
    """One field, looked at."""

    key: FieldKey
    view: QueueView
    meaning: Meaning
    record: FieldRecord
    """As it is to be stored now."""
    before: FieldRecord | None
    """As it was stored; None if it was not."""
    live: int | None
    embodied: Mapping[str, int]
    """Legs that are in the live number."""
    unwritable: str | None = None
    alive: tuple[IntendedField, ...] = ()
    """What patches, and a proposal, that may come true yet would make of this field."""
    proposed: ProposedField | None = None
    """What is proposed for it and not made yet."""

    @property
    def frozen(self) -> bool:
        """A frozen field is never written."""
        return self.unwritable is not None or self.meaning in (Meaning.QUESTION, Meaning.GONE, Meaning.UNREAD)

    @property
    def noted(self) -> NotedField | None:
        """What the annotation on the queue says of it."""
        return self.view.noted(self.key)


@dataclass(frozen=True, slots=True)
class Seen:
    """What does not depend on the field: the queue and the present."""

    view: QueueView
    wants: Mapping[str, int]
    """Devices each known loan wants now."""
    now: datetime


def look_at(seen: Seen, key: FieldKey, stored: FieldRecord | None, lost: Mapping[str, int] | None = None) -> Look:
    """Decide what the live number of `key` is, and what the record becomes.

    `lost` are legs that only another queue's annotation names while this field has no record (the database was lost).
    """
    view, before = seen.view, stored
    live = live_number(view.queue, key)
    if view.unread:
        record = stored or FieldRecord(key, None, 0, None, gone=True)
        kept = view.proposed(key)
        alive = parts(view.sorted.alive, key, 0)
        if kept is not None:  # it may be merged while nobody looks
            alive = (*alive, kept.after)
        return Look(key, view, Meaning.UNREAD, record, before, None, record.legs, view.unwritable, alive, kept)
    if view.queue is None or live is None:
        return Look(key, view, Meaning.GONE, _gone(view, key, stored), before, None, {})
    if stored is None and lost:
        stored = FieldRecord(key, None, view.note.seq if view.note else 0, None, lost)
    if view.queue.quota_automation is not None:
        return _left_alone(view, view.queue, key, live, before, stored)
    caught_up = _catch_up(view, view.queue, key, live, stored)
    meaning, record, proposed = _judge_all(seen, view.queue, live, caught_up)
    embodied = embodied_in_question(record, live) if meaning is Meaning.QUESTION else record.legs
    unwritable = view.unwritable or _not_whole(view.queue, key)
    alive = parts(view.sorted.alive, key, 0)
    if proposed is not None and meaning is not Meaning.QUESTION:
        alive = (*alive, proposed.after)
    return Look(key, view, meaning, record, before, live, embodied, unwritable, alive, proposed)


def _judge_all(
    seen: Seen, queue: QueueSnapshot, live: int, record: FieldRecord
) -> tuple[Meaning, FieldRecord, ProposedField | None]:
    """With or without a proposal; and what of it is still to be made."""
    proposed = _still_about(seen.view, record.key, record)
    if proposed is None:
        return *_judge(seen, queue, live, record), None
    meaning, record = _judge_beside(proposed, seen, queue, live, record)
    made = proposed.is_in(record) and record.question is None
    return meaning, record, None if made else proposed


def _still_about(view: QueueView, key: FieldKey, record: FieldRecord) -> ProposedField | None:
    """What is proposed for the field, unless an answer, or a write of the bot's own, has overtaken it."""
    proposed = view.proposed(key)
    if proposed is None or parts(view.sorted.undecided, key, record.seq):
        return None
    return proposed if record.question is not None or proposed.is_about(record) else None


def _judge_beside(
    proposed: ProposedField, seen: Seen, queue: QueueSnapshot, live: int, record: FieldRecord
) -> tuple[Meaning, FieldRecord]:
    """A proposal is open: the number may be what was proposed, or what it was before. Anything else is an outside edit,
    and may be a part of the proposal: until somebody answers, each leg counts at worst."""
    for part in (proposed.after, proposed.before):
        if live == part.wrote:
            known = replace(written(record, part, queue.uid), seq=max(record.seq, part.seq))
            if known.legs:
                return Meaning.OURS, _keep(known, queue, ())
            return Meaning.FOLLOWS, _close(known, queue, live, ())
    before = replace(written(record, proposed.before, queue.uid), question=record.question)
    worst = replace(_at_worst(before, [proposed.after]), uid=queue.uid, seq=record.seq)
    if live == worst.base and not any(seen.wants.get(leg, 1) for leg in worst.legs):
        return Meaning.CLOSED, _close(worst, queue, live, ())
    return Meaning.QUESTION, _ask(worst, queue, live, seen.now)


def _left_alone(
    view: QueueView,
    queue: QueueSnapshot,
    key: FieldKey,
    live: int,
    before: FieldRecord | None,
    known: FieldRecord | None,
) -> Look:
    """Kueue's own numbers are nobody's edit: nothing is asked and nothing concluded while they last."""
    record = _catch_up(view, queue, key, live, known)
    embodied = record.legs if live == record.wrote else embodied_in_question(record, live)
    alive = parts(view.sorted.alive, key, 0)
    return Look(key, view, Meaning.AUTOMATED, record, before, live, embodied, view.unwritable, alive)


def _gone(view: QueueView, key: FieldKey, stored: FieldRecord | None) -> FieldRecord:
    seen = max(highest_seq(view.intents), 0 if view.note is None else view.note.seq)
    if stored is None:
        return FieldRecord(key, None, seen, None, gone=True)
    blank = replace(stored, uid=None, base=None, legs={}, wrote=None, question=None, gone=True)
    return replace(blank, seq=max(stored.seq, seen), lending_base=None, lending_wrote=None)


def _catch_up(
    view: QueueView, queue: QueueSnapshot, key: FieldKey, live: int, stored: FieldRecord | None
) -> FieldRecord:
    """The newest the bot itself has said of the field: the database's record or a later write that the object shows."""
    noted = view.noted(key)
    if noted is not None and (stored is None or noted.seq > stored.seq):
        return _from_note(queue, key, noted, 0 if stored is None else stored.version)
    if stored is None:
        return _past_what_did_not_land(view, adopt_live(FieldRecord(key, queue.uid, 0, live, {}, live), queue))
    if view.note is not None and noted is None and view.note.seq > stored.seq:
        return _closed_by_later_write(view, queue, live, stored)
    return _past_what_did_not_land(view, stored)


def _past_what_did_not_land(view: QueueView, record: FieldRecord) -> FieldRecord:
    """Patches that are written off without an annotation to say so: an answer that still comes must not count."""
    if view.note is not None:
        return record
    seq = max([record.seq, *(part.seq for part in parts(view.sorted.decided, record.key, record.seq))])
    return record if seq == record.seq else replace(record, seq=seq)


def _from_note(queue: QueueSnapshot, key: FieldKey, noted: NotedField, version: int) -> FieldRecord:
    received = sum(leg.size for leg in noted.legs.values() if leg.size > 0 and leg.kind is LoanKind.TRANSFER)
    record = FieldRecord(key, None if noted.guess else queue.uid, noted.seq, noted.base, version=version)
    limit = None if noted.wrote is None else lending_limit(noted.lending_base, noted.wrote, received)
    legs = {leg: facts.size for leg, facts in noted.legs.items()}
    return replace(record, legs=legs, wrote=noted.wrote, lending_base=noted.lending_base, lending_wrote=limit)


def _closed_by_later_write(view: QueueView, queue: QueueSnapshot, live: int, stored: FieldRecord) -> FieldRecord:
    """The annotation is newer than the record and does not list the field: its last leg was returned."""
    assert view.note is not None
    seq = view.note.seq
    for part in parts(view.sorted.decided, stored.key, stored.seq):
        if part.seq == seq:
            return written(stored, part, queue.uid)
    if not stored.legs:
        return stored
    closed = replace(stored, uid=queue.uid, seq=seq, base=live, legs={}, wrote=live, question=None)
    return adopt_live(closed, queue)


def written(record: FieldRecord, part: IntendedField, uid: str) -> FieldRecord:
    """The record after a write of the bot is known to have landed."""
    return FieldRecord(
        key=record.key,
        uid=uid,
        seq=part.seq,
        base=part.base,
        legs=part.legs,
        wrote=part.wrote,
        lending_base=part.lending_base,
        lending_wrote=part.lending_wrote,
        version=record.version,
    )


def _judge(seen: Seen, queue: QueueSnapshot, live: int, record: FieldRecord) -> tuple[Meaning, FieldRecord]:
    undecided = parts(seen.view.sorted.undecided, record.key, record.seq)
    if any(not part.legs and part.wrote == live for part in undecided):
        return Meaning.CLOSED, _close(record, queue, live, undecided)
    if _is_ours(record, queue, live, undecided):
        return Meaning.OURS, _keep(record, queue, undecided)
    if not record.legs and not undecided and record.question is None:
        return Meaning.FOLLOWS, _close(record, queue, live, ())
    if undecided:
        record = _at_worst(record, undecided)
    if live == record.base and not any(seen.wants.get(leg, 1) for leg in record.legs):
        return Meaning.CLOSED, _close(record, queue, live, ())
    return Meaning.QUESTION, _ask(record, queue, live, seen.now)


def _is_ours(record: FieldRecord, queue: QueueSnapshot, live: int, undecided: Sequence[IntendedField]) -> bool:
    asked = record.question is not None and (record.question.uid, record.question.live) == (queue.uid, live)
    same = record.uid == queue.uid and record.wrote == live
    return same and not asked and all(part.wrote == live for part in undecided)


def _keep(record: FieldRecord, queue: QueueSnapshot, undecided: Sequence[IntendedField]) -> FieldRecord:
    seq = max([record.seq, *(part.seq for part in undecided)])
    if live_lending_limit(record, queue) != record.lending_wrote:
        record = adopt_live(record, queue)
    if (record.seq, record.question, record.gone) == (seq, None, False):
        return record
    return replace(record, seq=seq, question=None, gone=False)


def _close(record: FieldRecord, queue: QueueSnapshot, live: int, undecided: Sequence[IntendedField]) -> FieldRecord:
    seq = max([record.seq, *(part.seq for part in undecided)])
    closed = replace(record, uid=queue.uid, seq=seq, base=live, legs={}, wrote=live, question=None, gone=False)
    return adopt_live(closed, queue)


def _at_worst(record: FieldRecord, undecided: Sequence[IntendedField]) -> FieldRecord:
    """Count every leg at its largest (given ones at their smallest), in a record that only an answer makes ours.

    A leg that may be nothing stays in it as 0: it tells which loans the question is about.
    """
    held = [record.legs, *(part.legs for part in undecided)]
    legs = {leg: max(each.get(leg, 0) for each in held) for leg in sorted({leg for each in held for leg in each})}
    seq = max(part.seq for part in undecided)
    wrote = None if record.base is None else record.base + sum(legs.values())
    return replace(record, uid=None, seq=seq, legs=legs, wrote=wrote)


def _ask(record: FieldRecord, queue: QueueSnapshot, live: int, now: datetime) -> FieldRecord:
    asked = record.question
    if asked is not None and (asked.uid, asked.live) == (queue.uid, live):
        return record
    return replace(record, question=Question(queue.uid, live, now, queue.spec_manager), gone=False)


def _not_whole(queue: QueueSnapshot, key: FieldKey) -> str | None:
    if queue.quotas[key.flavor_resource].whole:
        return None
    return f"a quota of {key.flavor} in {key.queue} is not a whole number"
