"""An admin says what an outside edit means. Changes the field's record and nothing else; convergence does the rest.

Called by chat for the three buttons of the question.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.core.convergence.answers import Preview, Void, apply_answer
from bot.core.convergence.facts import Answer, AnswerKind, FieldKey, FieldRecord
from bot.core.convergence.findings import field_path
from bot.core.errors import AlreadyHandled, Refused, Stale
from bot.core.notices import Notice
from bot.core.requests import AuditEntry
from bot.flows.audited import refusals_audited
from bot.flows.edit_facts import edit_facts, field_of
from bot.flows.gather import person_of, roles_of_person
from bot.flows.read_cluster import NotRead, read_queues
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.kinds import NoticeKind

OUT_OF_DATE = "This question was out of date. It is up to date now: look and press again."


@dataclass(frozen=True, slots=True)
class EditPress:
    """One press of an answer."""

    question: str
    """Notice id."""
    revision: int
    """Version of the record when the pressed picture was drawn."""
    kind: AnswerKind
    user: str
    origin: str


def answer_edit(world: World, press: EditPress) -> str:
    """The sentence for the one who pressed. Raises Refused with one; both are in the audit."""
    with world.store.read() as uow:
        found = uow.notices.by_id(press.question)
    notice = found if found is not None and found.draft.kind == NoticeKind.OUTSIDE_EDIT else None
    subject = field_path(field_of(notice.draft.facts)) if notice else f"question {press.question}"
    with refusals_audited(world, press.user, "answer", subject):
        return _answer(world, press, notice)


def _answer(world: World, press: EditPress, notice: Notice | None) -> str:
    person = person_of(world, press.user)
    roles = roles_of_person(world, world.policies.policy, person)
    if not roles.admin:
        raise Refused("Only admins can say what a change from outside means. Not recorded.")
    if notice is None:
        raise Refused("This question is gone.")
    key = field_of(notice.draft.facts)
    limit = _live_lending_limit(world, key)
    preview = _preview(world, notice, press.kind)
    now = world.clock()
    try:
        with world.store.begin() as uow:
            uow.inbox.done(press.origin)
            record = uow.fields.records(key.cluster).get(key)
            uow.fields.put(_apply(record, notice, press, limit, now))
            outcome = f"{press.kind.value}: {notice.draft.facts['live']}"
            uow.audit.add(AuditEntry(now, press.user, "answer", field_path(key), outcome))
            _show(uow, notice, press, preview, now)
            uow.commit()
    except AlreadyHandled:
        raise
    except Stale:
        raise Refused(OUT_OF_DATE) from None
    world.wake_delivery()
    world.wake_convergence()
    return f"Recorded: {key.queue} {key.flavor or key.resource} becomes {preview.now}." if preview else "Recorded."


def _apply(
    record: FieldRecord | None, notice: Notice, press: EditPress, limit: int | None, now: datetime
) -> FieldRecord:
    if record is None or record.question is None:
        raise Refused("Nothing is in question any more.")
    facts = notice.draft.facts
    answer = Answer(record.key, facts["uid"], facts["live"], press.revision, press.kind, press.user, now)
    after = apply_answer(record, answer, limit)
    if isinstance(after, Void):
        raise Refused(f"Not recorded: {after.why}. Look and press again.")
    return after


def _preview(world: World, notice: Notice, kind: AnswerKind) -> Preview | None:
    """Where the answer leads, as the question says it. Raises Refused for one that was not offered."""
    for choice in edit_facts(world, notice).choices:
        if choice.kind is kind:
            if choice.impossible:
                raise Refused(f"This answer is not possible: {choice.impossible}.")
            return Preview(kind, choice.now, choice.after)
    return None


def _show(uow: UnitOfWork, notice: Notice, press: EditPress, preview: Preview | None, now: datetime) -> None:
    answered = {
        "who": press.user,
        "at": now.isoformat(),
        "answer": press.kind.value,
        "now": preview.now if preview else None,
        "after": preview.after if preview else None,
    }
    uow.notices.refresh(notice.draft.facts["question"], now, {"answered": answered})


def _live_lending_limit(world: World, key: FieldKey) -> int | None:
    """An answer takes the live lendingLimit as the base of it, so it must be known. Raises Refused."""
    picture = read_queues(world, key.cluster)
    if isinstance(picture, NotRead):
        raise Refused(f"{picture.opening}. Not recorded. {picture.then}")
    queue = picture.queues.get(key.queue)
    quota = queue.quotas.get(key.flavor_resource) if queue else None
    return quota.lending_limit if quota else None
