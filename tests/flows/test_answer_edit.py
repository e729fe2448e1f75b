"""An answer to an outside edit is in the audit, whether it counted or not."""

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot.core.convergence.facts import AnswerKind
from bot.core.errors import Refused, Stale
from bot.flows.answer_edit import OUT_OF_DATE, EditPress, answer_edit
from tests.support import quota
from tests.support.fakes.store import FakeFields

if TYPE_CHECKING:
    from tests.flows.conftest import Bench

FIELD = "default/vision/a100/nvidia.com/gpu/nominal"


def _question(bench: "Bench") -> EditPress:
    """vision's number with a loan in it was changed to 20 by hand; the press that takes 20 for the new base."""
    bench.approved(quota.transfer(8))
    bench.converge()
    bench.set_nominal("vision", 20)
    bench.converge()
    (key,) = bench.keys("edit:")
    record = next(one for one in bench.store.tables.records.values() if one.question is not None)
    return EditPress(bench.notice(key).id, record.version, AnswerKind.NEW_BASE, "U0ADMIN", bench.arrival("press"))


def _audit(bench: "Bench", subject: str) -> list[tuple[str, str, str]]:
    with bench.world.store.read() as uow:
        return [(entry.who, entry.what, entry.outcome) for entry in uow.audit.of(subject) if entry.what == "answer"]


def test_an_answer_that_counts_is_in_the_audit_once(bench: "Bench") -> None:
    press = _question(bench)
    answer_edit(bench.world, press)
    assert _audit(bench, FIELD) == [("U0ADMIN", "answer", "base: 20")]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"user": "U0VISION"}, "Only admins can say what a change from outside means. Not recorded."),
        ({"revision": 0}, "Not recorded: "),
    ],
    ids=["not an admin", "an old picture"],
)
def test_a_refused_answer_is_in_the_audit_with_its_reason(
    bench: "Bench", changes: dict[str, object], sentence: str
) -> None:
    press = replace(_question(bench), **changes)  # type: ignore[arg-type]
    with pytest.raises(Refused) as told:
        answer_edit(bench.world, press)
    assert told.value.sentence.startswith(sentence)
    assert _audit(bench, FIELD) == [(press.user, "answer", told.value.sentence)]


def test_a_second_answer_is_refused_and_in_the_audit(bench: "Bench") -> None:
    press = _question(bench)
    answer_edit(bench.world, press)
    with pytest.raises(Refused):
        answer_edit(bench.world, replace(press, user="U0ADMINTWO", origin=bench.arrival("second")))
    assert [who for who, _, _ in _audit(bench, FIELD)] == ["U0ADMIN", "U0ADMINTWO"]


def test_an_answer_that_came_too_late_is_in_the_audit(bench: "Bench", monkeypatch: pytest.MonkeyPatch) -> None:
    """The record moved on between the look and the write."""
    press = _question(bench)

    def moved_on(*_: object) -> None:
        raise Stale

    monkeypatch.setattr(FakeFields, "put", moved_on)
    with pytest.raises(Refused) as told:
        answer_edit(bench.world, press)
    assert told.value.sentence == OUT_OF_DATE
    assert _audit(bench, FIELD) == [("U0ADMIN", "answer", OUT_OF_DATE)]


def test_a_press_that_names_no_question_is_in_the_audit(bench: "Bench") -> None:
    bench.owe("test")
    press = EditPress(bench.notice("test").id, 1, AnswerKind.NEW_BASE, "U0ADMIN", bench.arrival("press"))
    for question in (press.question, "nothing"):
        with pytest.raises(Refused, match="This question is gone."):
            answer_edit(bench.world, replace(press, question=question))
        assert _audit(bench, f"question {question}") == [("U0ADMIN", "answer", "This question is gone.")]
