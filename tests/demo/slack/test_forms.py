"""What a person can enter where: values in Slack's shape, and what its client refuses before the bot hears of it."""

from typing import Any

import pytest

from bot.demo.slack import forms

Element = dict[str, Any]


def option(value: str) -> Element:
    return {"text": {"type": "plain_text", "text": value.title()}, "value": value}


BORROW, TRANSFER = option("borrow"), option("transfer")
SELECT = {"type": "static_select", "action_id": "a", "options": [BORROW, TRANSFER]}
GROUPED = {
    "type": "static_select",
    "action_id": "a",
    "option_groups": [{"label": {"type": "plain_text", "text": "g"}, "options": [BORROW]}],
}
BOXES = {"type": "checkboxes", "action_id": "a", "options": [BORROW, TRANSFER]}


@pytest.mark.parametrize(
    ("element", "entered", "value"),
    [
        ({"type": "plain_text_input"}, "why", {"value": "why"}),
        ({"type": "number_input"}, 8, {"value": "8"}),
        ({"type": "datepicker"}, "2026-12-05", {"selected_date": "2026-12-05"}),
        ({"type": "timepicker"}, "14:20", {"selected_time": "14:20"}),
        ({"type": "datetimepicker"}, 1796476800, {"selected_date_time": 1796476800}),
        ({"type": "users_select"}, "U1", {"selected_user": "U1"}),
        ({"type": "multi_users_select"}, ["U1", "U2"], {"selected_users": ["U1", "U2"]}),
        (SELECT, "transfer", {"selected_option": TRANSFER}),
        (SELECT, "Transfer", {"selected_option": TRANSFER}),
        (SELECT, None, {"selected_option": None}),
        (GROUPED, "borrow", {"selected_option": BORROW}),
        ({**SELECT, "type": "radio_buttons"}, "borrow", {"selected_option": BORROW}),
        (BOXES, ["borrow", "transfer"], {"selected_options": [BORROW, TRANSFER]}),
        ({"type": "external_select"}, BORROW, {"selected_option": BORROW}),
    ],
)
def test_values_have_slacks_shape(element: Element, entered: Any, value: Element) -> None:
    assert forms.filled(element, entered) == {"type": element["type"], **value}


def test_an_option_that_is_not_offered_cannot_be_chosen() -> None:
    with pytest.raises(LookupError, match=r"offers no 'grant', only \['borrow', 'transfer'\]"):
        forms.filled(SELECT, "grant")


@pytest.mark.parametrize(
    ("element", "value"),
    [
        ({"type": "plain_text_input", "initial_value": "x"}, {"value": "x"}),
        ({"type": "plain_text_input"}, {"value": None}),
        ({**SELECT, "initial_option": BORROW}, {"selected_option": BORROW}),
        ({**BOXES, "initial_options": [BORROW]}, {"selected_options": [BORROW]}),
        (BOXES, {"selected_options": []}),
        ({"type": "datetimepicker", "initial_date_time": 1796476800}, {"selected_date_time": 1796476800}),
    ],
)
def test_what_stands_there_from_the_beginning(element: Element, value: Element) -> None:
    assert forms.initial(element) == {"type": element["type"], **value}


NUMBER = {"type": "number_input", "is_decimal_allowed": False, "min_value": "1", "max_value": "16"}


@pytest.mark.parametrize(
    ("element", "entered", "refused"),
    [
        ({"type": "plain_text_input"}, "", True),
        ({"type": "plain_text_input"}, "x", False),
        ({"type": "plain_text_input", "min_length": 3}, "ab", True),
        ({"type": "plain_text_input", "max_length": 3}, "abcd", True),
        ({"type": "plain_text_input", "max_length": 3}, "abc", False),
        (NUMBER, "0", True),
        (NUMBER, "1", False),
        (NUMBER, "16", False),
        (NUMBER, "17", True),
        (NUMBER, "0.5", True),
        (NUMBER, "eight", True),
        ({**NUMBER, "is_decimal_allowed": True}, "1.5", False),
        (SELECT, None, True),
        (SELECT, "borrow", False),
        (BOXES, [], True),
        ({"type": "email_text_input"}, "ada", True),
        ({"type": "email_text_input"}, "ada@example.com", False),
        ({"type": "url_text_input"}, "example", True),
        ({"type": "url_text_input"}, "https://example.com", False),
    ],
)
def test_what_the_client_refuses_by_itself(element: Element, entered: Any, refused: bool) -> None:
    block = {"type": "input", "block_id": "b", "element": {**element, "action_id": "a"}}
    values = {"b": {"a": forms.filled(element, entered)}}
    assert bool(forms.complaints([block], values)) is refused


def test_an_optional_field_may_stay_empty() -> None:
    block = {"type": "input", "block_id": "b", "optional": True, "element": {**SELECT}}
    assert forms.complaints([block], {"b": {"a": forms.filled(SELECT, None)}}) == {}
