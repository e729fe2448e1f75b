"""The outside edit of the reference in its states: vision a100 is 20, expected 24."""

from dataclasses import replace

from bot.core.convergence.facts import AnswerKind, FieldName
from bot.core.people import Person
from bot.views.edit_question import AnswerChoice, Answered, EditFacts, LoanOnField
from tests.support.quota import GPU
from tests.support.view_facts import NAMES, Names, at

CHOICES = (
    AnswerChoice(AnswerKind.NEW_BASE, 28, 20, cohort_total=52, over_nodes=4),
    AnswerChoice(AnswerKind.INCLUDED, 20, 12),
    AnswerChoice(AnswerKind.PUT_BACK, 24, 16),
)


def question(names: Names = NAMES) -> dict[str, EditFacts]:
    """Every state of the question."""
    asked = EditFacts(
        id="f7",
        revision=2,
        queue=names.queue,
        flavor=names.flavor,
        field=FieldName.NOMINAL,
        live=20,
        expected=24,
        base=16,
        seen_at=at("14:23"),
        manager=names.manager,
        loans=(LoanOnField(142, 8, at("14:20", 5)),),
        choices=CHOICES,
        cohort=names.cohort,
    )
    admin = Person("UADMIN", names.admin)
    more = replace(asked, cluster=names.cohort, managed_by=names.tool, stripped=True, recreated=True, asked_before=True)
    below = replace(CHOICES[1], impossible="it would be 4 below 0 after the loan")
    states = {
        "open": asked,
        "open, more to say": more,
        "two answers": replace(asked, choices=(CHOICES[0], below, CHOICES[2])),
        "limit": replace(asked, field=FieldName.BORROWING_LIMIT, live=None, manager=None),
        "resource quota": replace(asked, queue=f"{names.queue}/gpu", flavor="", field=FieldName.HARD, resource=GPU),
        "unknown": replace(asked, expected_known=False, expected=None, base=None),
        "after the end": replace(asked, over=(142,)),
        "in git": replace(asked, in_git=True, managed_by=names.tool),
        "back": replace(asked, live=24, back_since=at("14:50")),
    }
    for choice in CHOICES:
        given = Answered(choice.kind, admin, at("14:40"), choice.now, choice.after)
        states[f"answered {choice.kind}"] = replace(asked, answered=given)
    return states
