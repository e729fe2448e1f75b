"""What one sees and does through the page is what that person sees and can do in Slack."""

import threading
from typing import Any

import pytest

from bot.demo.slack.http_server import HttpAnswer, HttpRequest, HttpServer

BUTTON = {"type": "button", "action_id": "go", "value": "1", "text": {"type": "plain_text", "text": "Go"}}


def _row(block_id: str) -> dict[str, Any]:
    return {"type": "actions", "block_id": block_id, "elements": [BUTTON]}


def _post(town: Any, channel: str, **content: Any) -> Any:
    with town.slack.world.changed:
        return town.slack.world.timeline.post(channel, town.slack.bot_user_id, **content)


def _form(town: Any, user: str, *blocks: dict[str, Any]) -> Any:
    title = {"type": "plain_text", "text": "Form"}
    with town.slack.world.changed:
        body = {
            "type": "modal",
            "title": title,
            "submit": {"type": "plain_text", "text": "Send"},
            "blocks": list(blocks),
        }
        return town.slack.world.surfaces.open(user, body)


def _input(name: str, element: dict[str, Any], **more: Any) -> dict[str, Any]:
    label = {"type": "plain_text", "text": name}
    return {"type": "input", "block_id": name, "label": label, "element": element | {"action_id": name}, **more}


def test_a_person_sees_the_channels_they_are_in(town: Any, client: Any) -> None:
    assert [place["name"] for place in client.look(town.ids["mira"])["places"]] == ["gpu"]
    assert [place["name"] for place in client.look(town.ids["noor"])["places"]] == ["gpu", "leads"]


def test_only_those_one_can_be_are_looked_at(town: Any, client: Any) -> None:
    stranger = town.slack.add_person("eve").id
    for person in ("", "U0NOBODY", stranger, town.slack.bot_user_id):
        status, _, _ = client.send("GET", f"/api/look?person={person}", X_Demo_Token=town.page.token)
        assert status == 409


def test_what_is_said_is_there_for_all_and_escaped_as_slack_escapes_it(town: Any, client: Any) -> None:
    said = {"person": town.ids["mira"], "channel": town.ids["gpu"], "text": "<!channel> & co"}
    assert client.post("say", said) == (200, {})
    assert [one["text"] for one in client.look(town.ids["noor"])["messages"][town.ids["gpu"]]] == [
        "&lt;!channel&gt; &amp; co"
    ]


@pytest.mark.parametrize("text", ["hello", "/gpu-quota status"])
def test_nobody_speaks_where_they_are_not(town: Any, client: Any, text: str) -> None:
    status, said = client.post("say", {"person": town.ids["mira"], "channel": town.ids["leads"], "text": text})
    assert status == 409
    assert "leads" in said["problem"] or "channel" in said["problem"]
    assert town.slack.messages(town.ids["leads"]) == ()


@pytest.mark.parametrize(
    ("text", "thread", "shown"),
    [
        ("/gpu-quota status", None, "/gpu-quota failed with the error “dispatch_failed”"),
        ("/gpu-quota status", "1.0", "/gpu-quota is not supported in threads. Sorry!"),
        ("/else", None, "/else is not a valid command."),
    ],
)
def test_slack_says_why_a_command_came_to_nothing(
    town: Any, client: Any, text: str, thread: str | None, shown: str
) -> None:
    asked = {"person": town.ids["mira"], "channel": town.ids["gpu"], "text": text, "thread": thread}
    status, said = client.post("say", asked)
    assert (status, said["shown"]) == (200, shown)


def test_slack_says_so_when_nobody_answers_in_time(town: Any, client: Any) -> None:
    asked = threading.Event()

    def late(_: HttpRequest) -> HttpAnswer:
        asked.wait(10)
        return HttpAnswer()

    bot = HttpServer(late, "late-bot")
    bot.start()
    try:
        town.slack.use_http(f"http://127.0.0.1:{bot.port}/")
        _, said = client.post(
            "say", {"person": town.ids["mira"], "channel": town.ids["gpu"], "text": "/gpu-quota list"}
        )
    finally:
        asked.set()
        bot.stop()
    assert said["shown"] == "/gpu-quota failed with the error “operation_timeout”"


