"""Counter-offers as the requester and the approver see them: what differs, number first, and what came of it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.core.loans import LoanKind
from bot.core.offers import OfferState, Terms
from bot.core.requests import RequestState
from bot.views.change_form import (
    AS_ASKED,
    ChangeFacts,
    ChangeMark,
    ChangeValues,
    change_form,
    checking,
    loading,
    mark_of,
    offered,
)
from bot.views.facts import Offered
from bot.views.ids import Field, View
from bot.views.offers import counter_offer, offer_answered, offer_void
from bot.views.request_form import FormError, LenderChoice
from tests.support.view_facts import World, at
from tests.support.view_text import labels, seen

T = World()
BY_ITSELF = T.offered(state=OfferState.VOID, settled_by="bot", settled_at=at("14:30"))
ASKED = T.offer().instead
FACTS = ChangeFacts(
    request=T.request(),
    requester=T.requester,
    values=ChangeValues(8, "transfer", "nlp"),
    longest=timedelta(days=3),
    kinds=(LoanKind.BORROW, LoanKind.TRANSFER),
    lenders=(LenderChoice("nlp", 8), LenderChoice("robotics", None)),
)


def test_an_offer_reads_as_designed() -> None:
    message = counter_offer(T.card(), T.offered())
    assert seen(message) == [
        "⏳ 4 a100 for 2 days instead of 8 for 3 days (Q-142)",
        "@admin: no more before the deadline week",
        "Nothing happens until you choose",
        "[Accept] [Keep mine] [Withdraw]",
    ]
    assert message.text == "4 a100 for 2 days instead of 8 for 3 days (Q-142)"


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({"amount": 4}, "4 a100 instead of 8"),
        ({"duration": timedelta(hours=36)}, "8 a100 for 36 h instead of for 3 days"),
        ({"duration": None, "until": at("18:00", 4)}, "8 a100 until Fri 4 Dec 18:00 instead of for 3 days"),
        ({"kind": LoanKind.BORROW, "lender": None}, "8 a100 by borrow instead of by transfer from nlp"),
        ({"lender": "robotics"}, "8 a100 by transfer from robotics instead of by transfer from nlp"),
        ({"start": at("18:00", 4)}, "8 a100 starting Fri 4 Dec 18:00 instead of starting at approval"),
        (
            {"amount": 2, "duration": timedelta(days=1), "kind": LoanKind.BORROW, "lender": None},
            "2 a100 for 1 day by borrow instead of 8 for 3 days by transfer from nlp",
        ),
    ],
)
def test_only_what_differs_is_said(changes: dict[str, Any], first: str) -> None:
    shown = seen(counter_offer(T.card(), T.offered(terms=replace(ASKED, **changes))))
    assert shown[0] == f"⏳ {first} (Q-142)"
    assert ("Borrowed quota: Kueue may reclaim it" in shown) == ("kind" in changes)


@pytest.mark.parametrize(
    ("state", "lines"),
    [
        (OfferState.ACCEPTED, ["✅ Offer accepted: {} (Q-142)", "@requester accepted it 14:30"]),
        (OfferState.KEPT, ["⚪ Offer turned down: {} (Q-142)", "@requester keeps what was asked for 14:30"]),
        (OfferState.REPLACED, ["⚪ Offer replaced: {} (Q-142)", "@lead-nlp made a newer one 14:30"]),
        (OfferState.VOID, ["⚪ Offer void: {} (Q-142)", "@lead-nlp approved what was asked for 14:30"]),
    ],
)
def test_a_settled_offer_says_how_and_has_no_buttons(state: OfferState, lines: list[str]) -> None:
    shown = counter_offer(T.card(), T.settled(state))
    assert seen(shown) == [one.format("4 a100, 2 days, transfer from nlp") for one in lines]
    assert labels(shown) == []


@pytest.mark.parametrize(
    ("state", "offer", "words"),
    [
        (RequestState.DENIED, T.settled(OfferState.VOID), "@lead-nlp denied the request 14:30"),
        (RequestState.WITHDRAWN, T.settled(OfferState.VOID), "@lead-nlp withdrew the request 14:30"),
        (RequestState.DENIED, BY_ITSELF, "The policy denied the request 14:30"),
        (RequestState.LAPSED, BY_ITSELF, "The request lapsed: nobody decided in time 14:30"),
    ],
)
def test_an_offer_of_a_request_that_is_over_says_why(state: RequestState, offer: Offered, words: str) -> None:
    assert seen(counter_offer(T.card(T.request(state)), offer))[1] == words


def test_an_offer_has_no_buttons_once_the_request_is_decided() -> None:
    """Even if its message is rendered before it hears of its own end."""
    assert labels(counter_offer(T.card(T.request(RequestState.DENIED)), T.offered())) == []


def test_a_void_offer_is_said_with_what_was_approved() -> None:
    assert seen(offer_void(T.card(), T.settled(OfferState.VOID))) == [
        "⏳ 8 a100, 3 days, transfer from nlp: approved as asked, the offer is void (Q-142)",
        "By @lead-nlp",
        "The offer was 4 a100, 2 days, transfer from nlp, by Admin",
    ]


@pytest.mark.parametrize(
    ("state", "lines"),
    [
        (
            OfferState.ACCEPTED,
            ["✅ 4 a100, 2 days, transfer from nlp: accepted (Q-142)", "By @requester", "Waiting: 1 of 2 approvals"],
        ),
        (
            OfferState.KEPT,
            [
                "⚪ 4 a100, 2 days, transfer from nlp: turned down (Q-142)",
                "By @requester",
                "Asked for: 8 a100, 3 days, transfer from nlp",
                "Waiting: 1 of 2 approvals",
            ],
        ),
    ],
)
def test_the_offerer_hears_the_answer_and_how_it_stands(state: OfferState, lines: list[str]) -> None:
    assert seen(offer_answered(T.card(approvals=T.given(1)), T.settled(state))) == lines


def test_the_form_is_filled_with_what_was_asked_for() -> None:
    modal = change_form(FACTS)
    assert seen(modal) == [
        "8 a100 for vision, asked by Requester",
        "Offer less, shorter, later or another kind. It counts as your approval if it is accepted.",
        "How many [8]",
        "  Whole GPUs, 1 to 8",
        "How [Transfer]",
        "Lender [nlp]",
        "  Of a transfer; the lender's lead must approve",
        "How long [As asked: 3 days]",
        "Or until []",
        "  Goes before the length above",
        "Start []",
        "  Empty: at approval",
        "Why []",
        "  The requester sees this",
    ]
    assert (modal.callback_id, modal.title, modal.submit) == (View.CHANGE_FORM, "Change Q-142", "Offer")


def test_the_form_carries_what_it_may_ask_at_most() -> None:
    mark = mark_of(change_form(FACTS).metadata)
    assert mark == ChangeMark(142, 3, 8, timedelta(days=3))


@pytest.mark.parametrize("metadata", ["", "142", "142:3:8", "142:3:8:x", "142:3:8:9:1", "-1:3:8:9", "١:3:8:9", "d1"])
def test_what_no_form_of_ours_carries_is_not_read(metadata: str) -> None:
    assert mark_of(metadata) is None


def test_slack_is_told_that_more_is_not_offered() -> None:
    amount = next(block for block in change_form(FACTS).blocks if block.get("block_id") == Field.CHANGE_AMOUNT)
    assert amount["element"]["max_value"] == "8"


def test_only_shorter_lengths_are_options() -> None:
    until = next(block for block in change_form(FACTS).blocks if block.get("block_id") == Field.CHANGE_UNTIL)
    assert [one["value"] for one in until["element"]["options"]] == [AS_ASKED, "8h", "1d"]


def test_an_error_stands_on_top_and_what_was_typed_stays() -> None:
    values = replace(FACTS.values, amount=20, words="no room")
    shown = seen(change_form(replace(FACTS, values=values, error=FormError("8 at most.", Field.CHANGE_AMOUNT))))
    assert shown[0] == "(error) How many: 8 at most."
    assert "How many [20]" in shown
    assert "Why [no room]" in shown


def test_states_without_fields() -> None:
    done = offered(T.offer(), T.request(), T.requester)
    assert seen(loading(142)) == ["Reading the request. The form follows in a moment."]
    assert seen(checking(142))[0].startswith("Checking with the cluster.")
    assert seen(done)[0] == "Offered: 4 a100, 2 days, transfer from nlp."
    assert all(modal.submit is None for modal in (loading(142), checking(142), done))


def test_terms_that_begin_later_and_end_at_a_date_are_told_with_both() -> None:
    terms = Terms(8, LoanKind.TRANSFER, "nlp", at("18:00", 3), None, at("18:00", 4))
    first = seen(counter_offer(T.card(), T.offered(terms=terms)))[0]
    assert first == (
        "⏳ 8 a100 until Fri 4 Dec 18:00 starting Thu 3 Dec 18:00 instead of for 3 days starting at approval (Q-142)"
    )
