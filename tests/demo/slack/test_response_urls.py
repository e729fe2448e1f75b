"""Response URLs: five uses in thirty minutes; only a click's URL reaches the message it came from."""

from typing import Any

import pytest
from slack_sdk.webhook import WebhookClient

BUTTON = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}, "value": "1"}
CARD = [{"type": "actions", "elements": [BUTTON]}]


@pytest.fixture
def from_command(town) -> WebhookClient:
    """The URL of a slash command; nobody is connected, the payload is all we need."""
    delivery = town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota status")
    return WebhookClient(delivery.payload["response_url"])


@pytest.fixture
def from_click(town) -> WebhookClient:
    town.client.chat_postMessage(channel=town.room.id, text="card", blocks=CARD)
    delivery = town.slack.press(town.ada.id, town.slack.messages(town.room.id)[0], "go")
    return WebhookClient(delivery.payload["response_url"])


def test_an_answer_is_ephemeral_unless_it_says_otherwise(town, from_command: WebhookClient) -> None:
    assert from_command.send(text="only you").status_code == 200
    assert from_command.send(text="all", response_type="in_channel").body == "ok"
    assert [m.text for m in town.slack.ephemerals(town.ada.id)] == ["only you"]
    assert [m.text for m in town.slack.messages(town.room.id)] == ["all"]


def test_the_sixth_use_is_refused(town, from_command: WebhookClient) -> None:
    statuses = [from_command.send(text=str(n)).status_code for n in range(6)]
    assert statuses == [200] * 5 + [404]
    assert town.slack.calls("response_url")[-1].error == "used_url"


@pytest.mark.parametrize(("minutes", "status"), [(30, 200), (30.01, 404)])
def test_it_expires_after_thirty_minutes(town, from_command: WebhookClient, minutes: float, status: int) -> None:
    town.clock.advance(minutes=minutes)
    answer = from_command.send(text="late")
    assert answer.status_code == status
    assert status == 200 or "expired_url" in answer.body


def test_an_unknown_url_is_not_found(town) -> None:
    assert WebhookClient(f"{town.slack.world.site}/response/nothing").send(text="x").status_code == 404


def test_a_command_cannot_replace_what_it_said_only_add(town, from_command: WebhookClient) -> None:
    from_command.send(text="first")
    from_command.send(text="second", replace_original=True)
    assert [m.text for m in town.slack.ephemerals(town.ada.id)] == ["first", "second"]
    assert from_command.send_dict({"delete_original": True}).status_code == 400


def test_a_click_replaces_and_deletes_its_message(town, from_click: WebhookClient) -> None:
    assert from_click.send(text="Checking", replace_original=True).status_code == 200
    message = town.slack.messages(town.room.id)[0]
    assert (message.text, message.blocks) == ("Checking", ())
    assert from_click.send_dict({"delete_original": True}).status_code == 200
    assert town.slack.messages(town.room.id) == ()
    assert "message_not_found" in from_click.send(text="x", replace_original=True).body


def test_a_click_can_say_something_new(town, from_click: WebhookClient) -> None:
    from_click.send(text="not yours", replace_original=False)
    assert [m.text for m in town.slack.ephemerals(town.ada.id)] == ["not yours"]
    assert town.slack.messages(town.room.id)[0].text == "card"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"text": ""}, "no_text"),
        ({"text": "x", "blocks": [{"type": "header"}]}, "invalid_blocks"),
        ({"text": "x" * 40_001}, "msg_too_long"),
    ],
)
def test_the_limits_hold_here_too(town, from_command: WebhookClient, body: dict[str, Any], code: str) -> None:
    answer = from_command.send_dict(body)
    assert answer.status_code == 400
    assert code in answer.body
