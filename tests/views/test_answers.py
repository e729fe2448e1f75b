"""What commands answer: the number first, eight lines or so, no symbol."""

from dataclasses import replace

import pytest

from bot.core.kueue import Preemption, QueueSnapshot
from bot.core.loans import LoanKind
from bot.core.messages import Message
from bot.core.requests import RequestState
from bot.core.wording.faults import UsageFault
from bot.views.answers.done import loan_returned, request_sent, request_withdrawn
from bot.views.answers.help import help_command, help_overview
from bot.views.answers.requests_list import ListFacts, requests_list
from bot.views.answers.show import FlavorFigures, LoanPart, OpenRequest, ShowFacts, show
from bot.views.answers.status import QueueUse, StatusFacts, TeamStatus, status
from bot.views.answers.usage import usage_fault
from bot.views.degrade import plainer, plainer_modal
from bot.views.request_form import FormError, FormFacts, FormValues, QueueChoice, form
from tests.support.slack_limits import faults
from tests.support.view_facts import World, at
from tests.support.view_gallery import COMMANDS
from tests.support.view_text import labels, seen

T, B = World(), World(kind=LoanKind.BORROW)
QUEUE = QueueSnapshot(
    "default", "vision", "u1", "1", 1, {}, "gpu-pool", pending_workloads=2,
    preemption=Preemption(reclaim_within_cohort="Any"), fair_weight="1",
)  # fmt: skip
FIGURES = FlavorFigures(
    "a100", nominal=16, base=16, reserved=20, borrowing_limit=4, lending_limit=None, waiting=12, most=20, free=4,
    requests=(OpenRequest(142, 8, 0, 2),),
)  # fmt: skip
SHOWN = ShowFacts(QUEUE, (FIGURES,), at("14:05"))


def test_show_reads_as_designed() -> None:
    assert seen(show(SHOWN)) == [
        "vision: 20 of 16 a100 reserved, 4 of them borrowed",
        "Quota 16 = 16 base + 0 on loan",
        "May borrow 4 (borrowingLimit), uses 4; lends what is unused",
        "Waiting: 2 workloads, 12 GPUs. Free by quota at this moment: 4. Most it can ever get: 20",
        "Requests: Q-142 (8, waiting 0 of 2)",
        "Stop policy: none. Reclaims from others: Any",
        "Fair sharing weight: 1 (counts only if Fair Sharing is on)",
        "As of 14:05",
        "[Request]",
    ]
    assert show(SHOWN).text == "vision: 20 of 16 a100 reserved, 4 of them borrowed"


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"nominal": 24}, "Quota 24 = 16 base + 8 on loan"),
        ({"nominal": 8}, "Quota 8 = 16 base - 8 lent by the bot"),
        ({"borrowing_limit": None}, "May borrow without a limit (no borrowingLimit), uses 4; lends what is unused"),
        ({"lending_limit": 6}, "May borrow 4 (borrowingLimit), uses 4; lends at most 6 (lendingLimit)"),
        (
            {"loans": (LoanPart(142, 8, "nlp", at("14:20", 5)),)},
            "Q-142 brings 8 from nlp, ends Sat 5 Dec 14:20",
        ),
        (
            {"loans": (LoanPart(142, -8, "vision", at("14:20", 5), in_force=False),)},
            "Q-142 lends 8 to vision, ends Sat 5 Dec 14:20, not in force",
        ),
        ({"loans": (LoanPart(142, 8, None, at("14:20", 5)),)}, "Q-142 lets it borrow 8 more, ends Sat 5 Dec 14:20"),
        ({"loans": (LoanPart(142, 8, None, at("14:20", 5)),) * 7}, "and 2 more: /gpu-quota list"),
    ],
)
def test_show_says_who_lends_and_borrows(changes: dict[str, object], line: str) -> None:
    facts = replace(SHOWN, flavors=(replace(FIGURES, **changes),))  # type: ignore[arg-type]
    assert line in seen(show(facts))


def test_what_is_not_known_of_the_waiting_work_is_said_and_why() -> None:
    figures = (replace(FIGURES, waiting=None),)
    lines = seen(show(replace(SHOWN, flavors=figures, waiting_unknown="the bot may not list workloads")))
    assert "Waiting: 2 workloads, GPUs not known. Free by quota at this moment: 4. Most it can ever get: 20" in lines
    assert "What waits is not known: the bot may not list workloads" in lines
    team = TeamStatus("vision", (QueueUse("vision", "a100", 20, 16, None),))
    assert "vision: 20 of 16 a100 reserved, waiting not known" in seen(status(StatusFacts((team,), at("14:05"))))


def test_show_of_a_queue_in_no_cohort() -> None:
    facts = replace(SHOWN, queue=replace(QUEUE, cohort=None, pending_workloads=0), may_request=False)
    lines = seen(show(replace(facts, flavors=(replace(FIGURES, waiting=0, free=None, requests=()),))))
    assert "In no cohort: borrows nothing, lends nothing" in lines
    assert "Waiting: nothing. Most it can ever get: 20" in lines
    assert "[Request]" not in lines


