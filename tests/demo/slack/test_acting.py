"""Which control is pressed where several look alike, and what a press from an old screen carries.

Nobody is connected here: the payload is what counts.
"""

from typing import Any

import pytest

Block = dict[str, Any]


def button(action_id: str, value: str, **more: Any) -> Block:
    return {
        "type": "button",
        "action_id": action_id,
        "value": value,
        "text": {"type": "plain_text", "text": value},
        **more,
    }


def row(block_id: str, *elements: Block) -> Block:
    return {"type": "actions", "block_id": block_id, "elements": list(elements)}


@pytest.fixture
def loans(town):
    """A list of two loans, each with the same buttons."""
    menu = {
        "type": "overflow",
        "action_id": "more",
        "options": [{"text": {"type": "plain_text", "text": "End"}, "value": "end"}],
    }
    rows = [row("loan:1", button("return", "L1"), menu), row("loan:2", button("return", "L2"))]
    town.client.chat_postMessage(channel=town.room.id, text="loans", blocks=rows)
    return town.slack.messages(town.room.id)[-1]


def test_buttons_with_one_action_id_are_told_apart(town, loans) -> None:
    by_value = town.slack.press(town.ada.id, loans, "return", value="L2").payload["actions"][0]
    by_block = town.slack.press(town.ada.id, loans, "return", block_id="loan:1").payload["actions"][0]
    assert (by_value["block_id"], by_block["value"]) == ("loan:2", "L1")
    with pytest.raises(LookupError, match="2 elements return"):
        town.slack.press(town.ada.id, loans, "return")


def test_a_menu_carries_the_option_chosen(town, loans) -> None:
    action = town.slack.press(town.ada.id, loans, "more", value="end").payload["actions"][0]
    assert (action["type"], action["selected_option"]["value"]) == ("overflow", "end")
    with pytest.raises(LookupError, match="offers no 'burn'"):
        town.slack.press(town.ada.id, loans, "more", value="burn")


def test_an_old_screen_still_has_its_old_buttons(town, loans) -> None:
    town.client.chat_update(channel=loans.channel, ts=loans.ts, text="over")
    payload = town.slack.press(town.ada.id, loans, "return", value="L1").payload
    assert payload["message"]["text"] == "loans"
    assert town.slack.current(loans).text == "over"
    with pytest.raises(LookupError, match="0 elements return"):
        town.slack.press(town.ada.id, town.slack.current(loans), "return")


def test_only_who_is_in_the_channel_can_press(town, loans) -> None:
    with pytest.raises(LookupError, match="guest does not see this"):
        town.slack.press(town.guest.id, loans, "return", value="L1")


def test_buttons_of_the_home_carry_the_view(town) -> None:
    home = {"type": "home", "blocks": [row("b", button("refresh", "1"))]}
    town.client.views_publish(user_id=town.ada.id, view=home)
    payload = town.slack.press(town.ada.id, town.slack.home(town.ada.id), "refresh").payload
    assert payload["container"] == {"type": "view", "view_id": payload["view"]["id"]}
    assert "response_url" not in payload
    with pytest.raises(LookupError, match="bob does not see this"):
        town.slack.press(town.bob.id, town.slack.home(town.ada.id), "refresh")


def test_a_command_in_the_dm(town) -> None:
    dm = town.slack.open_dm(town.ada.id)
    payload = town.slack.type_command(town.ada.id, dm.id, "/gpu-quota").payload
    assert (payload["channel_id"], payload["channel_name"], payload["text"]) == (dm.id, "directmessage", "")


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("why a@b.example", "why a@b.example"),
        ("for @nobody in #nowhere", "for @nobody in #nowhere"),
        ("<@U1> & <!channel>", "&lt;@U1&gt; &amp; &lt;!channel&gt;"),
        ("“8” — a100", "“8” — a100"),
    ],
)
def test_typed_text_is_escaped_and_only_known_names_become_mentions(town, written: str, sent: str) -> None:
    delivery = town.slack.type_command(town.ada.id, town.room.id, f"/gpu-quota {written}")
    assert delivery.payload["text"] == sent


def test_known_names_become_mentions(town) -> None:
    group = town.slack.add_group("gpu-admins")
    delivery = town.slack.type_command(town.ada.id, town.room.id, "/gpu-quota ask @bob @gpu-admins #gpu")
    ids = f"<@{town.bob.id}|bob> <!subteam^{group.id}|@gpu-admins> <#{town.room.id}|gpu>"
    assert delivery.payload["text"] == f"ask {ids}"
