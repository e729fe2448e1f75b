"""However much there is to say, a message stays small enough for Slack and says how much it left out."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.impact import AtRisk
from bot.core.kueue import QueueSnapshot
from bot.core.messages import Message, Modal
from bot.views import direct, loan_trouble, platform, refusals, reminders
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
NAMES = st.one_of(
    st.text(min_size=1, max_size=300),
    st.sampled_from(["👩‍💻" * 60, "é" * 255, "名" * 253, "<&>" * 90, "🇨🇭" * 31, "x" * 63, "a\u0301" * 40]),
)


def lists(name: str, many: int) -> dict[str, Message | Modal]:
    """Every view with a list in it, of so many things of that name."""
    world = World(Names.all_of(name))
    return {**_lists_of_work(world, many), **_lists_of_loans(world, many)}


def _lists_of_work(world: World, many: int) -> dict[str, Message | Modal]:
    name = world.names.work
    work = tuple(AtRisk(f"{name}-{each}", 1) for each in range(many))
    waiting = world.card(impact=world.impact(at_risk=work, preemptible=many))
    ended = world.approved(world.over(), world.standing(0, above=8, above_workloads=work))
    worse = Worse(Pressed(world.admin, at("14:18")), at("14:05"), None, work)
    queues = (QueueFigures(name, 16, 20, 4, 12),) * many
    return {
        "card": card(waiting, Surface.CHANNEL),
        "card, worse": card(world.card(worse=worse), Surface.CHANNEL),
        "card, ended": card(ended, Surface.REQUESTER),
        "ended": direct.ended(ended),
        "details": details(DetailsFacts(waiting, (name,) * 20, queues, (name,) * many)),
    }


def _lists_of_loans(world: World, many: int) -> dict[str, Message | Modal]:
    name, numbers = world.names.queue, tuple(range(1, many + 1))
    rows = tuple(world.approved(standing=world.standing()) for _ in numbers)
    flavor = FlavorFigures(
        name, 24, 16, 20, 4, 8, 12, 28, 4,
        loans=tuple(LoanPart(each, 8, name, at("14:20", 5)) for each in numbers),
        requests=tuple(OpenRequest(each, 8, 0, 2) for each in numbers),
    )  # fmt: skip
    queue = QueueSnapshot("default", name, "u1", "1", 1, {}, name, pending_workloads=many)
    team = TeamStatus(name, (QueueUse(name, name, 20, 16, 12),) * many, rows, rows)
    held = tuple(platform.Held(each, platform.Turn.END, at("14:20")) for each in numbers)
    done = tuple(platform.CaughtUp(each, platform.Turn.END, at("14:40"), timedelta(minutes=20)) for each in numbers)
    outage = platform.Outage(at("14:02"), at("16:12"), None, held, done)
    loans = tuple(LoanOnField(each, 8, at("14:20", 5)) for each in numbers)
    back = tuple(Returned(world.requester, at("09:00", 3), 1) for _ in numbers)
    returned = world.approved(world.loan(amount=4), world.standing(4), returned=back)
    return {
        "card, returns": card(returned, Surface.REQUESTER),
        "show": show(ShowFacts(queue, (flavor,) * min(many, 64), at("14:05"))),
        "status": status(StatusFacts((team,) * many, at("14:05"))),
        "list": requests_list(ListFacts(rows, "all", at("14:05"))),
        "API down": platform.api_down(outage),
        "API back": platform.api_back(outage),
        "bot was down": platform.bot_was_down(outage),
        "no approver": platform.no_approver(name, numbers),
        "question": edit_question(replace(question()["open"], loans=loans, over=numbers)),
        "question, answered": edit_question(replace(question()["answered base"], loans=loans)),
        "trouble": loan_trouble.annotation_stripped(loan_trouble.QueueTrouble(name, at("14:02"), numbers)),
        "reminder": reminders.day_before([reminders.Ending(world.loan(id=each), None) for each in numbers]),
        "which loan": refusals.which_loan(tuple(world.loan(id=each) for each in numbers), ("Which?",), return_button),
        "which request": refusals.which_request(tuple(world.request(id=each) for each in numbers)),
    }


SHOWN = lists(NAME, MANY)


@pytest.mark.parametrize("name", SHOWN)
def test_slack_takes_it_however_much_there_is(name: str) -> None:
    assert faults(SHOWN[name]) == []


@settings(max_examples=30)
@given(name=NAMES, many=st.integers(1, MANY))
def test_slack_takes_any_number_of_things_with_any_names(name: str, many: int) -> None:
    assert {view: found for view, one in lists(name, many).items() if (found := faults(one))} == {}


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("card", "and 197 more"),
        ("card, ended", "and 197 more"),
        ("details", "and 170 more queues in this cohort"),
        ("show", "and 195 more: /gpu-quota list"),
        ("status", "and 195 more teams: /gpu-quota status TEAM"),
        ("list", "and 150 more"),
        ("API down", "and 190 more"),
        ("question", "+ 1,560 in 195 more loans"),
        ("which loan", "and 195 more: /gpu-quota list"),
    ],
)
def test_what_is_left_out_is_said(name: str, left_out: str) -> None:
    assert left_out in "\n".join(seen(SHOWN[name]))