def test_status_says_per_team_what_is_used_asked_and_on_loan() -> None:
    team = TeamStatus(
        "vision",
        (QueueUse("vision", "a100", 20, 16, 12),),
        (T.card(approvals=T.given(1)),),
        (T.approved(standing=T.standing()),),
    )
    facts = StatusFacts((team, TeamStatus("robotics")), at("14:05"), ("The API server is not answering",))
    assert seen(status(facts)) == [
        "vision: 20 of 16 a100 reserved, 12 waiting",
        "Q-142: 8 a100, waiting 1 of 2, next: gpu-admins, since Wed 2 Dec 14:05",
        "Q-142: 8 a100, in force, ends Sat 5 Dec 14:20",
        "robotics: no live figures",
        "No requests and no loans. /gpu-quota request starts one",
        "The API server is not answering",
        "As of 14:05",
        "[Request quota]",
    ]


def test_status_of_somebody_in_no_team() -> None:
    assert seen(status(StatusFacts((), at("14:05")))) == ["You are in no team: ask an admin to add you."]


def test_list_is_a_table_that_says_how_many_more_there_are() -> None:
    rows = (T.card(), B.approved(standing=B.standing()), T.card(T.request(RequestState.LAPSED)))
    message = requests_list(ListFacts(rows * 3, "of your teams", at("14:05"), left=2))
    lines = seen(message)
    assert lines[:5] == [
        "11 requests and loans, of your teams",
        "Number  Amount  Queue  Kind  State  Ends",
        "Q-142  8 a100  vision  transfer  waiting, 0 of 2 approvals  3 days",
        "Q-142  8 a100  vision  borrow  in force  Sat 5 Dec 14:20",
        "Q-142  8 a100  vision  transfer  lapsed  3 days",
    ]
    assert len(lines) == 12
    assert lines[-1] == "and 2 more: narrow it with mine, team or waiting · As of 14:05"


@pytest.mark.parametrize(
    ("filtered", "line", "buttons"),
    [
        (False, "No requests and no loans. /gpu-quota request starts one.", ["Request quota"]),
        (True, "No requests and no loans, waiting.", []),
    ],
)
def test_an_empty_list_says_what_to_do(filtered: bool, line: str, buttons: list[str]) -> None:
    message = requests_list(ListFacts((), "waiting", at("14:05"), filtered))
    assert seen(message)[0] == line
    assert labels(message) == buttons


def test_help_is_made_from_the_commands_and_fits_a_phone() -> None:
    lines = seen(help_overview(COMMANDS, ("bills (no Prometheus)",)))
    assert lines == [
        "What you can type after /gpu-quota",
        "| Ask     request 8 a100 for 3d because paper",
        "|         return Q-142 · withdraw Q-142",
        "| Look    status · list · show vision",
        "More: /gpu-quota help request",
        "Your loans, and what waits for you: this app's Home tab",
        "Off here: bills (no Prometheus)",
        "[Request quota]",
    ]
    assert max(map(len, lines)) <= 60


def test_help_of_one_command_says_syntax_examples_and_limits() -> None:
    assert seen(help_command(COMMANDS[1], "Most per request 16, longest 14 days")) == [
        "Give quota back early.",
        "| /gpu-quota return [Q] [N]",
        "| /gpu-quota return Q-142",
        "| /gpu-quota return Q-142 4",
        "Most per request 16, longest 14 days",
    ]


def test_a_usage_fault_points_and_shows_a_line_that_works() -> None:
    fault = UsageFault(
        '"4/12" can be 4 December or 12 April.',
        "…a100 until 4/12 because",
        "            ^^^^",
        "/gpu-quota request 8 a100 until 4 Dec because paper",
    )
    assert seen(usage_fault(fault)) == [
        '"4/12" can be 4 December or 12 April.',
        "| …a100 until 4/12 because",
        "|             ^^^^",
        "Try: /gpu-quota request 8 a100 until 4 Dec because paper",
    ]


def test_two_readings_are_both_shown() -> None:
    fault = UsageFault(
        "8h100 is two things.", "request 8h100", "        ^^^^^", "one", ("request 8 h100", "request 8h")
    )
    assert seen(usage_fault(fault))[-2:] == ["Try: request 8 h100", "Try: request 8h"]


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        (
            request_sent(T.request(), "CGPU0APPROVALS", ("until Fri 4 Dec 18:00 (your zone, Europe/Zurich)",)),
            [
                "Q-142: 8 a100 for vision, 3 days. With the approvers in #gpu-approvals. You hear by DM.",
                "until Fri 4 Dec 18:00 (your zone, Europe/Zurich)",
            ],
        ),
        (request_withdrawn(T.request()), ["Q-142 is withdrawn: 8 a100 for vision."]),
        (loan_returned(T.loan(amount=4), 4), ["4 a100 of Q-142 go back. 4 stay on loan."]),
        (loan_returned(T.over(), 8), ["8 a100 of Q-142 go back. Work that runs is not stopped."]),
    ],
)
def test_what_is_said_at_once_when_it_worked(message: Message, lines: list[str]) -> None:
    assert seen(message) == lines


def test_a_table_becomes_aligned_text_where_slack_has_none() -> None:
    message = plainer(requests_list(ListFacts((T.approved(standing=T.standing()),), "yours", at("14:05"))))
    assert seen(message)[1:3] == [
        "| Number  Amount  Queue   Kind      State     Ends",
        "| Q-142   8 a100  vision  transfer  in force  2026-12-05 14:20 +01:00",
    ]
    assert faults(message) == []


def test_an_alert_becomes_bold_text_where_slack_has_none() -> None:
    facts = FormFacts("d1", (QueueChoice("vision", "vision"),), (), FormValues(), error=FormError("No."))
    modal = plainer_modal(form(facts))
    assert seen(modal)[0] == "No."
    assert faults(modal) == []
    assert replace(modal, blocks=()) == replace(form(facts), blocks=())
