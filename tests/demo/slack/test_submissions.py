"""Forms between a person and a real Bolt app, over Socket Mode and signed HTTP: open, fill in, submit, close."""

from typing import Any

import pytest
from slack_bolt import Ack

from bot.demo.slack import View

FORM = {
    "type": "modal",
    "callback_id": "form",
    "title": {"type": "plain_text", "text": "Request"},
    "submit": {"type": "plain_text", "text": "Request"},
    "notify_on_close": True,
    "blocks": [
        {
            "type": "input",
            "block_id": "amount",
            "label": {"type": "plain_text", "text": "How many"},
            "element": {"type": "number_input", "action_id": "amount", "is_decimal_allowed": False, "min_value": "1"},
        },
        {
            "type": "input",
            "block_id": "kind",
            "dispatch_action": True,
            "label": {"type": "plain_text", "text": "How"},
            "element": {
                "type": "static_select",
                "action_id": "kind",
                "options": [
                    {"text": {"type": "plain_text", "text": "Borrow"}, "value": "borrow"},
                    {"text": {"type": "plain_text", "text": "Transfer"}, "value": "transfer"},
                ],
            },
        },
    ],
}


def open_form(town, app, view: dict[str, Any]) -> None:
    @app.command("/gpu-quota")
    def handle(ack: Ack, body: dict[str, Any], client) -> None:
        ack()
        client.views_open(trigger_id=body["trigger_id"], view=view)


def shown_form(town) -> View:
    town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota request")
    return town.slack.wait_for(lambda: town.slack.open_view(town.ada.id))


def test_a_form_is_opened_filled_refused_on_its_field_and_submitted(town, bots, mode) -> None:
    app, amounts = bots.app(town), []
    open_form(town, app, FORM)

    @app.view("form")
    def submitted(ack: Ack, view: dict[str, Any]) -> None:
        amount = view["state"]["values"]["amount"]["amount"]["value"]
        amounts.append(amount)
        ack(response_action="errors", errors={"amount": "20 is over 16"}) if amount == "20" else ack()

    bots.connect(town, app, mode)
    shown_form(town)

    unsent = town.slack.submit_view(town.ada.id, {"amount": "0"})
    assert not unsent.sent
    assert set(unsent.field_errors) == {"amount", "kind"}

    refused = town.slack.submit_view(town.ada.id, {"amount": "20", "kind": "borrow"})
    assert refused.field_errors == {"amount": "20 is over 16"}
    assert town.slack.open_view(town.ada.id) is not None

    assert town.slack.submit_view(town.ada.id, {"amount": "8"}).field_errors == {}
    assert town.slack.open_view(town.ada.id) is None
    assert amounts == ["20", "8"]


def test_a_dispatching_input_reaches_the_bot_and_an_update_keeps_what_was_typed(town, bots, mode) -> None:
    app = bots.app(town)
    open_form(town, app, FORM)
    bigger = {**FORM, "blocks": [*FORM["blocks"], {"type": "divider"}]}

    @app.action("kind")
    def chosen(ack: Ack, body: dict[str, Any], client) -> None:
        ack()
        client.views_update(view_id=body["view"]["id"], hash=body["view"]["hash"], view=bigger)

    bots.connect(town, app, mode)
    view = shown_form(town)
    assert not town.slack.choose(town.ada.id, view, "amount", "8").sent
    assert town.slack.choose(town.ada.id, view, "kind", "Transfer").acked
    updated = town.slack.wait_for(lambda: (v := town.slack.open_view(town.ada.id)) and len(v.blocks) == 3 and v)
    assert updated.state["amount"]["amount"]["value"] == "8"
    assert updated.state["kind"]["kind"]["selected_option"]["value"] == "transfer"


@pytest.mark.parametrize(
    "answer",
    [
        {"response_action": "errors", "errors": {"nowhere": "x"}},
        {"response_action": "update", "view": {**FORM, "title": {"type": "plain_text", "text": "x" * 25}}},
        {"response_action": "explode"},
    ],
)
def test_a_wrong_answer_to_a_submission_shows_trouble_and_keeps_the_form(town, bots, mode, answer) -> None:
    app = bots.app(town)
    open_form(town, app, FORM)
    app.view("form")(lambda ack: ack(answer))
    bots.connect(town, app, mode)
    shown_form(town)
    delivery = town.slack.submit_view(town.ada.id, {"amount": "8", "kind": "borrow"})
    assert delivery.shown == "We had some trouble connecting. Try again?"
    assert town.slack.open_view(town.ada.id) is not None


def test_submissions_can_update_push_and_clear(town, bots, mode) -> None:
    app = bots.app(town)
    open_form(town, app, FORM)
    bare = {"type": "modal", "callback_id": "bare", "title": {"type": "plain_text", "text": "Sure?"}, "blocks": []}
    bare["submit"] = {"type": "plain_text", "text": "Yes"}
    app.view("form")(lambda ack: ack(response_action="push", view=bare))
    app.view("bare")(lambda ack: ack(response_action="clear"))
    bots.connect(town, app, mode)
    form = shown_form(town)
    town.slack.submit_view(town.ada.id, {"amount": "8", "kind": "borrow"})
    pushed = town.slack.open_view(town.ada.id)
    assert (pushed.previous_id, pushed.root_id) == (form.id, form.id)
    town.slack.submit_view(town.ada.id)
    assert town.slack.open_view(town.ada.id) is None


def test_closing_a_form_is_told_where_asked_for(town, bots, mode) -> None:
    app, closed = bots.app(town), []
    open_form(town, app, FORM)

    @app.view_closed("form")
    def handle(ack: Ack, body: dict[str, Any]) -> None:
        ack()
        closed.append(body["is_cleared"])

    bots.connect(town, app, mode)
    shown_form(town)
    assert town.slack.close_view(town.ada.id).acked
    assert closed == [False]
