"""What the question about an outside edit says: the number, where the loans lead, what each answer would do.

Called by flows/render_notices, and by flows/answer_edit to see what was asked.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from bot.core.convergence.answers import previews
from bot.core.convergence.facts import AnswerKind, FieldKey, FieldName, FieldRecord
from bot.core.convergence.legs import borrower_field
from bot.core.convergence.wants import wanted
from bot.core.loans import Loan
from bot.core.notices import Notice
from bot.flows.gather import OPEN, person_or_id
from bot.flows.world import World
from bot.ports.store import UnitOfWork
from bot.views.edit_question import AnswerChoice, Answered, EditFacts, LoanOnField


def field_of(facts: Mapping[str, Any]) -> FieldKey:
    """The field a question is about, from its notice's facts."""
    cluster, queue, flavor, resource, name = facts["field"]
    return FieldKey(cluster, queue, flavor, resource, FieldName(name))


def edit_facts(world: World, notice: Notice) -> EditFacts:
    """The question in its present state."""
    facts = notice.draft.facts
    key = field_of(facts)
    with world.store.read() as uow:
        record = uow.fields.records(key.cluster).get(key)
        loans = loans_on(uow, key, record)
    legs = {loan.leg_id: _signed(loan, key, wanted(loan)) for loan in loans}
    return EditFacts(
        id=notice.id,
        revision=record.version if record else 0,
        queue=key.queue,
        flavor=key.flavor,
        resource=key.resource,
        field=key.name,
        live=facts["live"],
        expected=record.wrote if record else None,
        base=record.base if record else None,
        seen_at=datetime.fromisoformat(facts["since"]),
        manager=facts.get("manager"),
        loans=tuple(LoanOnField(loan.id, _signed(loan, key, loan.amount), loan.end) for loan in loans),
        choices=_choices(record, legs),
        cohort=facts.get("cohort"),
        cluster=key.cluster if len(world.clusters) > 1 else None,
        managed_by=facts.get("managed_by"),
        in_git=world.policies.policy.proposes(key.cluster, key.queue),
        stripped=facts["kind"] == "doubtful",
        recreated=facts["kind"] == "re-created",
        expected_known=facts["kind"] not in {"doubtful", "half-lost"},
        answered=_answered(world, facts.get("answered")),
        back_since=_instant(facts.get("back_since")),
        over=tuple(facts.get("over") or ()),
        asked_before=notice.shown > 0,
    )


def _choices(record: FieldRecord | None, legs: Mapping[str, int]) -> tuple[AnswerChoice, ...]:
    if record is None or record.question is None:
        return ()
    return tuple(
        AnswerChoice(one.kind, one.now, one.after, impossible=one.refused)
        for one in previews(record, record.question, legs)
    )


def loans_on(uow: UnitOfWork, key: FieldKey, record: FieldRecord | None) -> list[Loan]:
    """Open loans with a part in a number. Of a ResourceQuota: those that are in it, whatever the policy says now."""
    if key.name is FieldName.HARD:
        held = record.legs if record else {}
        return [loan for loan in uow.loans.find(states=OPEN) if loan.leg_id in held]
    return [loan for loan in uow.loans.find(states=OPEN, queues={key.queue}) if _has_leg(loan, key)]


def _has_leg(loan: Loan, key: FieldKey) -> bool:
    if (loan.cluster, loan.flavor, loan.resource) != (key.cluster, key.flavor, key.resource):
        return False
    return borrower_field(loan) == key or (loan.lender == key.queue and key.name is FieldName.NOMINAL)


def _signed(loan: Loan, key: FieldKey, amount: int) -> int:
    return amount if key.name is FieldName.HARD or borrower_field(loan) == key else -amount


def _answered(world: World, facts: Mapping[str, Any] | None) -> Answered | None:
    if not facts:
        return None
    who = person_or_id(world, facts["who"])
    at = datetime.fromisoformat(facts["at"])
    return Answered(AnswerKind(facts["answer"]), who, at, facts["now"], facts["after"])


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
