"""The message about an idle loan as its reader gets it, and past use as approvers do."""

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction

import pytest

from bot.core.idle_loans import IdleState
from bot.core.loans import LoanState
from bot.core.past_use import PastUse
from bot.views.facts import Surface
from bot.views.idle_loan import IdleFacts, idle_loan
from bot.views.parts import plain
from bot.views.past_lines import past_lines
from bot.views.request_card import card
from tests.support.view_facts import World
from tests.support.view_idle import PAST, answered, idle
from tests.support.view_text import buttons, seen

T = World()

MESSAGES: dict[str, tuple[IdleFacts, list[str]]] = {
    "asked": (
        idle(T),
        [
            "⏳ 6 of 8 a100 unused for 12 h (Q-142)",
            "Waiting elsewhere in gpu-pool: 8 GPUs",
            "Return them, or keep: no answer keeps them",
            "[Return 6] [Keep]",
        ],
    ),
    "one, and nobody waits": (
        idle(T, amount=1, unused_for=timedelta(hours=30), waiting=None),
        ["⏳ 1 of 8 a100 unused for 30 h (Q-142)", "Return it, or keep: no answer keeps it", "[Return 1] [Keep]"],
    ),
    "returned": (
        answered(T, IdleState.RETURNED, 2),
        ["✅ 6 returned, 2 kept until Sat 5 Dec 14:20 (Q-142)", "By @requester 15:10"],
    ),
    "all returned": (
        answered(T, IdleState.RETURNED, 0),
        ["✅ 6 returned, all of the loan (Q-142)", "By @requester 15:10"],
    ),
    "kept": (
        answered(T, IdleState.KEPT, 8),
        [
            "✅ 8 kept until Sat 5 Dec 14:20 (Q-142)",
            "By @requester 15:10",
            "Not asked again for this loan for 1 day",
        ],
    ),
    "used meanwhile": (
        answered(T, IdleState.USED, 8),
        [
            "⚪ 8 a100 in use again: nothing is unused now (Q-142)",
            "Nothing was returned",
            "Not asked again for this loan for 1 day",
        ],
    ),
    "over": (
        replace(idle(T), loan=T.loan(state=LoanState.RETURNING)),
        ["⚪ 6 of 8 a100 unused: the loan is over (Q-142)"],
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_it_says(name: str) -> None:
    facts, lines = MESSAGES[name]
    assert seen(idle_loan(facts)) == lines


def test_return_asks_whether_they_are_sure() -> None:
    give_back, keep = buttons(idle_loan(idle(T)))
    sure = give_back["confirm"]
    assert sure["text"]["text"] == "Give 6 a100 back? You keep 2. To get them again you need a new request."
    assert (sure["confirm"]["text"], sure["deny"]["text"], sure["style"]) == ("Return", "Keep", "danger")
    assert "confirm" not in keep
    assert {give_back["value"], keep["value"]} == {"7"}


@pytest.mark.parametrize(
    ("past", "said"),
    [
        (PAST, "3 loans of a100 by the requester in 90 days: asked 8, used 2.1 on average"),
        (
            replace(PAST, loans=1, asked=Fraction(20, 3), used=Fraction(0), by_requester=False),
            "1 loan of a100 by team vision in 90 days: asked 6.7, used 0 on average",
        ),
        (
            replace(PAST, used=Fraction(799, 100)),
            "3 loans of a100 by the requester in 90 days: asked 8, used 8 on average",
        ),
    ],
)
def test_past_use_is_a_line(past: PastUse, said: str) -> None:
    assert [plain(one) for one in past_lines(past, T.ask())] == [said]
    assert f"• {said}" in seen(card(T.card(past=past), Surface.CHANNEL))


def test_too_little_that_was_seen_is_not_spoken_of() -> None:
    assert past_lines(None, T.ask()) == []
