"""The forms: what stands in the fields stays, the live lines say what the choices mean, errors name their field."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.core.loans import LoanKind
from bot.core.requests import RequestState
from bot.views.deny_form import deny_form
from bot.views.details import DetailsFacts, QueueFigures, details
from bot.views.extend_form import extend_form
from bot.views.facts import Step
from bot.views.ids import UNTIL_DATE, Field, View, option_value
from bot.views.request_form import (
    FlavorChoice,
    FormError,
    FormFacts,
    FormPicture,
    FormValues,
    LenderChoice,
    QueueChoice,
    checking,
    form,
    loading,
    not_sent,
    sent,
)
from bot.views.return_form import return_form
from tests.support.view_facts import World, at
from tests.support.view_text import seen

T = World()
VALUES = FormValues("vision", "a100", 8, reason="paper deadline, last ablation runs")
PICTURE = FormPicture(
    "a100", "gpu-pool", "vision", 4, at("14:05"), LoanKind.BORROW, (Step("vision lead"), Step("gpu-admins"))
)
FACTS = FormFacts(
    draft="d1",
    queues=(QueueChoice("vision", "vision"), QueueChoice("robotics", "robotics")),
    flavors=(FlavorChoice("a100", "80 GB"),),
    values=VALUES,
    most=16,
    longest=timedelta(days=14),
    picture=PICTURE,
)


def test_the_form_reads_as_designed() -> None:
    modal = form(FACTS)
    assert seen(modal) == [
        "For [vision (queue vision)]",
        "  Where the quota goes",
        "GPU type [a100, 80 GB]",
        "How many [8]",
        "  Whole GPUs, 1 to 16",
        "How [Let the bot choose]",
        "Until [3 days after approval]",
        "  The clock starts at approval, at most 14 days",
        "Reason [paper deadline, last ablation runs]",
        "  Approvers see this",
        "4 a100 free by quota in gpu-pool at this moment (read 14:05).",
        "Borrow: 2 approvals, from vision lead and gpu-admins.",
        "[More options]",
    ]
    assert (modal.callback_id, modal.title, modal.submit, modal.metadata) == (
        View.REQUEST_FORM,
        "Request GPU quota",
        "Request",
        "d1",
    )


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"free": 0}, ["0 a100 free by quota in gpu-pool at this moment (read 14:05). A transfer makes it certain."]),
        ({"free": None}, ["No live figures: the cluster is not answering. You can still ask."]),
        (
            {"free": None, "trouble": "the API server is not answering"},
            ["No live figures: the API server is not answering. You can still ask."],
        ),
        (
            {"unlimited": True},
            [
                "vision may borrow without a limit already (no borrowingLimit): no loan is needed.",
                "4 a100 free by quota in gpu-pool at this moment (read 14:05).",
            ],
        ),
        ({"denied": "at most 24 on loan at a time, 20 are"}, ["Policy says no: at most 24 on loan at a time, 20 are"]),
        ({"rule": "small-and-short"}, ["Borrow: approved at once by rule small-and-short."]),
        ({"steps": (Step("gpu-admins"),)}, ["Borrow: 1 approval, from gpu-admins."]),
        ({"managed_by": (("vision", "Flux"),)}, ["Warning: vision is managed by Flux: it may set the quota back "]),
    ],
)
def test_the_live_lines_say_what_the_choices_mean(changes: dict[str, Any], lines: list[str]) -> None:
    shown = seen(form(replace(FACTS, picture=replace(PICTURE, **changes))))
    assert all(any(line.startswith(start) for line in shown) for start in lines)


def test_while_the_live_lines_are_read_the_form_says_so_and_keeps_what_was_typed() -> None:
    before, after = seen(form(FACTS)), seen(form(replace(FACTS, checking=True)))
    assert after == [*before[:-3], "Checking…", "[More options]"]


def test_a_redrawn_form_keeps_its_ids() -> None:
    def ids(facts: FormFacts) -> list[Any]:
        return [block["block_id"] for block in form(facts).blocks if block["type"] == "input"]

    assert ids(FACTS) == ids(replace(FACTS, checking=True, error=FormError("No.", Field.AMOUNT)))


def test_a_date_of_ones_own_and_more_options_add_their_fields() -> None:
    values = replace(VALUES, until=UNTIL_DATE, until_at=at("18:00", 4), lender="nlp", start_at=at("18:00"))
    lenders = (LenderChoice("nlp", 8), LenderChoice("other", None))
    lines = seen(form(replace(FACTS, values=values, more=True, lenders=lenders)))
    assert "Until [A date I choose]" in lines
    assert "End [Fri 4 Dec 18:00]" in lines
    assert "Lender [nlp]" in lines
    assert "Start [Wed 2 Dec 18:00]" in lines
    assert "[More options]" not in lines


def test_an_error_stands_on_top_and_names_its_field() -> None:
    error = FormError("20 is more than the 16 that policy allows per request", Field.AMOUNT)
    shown = form(replace(FACTS, values=replace(VALUES, amount=20), error=error))
    assert seen(shown)[0] == "(error) How many: 20 is more than the 16 that policy allows per request"
    assert "How many [20]" in seen(shown), "what was typed stays to be corrected"


def test_a_duration_from_the_command_line_is_an_option_too() -> None:
    assert "Until [36h after approval]" in seen(form(replace(FACTS, values=replace(VALUES, until="36h"))))


def test_somebody_in_no_team_gets_a_sentence_instead_of_an_empty_select() -> None:
    shown = form(replace(FACTS, queues=()))
    assert shown.submit is None
    assert seen(shown) == ["You can request for your own teams, and you are in none. Ask an admin."]


def test_more_queues_than_a_select_takes_are_said() -> None:
    queues = tuple(QueueChoice(f"q{at:03}", "t") for at in range(240))
    shown = form(replace(FACTS, queues=queues, values=replace(VALUES, queue="q239")))
    assert "  The first 100 of 240. For others type: request 8 in QUEUE" in seen(shown)


def test_a_queue_with_a_very_long_name_can_be_chosen() -> None:
    queue = "q" * 253
    shown = form(replace(FACTS, queues=(QueueChoice(queue, "vision"),), values=replace(VALUES, queue=queue)))
    element = shown.blocks[0]["element"]
    assert element["initial_option"]["value"] == option_value(queue)


@pytest.mark.parametrize(
    ("modal", "line"),
    [
        (loading("d1"), "Reading the cluster. The form follows in a moment."),
        (checking("d1"), "Checking with the cluster. You can close this; the answer also comes by DM."),
        (
            sent(T.request(), "CGPU0APPROVALS"),
            "Q-142: 8 a100 for vision, 3 days. With the approvers in #gpu-approvals. You hear by DM.",
        ),
        (
            sent(T.request(RequestState.APPROVED, decided_by="rule:small-and-short"), None),
            "Q-142 is approved by rule small-and-short. You hear when it is in force.",
        ),
        (
            not_sent("the database is not answering"),
            "Not sent: the database is not answering. Nothing was recorded. Try again in a few minutes.",
        ),
    ],
)
def test_states_without_fields(modal: Any, line: str) -> None:
    assert seen(modal) == [line]
    assert modal.submit is None
    assert modal.callback_id == View.REQUEST_LOADING


def test_deny_asks_for_a_reason_that_the_requester_sees() -> None:
    modal = deny_form(T.request(), "Requester")
    assert seen(modal) == [
        "8 a100 for vision, 3 days, asked by Requester",
        "Reason []",
        "  The requester sees this",
    ]
    assert (modal.title, modal.submit, modal.metadata) == ("Deny Q-142", "Deny", "142")
    assert modal.blocks[1]["optional"] is False


@pytest.mark.parametrize(
    ("above", "line"),
    [
        (8, "8 GPUs in use above base: they run on above quota"),
        (1, "1 GPU in use above base: it runs on above quota"),
        (0, "Nothing runs above base"),
        (None, "In use above base: not known. Work that runs is not stopped"),
    ],
)
def test_return_asks_how_many_and_says_what_runs_on(above: int | None, line: str) -> None:
    modal = return_form(T.loan(), above)
    assert seen(modal) == [
        "8 a100 on loan to vision",
        line,
        "To get them again you need a new request",
        "How many go back [8]",
        "  Whole GPUs, 1 to 8",
    ]
    assert (modal.title, modal.submit, modal.metadata) == ("Return Q-142", "Return", "142")


@pytest.mark.parametrize(
    ("longest", "line"),
    [(14, "Up to 14 days in all; 11 days left"), (3, "Has its 3 days already"), (2, "Has its 2 days already")],
)
def test_extend_asks_how_much_longer_and_says_how_much_is_left(longest: int, line: str) -> None:
    modal = extend_form(T.loan(), timedelta(days=longest))
    assert seen(modal)[:3] == ["8 a100 for vision, ends Sat 5 Dec 14:20", line, "How much longer [1 day]"]
    assert (modal.title, modal.submit, modal.metadata) == ("Extend Q-142", "Extend", "142")
    assert [block.get("optional") for block in modal.blocks] == [None, False, True, True]


def test_details_say_why_and_show_the_queues() -> None:
    impact = T.impact(managed_by=(("vision", "Argo CD"),))
    queues = (QueueFigures("nlp", 24, 16, 0, 0), QueueFigures("vision", 16, 20, 4, 12))
    why = ("Rule big-or-long, because 8 is more than 4.",)
    lines = seen(details(DetailsFacts(T.card(impact=impact), why, queues, ("Q-131: 8 a100, in force",), 10, 24)))
    assert lines[0] == "8 a100 for vision, 3 days, transfer · Q-142"
    for line in (
        "Step 1: nlp lead (lends)",
        "Rule big-or-long, because 8 is more than 4.",
        "| Queue   Quota  Reserved  Borrowed  Waiting",
        "| nlp        24        16         0        0",
        "| vision     16        20         4       12",
        "Q-131: 8 a100, in force",
        "On loan in all: 10 of 24",
        "| ignoreDifferences:",
    ):
        assert line in lines
