"""What each answer to "somebody changed this number" does to the record, and the numbers it leads to.

An answer changes the record and nothing else; the planner has no special case for it. Called by flows/answer_edit
(apply) and by the message that asks (previews).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.core.convergence.embodied import embodied_in_question
from bot.core.convergence.facts import Answer, AnswerKind, FieldRecord, Question
from bot.core.convergence.legs import shrink, without_zeros


@dataclass(frozen=True, slots=True)
class Void:
    """The answer is to a question that stands no more."""

    why: str


@dataclass(frozen=True, slots=True)
class Preview:
    """Where one answer leads. `refused` says why it is not offered (then the numbers may be below 0)."""

    kind: AnswerKind
    now: int | None
    """The number while the loans run as they are wanted now."""
    after: int | None
    """The number when all loans are over."""
    refused: str | None = None


def apply_answer(record: FieldRecord, answer: Answer, lending_limit: int | None) -> FieldRecord | Void:
    """The record after the answer. `lending_limit` is the live one (None: unset).

    Void if the question was withdrawn, is about another number or object by now, or the record was written since.
    """
    asked = record.question
    if asked is None:
        return Void("nothing is in question any more")
    if (asked.uid, asked.live) != (answer.uid, answer.live) or asked.live is None:
        return Void("the number has changed again")
    if record.version != answer.record_version:
        return Void("the bot has looked at it again since")
    if answer.kind is AnswerKind.PUT_BACK and record.base is None:
        return Void("the number before is not known")
    return replace(
        _answered(record, asked.live, answer.kind),
        uid=asked.uid,
        wrote=asked.live,
        question=None,
        lending_base=record.lending_base if answer.kind is AnswerKind.PUT_BACK else lending_limit,
        lending_wrote=lending_limit,
    )


def _answered(record: FieldRecord, live: int, kind: AnswerKind) -> FieldRecord:
    """Base and legs after the answer."""
    if kind is AnswerKind.NEW_BASE:
        return replace(record, base=live, legs={})
    if kind is AnswerKind.PUT_BACK:
        return replace(record, legs=embodied_in_question(record, live))
    legs = without_zeros(record.legs)
    below = sum(legs.values()) - live
    if below > 0:
        legs = shrink(legs, below, 1)
    return replace(record, base=live - sum(legs.values()), legs=legs)


def previews(record: FieldRecord, question: Question, wanted: Mapping[str, int]) -> tuple[Preview, ...]:
    """The numbers of all three answers. `wanted` are the signed legs that loans want in this field now."""
    return tuple(_preview(record, question, wanted, kind) for kind in AnswerKind)


def _preview(record: FieldRecord, question: Question, wanted: Mapping[str, int], kind: AnswerKind) -> Preview:
    assert question.live is not None
    base = _answered(record, question.live, kind).base
    if base is None:
        return Preview(kind, None, None, "the number before is not known")
    now = base + sum(wanted.values())
    if now < 0:
        return Preview(kind, now, base, f"the loans take {-sum(wanted.values())}, that would lead below 0")
    return Preview(kind, now, base)