def test_what_only_one_person_sees_is_gone_when_they_load_the_page_again(town: Any, client: Any) -> None:
    with town.slack.world.changed:
        town.slack.world.timeline.whisper(town.ids["mira"], town.ids["gpu"], town.slack.bot_user_id, text="psst")
    mine = client.look(town.ids["mira"])["messages"][town.ids["gpu"]]
    assert [(one["text"], one["only_me"]) for one in mine] == [("psst", True)]
    assert client.look(town.ids["noor"])["messages"][town.ids["gpu"]] == []
    client.post("reload", {"person": town.ids["mira"]})
    assert client.look(town.ids["mira"])["messages"][town.ids["gpu"]] == []


def test_new_messages_and_pings_count_until_they_are_read(town: Any, client: Any) -> None:
    noor, gpu = town.ids["noor"], town.ids["gpu"]
    _post(town, gpu, text="nothing for anybody")
    message = _post(town, gpu, text=f"<@{noor}>: look")
    place = client.look(noor)["places"][0]
    assert (place["unread"], place["pinged"]) == (2, 1)
    assert client.look(town.ids["mira"])["waiting"][noor] == 1
    client.post("read", {"person": noor, "channel": gpu, "ts": message.ts})
    place = client.look(noor)["places"][0]
    assert (place["unread"], place["pinged"]) == (0, 0)


def test_a_press_is_on_the_picture_that_was_on_the_screen(town: Any, client: Any) -> None:
    """Two people look at one card; the first press changes it; the second is still sent as it was seen."""
    message = _post(town, town.ids["gpu"], text="card", blocks=[_row("card:1:0")])
    client.look(town.ids["mira"])
    with town.slack.world.changed:
        town.slack.world.timeline.edit(message, text="card", blocks=[_row("card:1:1")])
    place = {"channel": message.channel, "ts": message.ts, "edited_ts": None}
    pressed = {"person": town.ids["mira"], "place": place, "action_id": "go", "block_id": "card:1:0", "value": "1"}
    status, said = client.post("press", pressed)
    assert (status, said["shown"]) == (200, "⚠ dispatch_failed")
    assert town.slack.deliveries()[-1].payload["actions"][0]["block_id"] == "card:1:0"


@pytest.mark.parametrize(
    "changed", [{"ts": "1.0"}, {"channel": "C0"}, {"edited_ts": "9.9"}, {"ts": None}, {"view": "V0"}], ids=str
)
def test_what_is_not_on_the_screen_cannot_be_pressed(town: Any, client: Any, changed: dict[str, Any]) -> None:
    message = _post(town, town.ids["gpu"], text="card", blocks=[_row("a")])
    client.look(town.ids["mira"])
    place = {"channel": message.channel, "ts": message.ts, "edited_ts": None} | changed
    pressed = {"person": town.ids["mira"], "place": place, "action_id": "go", "block_id": "a"}
    assert client.post("press", pressed)[0] == 409
    assert town.slack.deliveries() == ()


def test_a_message_of_another_persons_channel_cannot_be_pressed(town: Any, client: Any) -> None:
    message = _post(town, town.ids["leads"], text="card", blocks=[_row("a")])
    client.look(town.ids["noor"])
    place = {"channel": message.channel, "ts": message.ts, "edited_ts": None}
    pressed = {"person": town.ids["mira"], "place": place, "action_id": "go", "block_id": "a"}
    assert client.post("press", pressed)[0] == 409
    assert town.slack.deliveries() == ()


def test_dates_are_told_in_the_readers_zone(town: Any, client: Any) -> None:
    section = {"type": "rich_text_section", "elements": [{"type": "date", "timestamp": 1796212800, "format": "{time}"}]}
    _post(town, town.ids["gpu"], text="x", blocks=[{"type": "rich_text", "elements": [section]}])
    for name, told in {"mira": "1:00 PM", "noor": "07:00"}.items():
        message = client.look(town.ids[name])["messages"][town.ids["gpu"]][0]
        assert message["dates"] == {"1796212800|{time}": told}
        assert message["time"] == told


def test_a_form_complains_by_field_as_slack_does_and_nothing_is_sent(town: Any, client: Any) -> None:
    view = _form(town, town.ids["mira"], _input("many", {"type": "number_input", "is_decimal_allowed": False}))
    status, said = client.post("send", {"person": town.ids["mira"], "view": view.id, "values": {"many": "eight"}})
    assert (status, said["field_errors"]) == (200, {"many": "Please enter a valid number."})
    assert town.slack.deliveries() == ()


