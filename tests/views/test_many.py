"""However much there is to say, a message stays small enough for Slack and says how much it left out."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.impact import AtRisk
from bot.core.kueue import QueueSnapshot
from bot.core.messages import Message, Modal
from bot.views import direct, loan_trouble, platform, refusals
from bot.views.answers.requests_list import ListFacts, requests_list
from bot.views.answers.show import FlavorFigures, LoanPart, OpenRequest, ShowFacts, show
from bot.views.answers.status import QueueUse, StatusFacts, TeamStatus, status
from bot.views.details import DetailsFacts, QueueFigures, details
from bot.views.edit_question import LoanOnField, edit_question
from bot.views.facts import Pressed, Returned, Surface, Worse
from bot.views.request_card import card, return_button
from tests.support.slack_limits import faults
from tests.support.view_facts import Names, World, at
from tests.support.view_questions import question
from tests.support.view_text import seen

MANY = 200
NAME = "a-very-long-name-of-something-that-a-team-runs-for-weeks-at-a-time"
T = World(Names.all_of(NAME))
WORK = tuple(AtRisk(f"{NAME}-{each}", 1) for each in range(MANY))
NUMBERS = tuple(range(1, MANY + 1))
BACK = tuple(Returned(T.requester, at("09:00", 3), 1) for _ in NUMBERS)
ROWS = tuple(T.approved(standing=T.standing()) for _ in NUMBERS)
FLAVOR = FlavorFigures(
    NAME, 24, 16, 20, 4, 8, 12, 28, 4,
    loans=tuple(LoanPart(each, 8, NAME, at("14:20", 5)) for each in NUMBERS),
    requests=tuple(OpenRequest(each, 8, 0, 2) for each in NUMBERS),
)  # fmt: skip
USE = QueueUse(NAME, NAME, 20, 16, 12)
TEAM = TeamStatus(NAME, (USE,) * MANY, ROWS, ROWS)
HELD = tuple(platform.Held(each, platform.Turn.END, at("14:20")) for each in NUMBERS)
DONE = tuple(platform.CaughtUp(each, platform.Turn.END, at("14:40"), timedelta(minutes=20)) for each in NUMBERS)
OUTAGE = platform.Outage(at("14:02"), at("16:12"), None, HELD, DONE)
LOANS = tuple(LoanOnField(each, 8, at("14:20", 5)) for each in NUMBERS)
ASKED = replace(question()["open"], loans=LOANS, over=NUMBERS)

SHOWN: dict[str, Message | Modal] = {
    "card": card(T.card(impact=T.impact(at_risk=WORK, preemptible=MANY)), Surface.CHANNEL),
    "card, worse": card(T.card(worse=Worse(Pressed(T.admin, at("14:18")), at("14:05"), None, WORK)), Surface.CHANNEL),
    "card, returns": card(T.approved(T.loan(amount=4), T.standing(4), returned=BACK), Surface.REQUESTER),
    "card, ended": card(T.approved(T.over(), T.standing(0, above=8, above_workloads=WORK)), Surface.REQUESTER),
    "ended": direct.ended(T.approved(T.over(), T.standing(0, above=8, above_workloads=WORK))),
    "details": details(
        DetailsFacts(
            T.card(impact=T.impact(at_risk=WORK, preemptible=MANY)),
            (NAME,) * 20,
            (QueueFigures(NAME, 16, 20, 4, 12),) * MANY,
            (NAME,) * MANY,
        )
    ),
    "show": show(
        ShowFacts(
            QueueSnapshot("default", NAME, "u1", "1", 1, {}, NAME, pending_workloads=MANY), (FLAVOR,) * 64, at("14:05")
        )
    ),
    "status": status(StatusFacts((TEAM,) * MANY, at("14:05"))),
    "list": requests_list(ListFacts(ROWS, "all", at("14:05"))),
    "API down": platform.api_down(OUTAGE),
    "API back": platform.api_back(OUTAGE),
    "bot was down": platform.bot_was_down(OUTAGE),
    "no approver": platform.no_approver(NAME, NUMBERS),
    "question": edit_question(ASKED),
    "question, answered": edit_question(replace(question()["answered base"], loans=LOANS)),
    "trouble": loan_trouble.annotation_stripped(loan_trouble.QueueTrouble(NAME, at("14:02"), NUMBERS)),
    "which loan": refusals.which_loan(tuple(T.loan(id=each) for each in NUMBERS), ("Which?",), return_button),
    "which request": refusals.which_request(tuple(T.request(id=each) for each in NUMBERS)),
}


@pytest.mark.parametrize("name", SHOWN)
def test_slack_takes_it_however_much_there_is(name: str) -> None:
    assert faults(SHOWN[name]) == []


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("card", "and 197 more"),
        ("card, ended", "and 197 more"),
        ("details", "and 170 more queues in this cohort"),
        ("show", "and 195 more: /gpu-quota list"),
        ("status", "and 195 more teams: /gpu-quota status TEAM"),
        ("list", "and 190 more"),
        ("API down", "and 190 more"),
        ("question", "+ 1,560 in 195 more loans"),
        ("which loan", "and 195 more: /gpu-quota list"),
    ],
)
def test_what_is_left_out_is_said(name: str, left_out: str) -> None:
    assert left_out in "\n".join(seen(SHOWN[name]))
