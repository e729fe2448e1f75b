"""Tables and alerts go to a Slack that takes them, and as older blocks to one that does not."""

from collections.abc import Callable

import pytest

from bot.core.errors import Rejected
from bot.core.messages import Message, MessageRef
from bot.demo.slack import ApiCall
from tests.support.slack_town import Town, form, words

TABLE = {
    "type": "table",
    "column_settings": [{"align": "left"}, {"align": "right"}],
    "rows": [
        [{"type": "raw_text", "text": "Queue"}, {"type": "raw_text", "text": "GPUs"}],
        [{"type": "raw_text", "text": "vision"}, {"type": "raw_text", "text": "16"}],
    ],
}
ALERT = {"type": "alert", "level": "error", "text": {"type": "plain_text", "text": "Not enough"}}
WITH_TABLE = Message("Two queues", (TABLE,))
CODES = ["invalid_blocks", "invalid_blocks_format"]


def _types(call: ApiCall) -> list[str]:
    found = call.args.get("blocks") or call.args["view"]["blocks"]
    return [block["type"] for block in found]


def _ways(town: Town) -> dict[str, Callable[[], object]]:
    """Every way a message goes, by the method it takes."""
    ref = town.chat.post(town.room, words("hello"), "n0")
    url = str(town.slack.type_command(town.ada, town.room, "/gpu-quota list").payload["response_url"])
    return {
        "chat.postMessage": lambda: town.chat.post(town.room, WITH_TABLE, "n1"),
        "chat.update": lambda: town.chat.update(ref, WITH_TABLE),
        "response_url": lambda: town.chat.respond(url, WITH_TABLE),
    }


METHODS = ["chat.postMessage", "chat.update"]


@pytest.mark.parametrize("method", [*METHODS, "response_url"])
def test_a_table_is_sent_as_it_is(town: Town, method: str) -> None:
    _ways(town)[method]()
    assert _types(town.slack.calls(method)[-1]) == ["table"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("code", CODES)
def test_a_refused_table_is_sent_as_text_once_and_from_then_on(town: Town, method: str, code: str) -> None:
    send = _ways(town)[method]
    before = town.count(method)
    town.slack.faults.refuse(method, code)
    send()
    send()
    refused, plainer, after = town.slack.calls(method)[before:]
    assert _types(refused) == ["table"]
    assert "table" not in _types(plainer) + _types(after)
    assert (plainer.ok, after.ok) == (True, True)


def test_one_refusal_is_enough_for_every_way(town: Town) -> None:
    ways = _ways(town)
    town.slack.faults.refuse("chat.postMessage", "invalid_blocks")
    for method, send in ways.items():
        send()
        assert "table" not in _types(town.slack.calls(method)[-1])


def test_a_refused_alert_in_a_modal_is_sent_as_text(town: Town) -> None:
    trigger = str(town.slack.type_command(town.ada, town.room, "/gpu-quota request").payload["trigger_id"])
    town.slack.faults.refuse("views.open", "invalid_arguments")
    view_id = town.chat.open_view(trigger, form(ALERT))
    town.chat.update_view(view_id, form(ALERT))
    assert _types(town.slack.calls("views.open")[-1]) == ["rich_text"]
    assert _types(town.slack.calls("views.update")[-1]) == ["rich_text"]


def test_a_message_without_newer_blocks_is_not_sent_twice(town: Town) -> None:
    town.slack.faults.refuse("chat.postMessage", "invalid_blocks")
    with pytest.raises(Rejected, match="invalid_blocks"):
        town.chat.post(town.room, words("hello"), "n1")
    assert town.count("chat.postMessage") == 1


@pytest.mark.parametrize("code", ["channel_not_found", "msg_too_long", "restricted_action"])
def test_another_refusal_is_no_word_about_blocks(town: Town, code: str) -> None:
    town.slack.faults.refuse("chat.postMessage", code)
    with pytest.raises(Rejected, match=code):
        town.chat.post(town.room, WITH_TABLE, "n1")
    town.chat.post(town.room, WITH_TABLE, "n1")
    assert _types(town.slack.calls("chat.postMessage")[-1]) == ["table"]


def test_what_is_refused_in_older_blocks_too_was_not_refused_for_its_table(town: Town) -> None:
    town.slack.faults.refuse("chat.postMessage", "invalid_blocks", times=2)
    with pytest.raises(Rejected, match="invalid_blocks"):
        town.chat.post(town.room, WITH_TABLE, "n1")
    ref = town.chat.post(town.room, WITH_TABLE, "n1")
    assert isinstance(ref, MessageRef)
    assert _types(town.slack.calls("chat.postMessage")[-1]) == ["table"]
