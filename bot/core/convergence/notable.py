"""What is to be said about a field after it was looked at. Called by the planner; told by the flow, once per key."""

from collections.abc import Iterable, Iterator, Mapping, Set

from bot.core.convergence.annotation import LOANS
from bot.core.convergence.facts import FieldKey, FieldName
from bot.core.convergence.findings import Finding, FindingKind, about_field, about_queue, field_path
from bot.core.convergence.lending import live_lending_limit
from bot.core.convergence.observe import Look, Meaning
from bot.core.kueue import QueueSnapshot

_NOT_JUDGED = frozenset({Meaning.UNREAD, Meaning.AUTOMATED})


def automated_findings(looks: Iterable[Look], active: Set[FieldKey]) -> Iterator[Finding]:
    """Queues that Kueue itself writes while they have loans, once each."""
    said = set()
    for look in looks:
        queue = look.view.queue
        concerned = look.record.legs or look.key in active
        if look.meaning is Meaning.AUTOMATED and queue is not None and concerned and queue.name not in said:
            said.add(queue.name)
            kind = FindingKind.AUTOMATED
            key = about_queue(kind, queue.cluster, queue.name, queue.uid)
            yield Finding(kind, key, queue.name, words=queue.quota_automation or "")


def field_findings(look: Look, wants: Mapping[str, int]) -> Iterator[Finding]:
    """Everything notable about one field."""
    queue = look.view.queue
    if look.meaning is Meaning.QUESTION and queue is not None:
        yield _question(look, queue, wants)
    elif look.before is not None and look.before.question is not None and look.meaning not in _NOT_JUDGED:
        kind = FindingKind.GONE if look.meaning is Meaning.GONE else FindingKind.WITHDRAWN
        yield _found(look, kind, look.before.question.uid, look.before.question.live)
    elif look.meaning is Meaning.GONE and look.before is not None and look.before.legs:
        yield _found(look, FindingKind.GONE, look.before.uid, look.before.wrote)
    if queue is None or look.live is None:
        return
    if look.before is None and look.noted is not None:
        yield _found(look, FindingKind.FROM_ANNOTATION, queue.uid, look.live)
    if look.unwritable is not None and not queue.quotas[look.key.flavor_resource].whole:
        yield _found(look, FindingKind.NOT_WHOLE, queue.uid, look.live, look.unwritable)
    if look.meaning is Meaning.OURS:
        yield from _about_ours(look, queue)


def _about_ours(look: Look, queue: QueueSnapshot) -> Iterator[Finding]:
    record = look.record
    if not record.legs:
        return
    if look.view.note is None and LOANS not in queue.annotations and not look.view.proposes:
        key = about_queue(FindingKind.STRIPPED, queue.cluster, queue.name, f"{queue.uid}:{record.seq}")
        yield Finding(FindingKind.STRIPPED, key, queue.name, manager=queue.spec_manager)
    if look.noted is not None and look.noted.seq < record.seq:
        yield _found(look, FindingKind.OLD_ANNOTATION, queue.uid, look.noted.seq)
    known = look.before is not None and look.before.seq == record.seq
    if known and look.before is not None and look.before.lending_wrote != record.lending_wrote:
        limit = live_lending_limit(record, queue)
        yield _found(look, FindingKind.LENDING_LIMIT, queue.uid, limit)


def _question(look: Look, queue: QueueSnapshot, wants: Mapping[str, int]) -> Finding:
    record, asked = look.record, look.record.question
    key = f"question:{field_path(look.key)}:{queue.uid}:{look.live}"
    return Finding(
        _why(look, queue, wants),
        key,
        look.key.queue,
        look.key,
        live=look.live,
        wrote=record.wrote,
        base=record.base,
        manager=None if asked is None else asked.manager,
    )


def _why(look: Look, queue: QueueSnapshot, wants: Mapping[str, int]) -> FindingKind:
    record = look.record
    if record.uid is None:
        unknown = record.base is None and look.key.name is FieldName.NOMINAL
        return FindingKind.HALF_LOST if unknown else FindingKind.DOUBTFUL
    if record.uid != queue.uid:
        return FindingKind.RECREATED
    reverted = look.live == record.base and any(wants.get(leg, 0) for leg in record.legs)
    return FindingKind.REVERTED if reverted else FindingKind.EDITED


def _found(look: Look, kind: FindingKind, uid: str | None, live: int | None, words: str = "") -> Finding:
    record = look.record
    return Finding(
        kind,
        about_field(kind, look.key, uid, live),
        look.key.queue,
        look.key,
        live=live,
        wrote=record.wrote,
        base=record.base,
        words=words,
    )