def test_a_date_is_read_in_the_persons_zone_and_other_fields_come_along(town: Any, client: Any) -> None:
    when = _input("when", {"type": "datetimepicker"}, dispatch_action=True)
    view = _form(town, town.ids["noor"], when, _input("why", {"type": "plain_text_input"}, optional=True))
    place, values = {"view": view.id}, {"why": "paper"}
    chosen = {"person": town.ids["noor"], "place": place, "action_id": "when", "value": "2026-12-02T07:00"}
    assert client.post("choose", chosen | {"values": values})[0] == 200
    payload = town.slack.deliveries()[-1].payload
    assert payload["actions"][0]["selected_date_time"] == 1796212800
    assert payload["view"]["state"]["values"]["why"]["why"]["value"] == "paper"
    assert client.look(town.ids["noor"])["view"]["dates"] == {"1796212800|local": "2026-12-02T07:00"}


@pytest.mark.parametrize("value", ["tomorrow", "2026-13-01T00:00", "9999-99-99T99:99", "0001-01-01T00:00"])
def test_what_is_no_date_is_said_and_not_sent(town: Any, client: Any, value: str) -> None:
    view = _form(town, town.ids["noor"], _input("when", {"type": "datetimepicker"}))
    sent = {"person": town.ids["noor"], "view": view.id, "values": {"when": value}}
    assert client.post("send", sent)[0] == 409
    assert client.look(town.ids["noor"])["view"]["id"] == view.id


@pytest.mark.parametrize("act", ["send", "close"])
def test_a_form_that_is_gone_or_another_persons_is_not_touched(town: Any, client: Any, act: str) -> None:
    view = _form(town, town.ids["noor"], _input("why", {"type": "plain_text_input"}))
    assert client.post(act, {"person": town.ids["mira"], "view": view.id})[0] == 409
    assert client.post(act, {"person": town.ids["noor"], "view": "V0"})[0] == 409
    assert client.look(town.ids["noor"])["view"]["id"] == view.id


def test_a_closed_form_is_gone(town: Any, client: Any) -> None:
    view = _form(town, town.ids["noor"], _input("why", {"type": "plain_text_input"}))
    assert client.post("close", {"person": town.ids["noor"], "view": view.id})[0] == 200
    assert client.look(town.ids["noor"])["view"] is None


def _publish(town: Any, user: str, *blocks: dict[str, Any]) -> Any:
    with town.slack.world.changed:
        return town.slack.world.surfaces.publish(user, {"type": "home", "blocks": list(blocks)})


def test_a_home_tab_is_ones_own_and_a_press_is_on_the_picture_that_was_seen(town: Any, client: Any) -> None:
    mira, noor = town.ids["mira"], town.ids["noor"]
    assert client.look(mira)["home"] is None
    _publish(town, mira, _row("first"))
    seen = client.look(mira)["home"]
    assert [block["block_id"] for block in seen["blocks"]] == ["first"]
    assert client.look(noor)["home"] is None
    _publish(town, mira, _row("second"))
    place = {"view": seen["id"], "hash": seen["hash"]}
    press = {"person": mira, "place": place, "action_id": "go", "block_id": "first", "value": "1"}
    status, said = client.post("press", press)
    assert (status, said["shown"]) == (200, "⚠ dispatch_failed"), "nobody is there to hear it"
    pressed = town.slack.deliveries()[-1].payload
    assert (pressed["actions"][0]["block_id"], pressed["view"]["id"]) == ("first", seen["id"])
    for wrong in ({**place, "hash": "1.1"}, {"view": seen["id"]}):
        assert client.post("press", {**press, "place": wrong})[0] == 409
    assert client.post("press", {**press, "person": noor})[0] == 409


def test_opening_the_home_tab_is_told_to_the_app(town: Any, client: Any) -> None:
    status, _ = client.post("home", {"person": town.ids["mira"]})
    assert status == 200
    told = town.slack.deliveries()[-1].payload["event"]
    assert (told["type"], told["tab"], told["user"]) == ("app_home_opened", "home", town.ids["mira"])
    assert client.post("home", {"person": "U0NOBODY"})[0] == 409
