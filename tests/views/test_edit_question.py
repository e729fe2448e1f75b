"""The question about an outside edit: every answer says the number it leads to, every state what came of it."""

from dataclasses import replace
from typing import Any

import pytest

from bot.core.convergence.facts import AnswerKind, FieldName
from bot.core.people import Person
from bot.views.edit_question import (
    Answered,
    LoanOnField,
    edit_question,
    ignore_rule,
)
from bot.views.ids import Action, picture_of
from tests.support.quota import GPU
from tests.support.view_facts import at
from tests.support.view_questions import CHOICES, question
from tests.support.view_text import buttons, labels, seen

ASKED = replace(question()["open"], manager="kubectl-edit")


def test_open_question_reads_as_designed() -> None:
    message = edit_question(ASKED)
    assert seen(message) == [
        "⚠️ vision a100 is 20, expected 24",
        "Expected: 16 + 8 on loan (Q-142, ends Sat 5 Dec 14:20)",
        "Changed by kubectl-edit, seen 14:23",
        "Until someone answers, the bot writes nothing here",
        "1  20 is the new base: becomes 28 (gpu-pool 52, 4 over the nodes), 20 after the loan",
        "2  20 includes the loan: stays 20, 12 after the loan",
        "3  Not wanted: goes back to 24, 16 after the loan",
        "[20 is base] [20 includes it] [Put back 24]",
    ]
    assert message.text == "vision a100 is 20, expected 24: someone changed it outside the bot"


def test_every_answer_asks_before_it_counts() -> None:
    shown = buttons(edit_question(ASKED))
    assert [one["action_id"] for one in shown] == [Action.DRIFT_BASE, Action.DRIFT_INCLUDED, Action.DRIFT_RESTORE]
    assert [one["confirm"]["text"]["text"] for one in shown] == [
        "Set vision a100 to 28 now? 20 after the loan. This is 4 more than the nodes have.",
        "Keep vision a100 at 20 now? 12 after the loan.",
        "Set vision a100 to 24 now? 16 after the loan.",
    ]
    assert {one["value"] for one in shown} == {"f7"}


def test_the_revision_is_in_the_block_id() -> None:
    assert picture_of(edit_question(ASKED).blocks[-1]["block_id"]) == ("drift", "f7", 2)


def test_an_answer_that_cannot_be_is_not_offered_and_says_why() -> None:
    below = replace(CHOICES[1], impossible="it would be 4 below 0 after the loan")
    message = edit_question(replace(ASKED, choices=(CHOICES[0], below, CHOICES[2])))
    assert "2  20 includes the loan: not offered, it would be 4 below 0 after the loan" in seen(message)
    assert labels(message) == ["20 is base", "Put back 24"]


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"manager": None}, ["Not known who changed it, seen 14:23"]),
        ({"live": 22, "asked_before": True}, ["⚠️ vision a100 is 22 now, expected 24"]),
        ({"field": FieldName.BORROWING_LIMIT, "live": None}, ["⚠️ vision a100 borrowingLimit is not set, expected 24"]),
        (
            {"field": FieldName.HARD, "queue": "vision-train/gpu", "flavor": "", "resource": GPU, "recreated": True},
            [
                f"⚠️ ResourceQuota vision-train/gpu requests.{GPU} is 20, expected 24",
                "The ResourceQuota was deleted and made again",
            ],
        ),
        ({"loans": (LoanOnField(142, -8, at("14:20", 5)),)}, ["Expected: 16 - 8 lent (Q-142, ends Sat 5 Dec 14:20)"]),
        ({"expected_known": False}, ["⚠️ vision a100 is 20, expected is not known"]),
        ({"stripped": True}, ["The bot's annotation is gone too: its own write may have been undone"]),
        ({"recreated": True}, ["The ClusterQueue was deleted and made again"]),
        (
            {"managed_by": "Argo CD"},
            ["Argo CD owns this queue: tell it to ignore resourceGroups, or change Git"],
        ),
        ({"cluster": "eu-1"}, ["Cluster: eu-1"]),
        (
            {"over": (142,)},
            [
                "⚠️ Q-142 ended; quota left at 20, because it is not clear what 20 means",
                "vision a100 is 20, expected 24",
                "[20 is base] [20 includes it] [Put back 24]",
            ],
        ),
    ],
)
def test_what_else_a_question_says(changes: dict[str, Any], lines: list[str]) -> None:
    assert set(lines) <= set(seen(edit_question(replace(ASKED, **changes))))


@pytest.mark.parametrize(
    ("kind", "now", "after", "line"),
    [
        (AnswerKind.NEW_BASE, 28, 20, "✅ @admin 14:40: 20 is the new base. Quota 28, 20 after Q-142"),
        (AnswerKind.INCLUDED, 20, 12, "✅ @admin 14:40: 20 includes the loan. Quota 20, 12 after Q-142"),
        (AnswerKind.PUT_BACK, 24, 16, "✅ @admin 14:40: not wanted, put back. Quota 24, 16 after Q-142"),
    ],
)
def test_an_answered_question_says_who_and_what(kind: AnswerKind, now: int, after: int, line: str) -> None:
    answered = Answered(kind, Person("UADMIN", "Admin"), at("14:40"), now, after)
    message = edit_question(replace(ASKED, answered=answered))
    assert seen(message)[0] == line
    assert labels(message) == []


def test_a_change_that_went_away_needs_no_answer() -> None:
    message = edit_question(replace(ASKED, live=24, back_since=at("14:50")))
    assert seen(message)[0] == "✅ Back at 24 since 14:50, nobody had to answer"
    assert labels(message) == []


@pytest.mark.parametrize("tool", ["Argo CD", "Flux", "Helm", "something else"])
def test_every_tool_has_a_way_to_leave_quota_alone(tool: str) -> None:
    assert ignore_rule(tool).strip()
